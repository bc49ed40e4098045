// armgate_demo – the same race twice: straight to a simulated ARM, then through armgate. Prints what each did to the
// data.
//
// Exit codes: 0 armgate kept its promises and the straight race shows what it protects from; 1 it did not; 3 the demo
// could not run; 130 interrupted.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/signal_set.hpp>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "json/tree.h"
#include "proxy/async/spawn.h"
#include "proxy/seams/real_clock.h"
#include "sim/demo/race.h"
#include "sim/server/child_process.h"

namespace armgate::sim {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kExitBroken = 1;
constexpr int kExitCannotRun = 3;
constexpr int kExitInterrupted = 130;
constexpr Duration kStartMax = seconds(10);
constexpr Duration kRaceMax = seconds(45);

struct Arguments {
  std::string armgate;
  std::string armsim;
  std::string conf;
  bool verbose = false;
};

// Everything that must be gone at the end, in the order in which it must not be.
struct Stage {
  fs::path directory;
  std::optional<ChildProcess> armsim;
  std::optional<ChildProcess> armgate;
  ~Stage() {
    armgate.reset();
    armsim.reset();
    std::error_code ignored;
    if (!directory.empty()) fs::remove_all(directory, ignored);
  }
};

Error cannot(std::string sentence) { return gateway_error(ErrorKind::Internal, std::move(sentence)); }

std::string file_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// What `read` finds once the program is up; an error with the program's output if it ends or takes too long.
template <class Read>
Task<Result<uint16_t>> await_port(Clock& clock, ChildProcess& child, fs::path output, Read read) {
  const TimePoint deadline = clock.now() + kStartMax;
  while (child.is_running() && clock.now() < deadline) {
    if (const std::optional<uint16_t> port = read()) co_return *port;
    co_await clock.sleep_for(milliseconds(20));
  }
  co_return cannot(fmt::format("A program did not start. It said:\n{}", file_text(output)));
}

std::optional<uint16_t> port_in(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && port != 0 ? std::optional(port) : std::nullopt;
}

// The port in armgate's own "started" line.
std::optional<uint16_t> port_in_log(const fs::path& log) {
  std::istringstream lines(file_text(log));
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || json.value("event", "") != "started") continue;
    const std::string proxy = json.value("proxy", "");
    return port_in(std::string_view(proxy).substr(proxy.rfind(':') + 1));
  }
  return std::nullopt;
}

Task<Result<Route>> start_armsim(Stage& stage, const Arguments& arguments, Clock& clock) {
  const fs::path output = stage.directory / "armsim.out";
  const fs::path port_file = stage.directory / "armsim.port";
  auto child =
      ChildProcess::start({arguments.armsim, "--make-ca", (stage.directory / "arm").string(), "--port-file", port_file.string(),
                           "--operation-ms", "300", "--action-ms", "250", "--group-lag-ms", "1500", "--latency-ms", "4", "16"},
                          output);
  if (!child) co_return std::move(child).error();
  stage.armsim.emplace(std::move(*child));
  const auto read = [&port_file] { return port_in(file_text(port_file)); };
  const Result<uint16_t> port = co_await await_port(clock, *stage.armsim, output, read);
  if (!port) co_return port.error();
  co_return Route{*port, file_text(stage.directory / "arm" / "ca.pem"), false};
}

void write_config(const Stage& stage, const Arguments& arguments, uint16_t arm_port) {
  nlohmann::json config{
      {"listen", {{"proxy", "127.0.0.1:0"}}},
      {"ca", {{"directory", (stage.directory / "ca").string()}}},
      {"hosts",
       {{"management.azure.com",
         {{"address", fmt::format("127.0.0.1:{}", arm_port)}, {"ca_file", (stage.directory / "arm" / "ca.pem").string()}}}}},
      {"log", {{"file", (stage.directory / "armgate.log").string()}}}};
  for (const std::string& name : demo_client_names()) config["clients"][name]["actor"] = "single";
  if (!arguments.conf.empty()) config["rules"] = {fs::absolute(fs::path(arguments.conf) / "rules").string()};
  std::ofstream(stage.directory / "armgate.json") << config.dump(2) << '\n';
}

Task<Result<Route>> start_armgate(Stage& stage, const Arguments& arguments, Clock& clock, uint16_t arm_port) {
  write_config(stage, arguments, arm_port);
  const std::string config = (stage.directory / "armgate.json").string();
  const fs::path ca_output = stage.directory / "ca.out";
  auto init = ChildProcess::start({arguments.armgate, "ca", "init", "--config", config}, ca_output);
  if (!init) co_return std::move(init).error();
  if (init->wait() != 0) co_return cannot("armgate ca init failed. It said:\n" + file_text(ca_output));
  const std::string printed = file_text(ca_output);
  const fs::path output = stage.directory / "armgate.out";
  auto child = ChildProcess::start({arguments.armgate, "run", "--config", config}, output);
  if (!child) co_return std::move(child).error();
  stage.armgate.emplace(std::move(*child));
  const fs::path log = stage.directory / "armgate.log";
  const auto read = [&log] { return port_in_log(log); };
  const Result<uint16_t> port = co_await await_port(clock, *stage.armgate, output, read);
  if (!port) co_return port.error();
  co_return Route{*port, file_text(printed.substr(0, printed.find('\n'))), true};
}

// One line per phase, which grows on a terminal and is written once at its end elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(std::string title) : title_(std::move(title)), terminal_(::isatty(STDOUT_FILENO) != 0) {}

  void show(const Tally& tally, Duration lasted) {
    if (terminal_) print(tally, lasted, "");
  }
  void finish(const Tally& tally, Duration lasted) { print(tally, lasted, "\n"); }

 private:
  void print(const Tally& tally, Duration lasted, const char* end) const {
    fmt::print("{}{:<18} {:>3} of {} writes over, {:.1f} s{}", terminal_ ? "\r" : "", title_, tally.finished(), tally.planned,
               static_cast<double>(whole_milliseconds(lasted)) / 1000, end);
    std::fflush(stdout);
  }
  const std::string title_;
  const bool terminal_;
};

Task<Result<RaceResult>> show_race(Executor executor, Clock& clock, std::string title, Route straight, Route route) {
  const auto line = std::make_shared<ProgressLine>(std::move(title));
  const ShowProgress show = [line](const Tally& tally, Duration lasted) { line->show(tally, lasted); };
  Result<RaceResult> result = co_await run_race(executor, clock, std::move(straight), std::move(route), kRaceMax, show);
  if (result) line->finish(result->tally, result->lasted);
  co_return result;
}

void print_table(const RaceResult& straight, const RaceResult& gated) {
  const auto row = [](const char* name, auto first, auto second) { fmt::print("  {:<48}{:>10}{:>18}\n", name, first, second); };
  const auto seconds_of = [](Duration lasted) {
    return fmt::format("{:.1f}", static_cast<double>(whole_milliseconds(lasted)) / 1000);
  };
  fmt::print("\n  {} clients, {} writes, all at once\n\n", demo_client_names().size(), straight.tally.planned);
  row("", "straight", "through armgate");
  row("acknowledged updates lost", straight.lost(), gated.lost());
  row("writes that failed for their client", straight.tally.failed, gated.tally.failed);
  row("writes that met a running one", straight.overlaps(), gated.overlaps());
  row("writes that ran twice", straight.report.applied_twice, gated.report.applied_twice);
  row("stale writes refused, read again and done (412)", straight.tally.read_again, gated.tally.read_again);
  row("clients told that the outcome is unknown (409)", straight.tally.unknown, gated.tally.unknown);
  row("seconds", seconds_of(straight.lasted), seconds_of(gated.lasted));
}

int verdict(const RaceResult& straight, const RaceResult& gated) {
  const bool kept = gated.lost() == 0 && gated.overlaps() == 0 && gated.report.applied_twice == 0;
  const bool useful = gated.tally.failed < straight.tally.failed;
  const bool harm = straight.lost() > 0 && straight.overlaps() > 0 && straight.report.applied_twice > 0;
  if (!kept) {
    fmt::print("\narmgate did NOT keep its promises:\n");
    for (const std::string& finding : gated.report.findings) fmt::print("  {}\n", finding);
  }
  if (gated.tally.failed > 0) fmt::print("\nThe first failure through armgate: {}\n", gated.tally.first_failure);
  if (!harm) fmt::print("\nThe straight race did little harm this time; run the demo again.\n");
  return kept && useful && harm ? 0 : kExitBroken;
}

Task<Result<int>> perform(Executor executor, Stage& stage, const Arguments& arguments, Clock& clock) {
  const Result<Route> straight = co_await start_armsim(stage, arguments, clock);
  if (!straight) co_return straight.error();
  Result<RaceResult> first = co_await show_race(executor, clock, "straight to ARM", *straight, *straight);
  if (!first) co_return std::move(first).error();
  const Result<Route> gated = co_await start_armgate(stage, arguments, clock, straight->port);
  if (!gated) co_return gated.error();
  Result<RaceResult> second = co_await show_race(executor, clock, "through armgate", *straight, *gated);
  if (!second) co_return std::move(second).error();
  if (!stage.armgate->is_running()) {
    co_return cannot("armgate broke down. It said:\n" + file_text(stage.directory / "armgate.out"));
  }
  print_table(*first, *second);
  co_return verdict(*first, *second);
}

Task<void> play(boost::asio::io_context& io, Stage& stage, const Arguments& arguments, Clock& clock, int& exit_code) {
  const Result<int> done = co_await perform(io.get_executor(), stage, arguments, clock);
  exit_code = done ? *done : kExitCannotRun;
  if (!done) fmt::print(stderr, "\narmgate_demo: {}\n", done.error().context);
  if (!done && arguments.verbose) fmt::print(stderr, "{}", file_text(stage.directory / "armgate.log"));
  io.stop();
}

int run(const Arguments& arguments) {
  RealClock clock;
  Stage stage;
  std::string pattern = (fs::temp_directory_path() / "armgate-demo-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    fmt::print(stderr, "armgate_demo: cannot make a directory like {}\n", pattern);
    return kExitCannotRun;
  }
  stage.directory = pattern;
  int exit_code = kExitInterrupted;
  boost::asio::io_context io(1);
  boost::asio::signal_set signals(io, SIGINT, SIGTERM, SIGHUP);
  signals.async_wait([&io](const boost::system::error_code&, int) { io.stop(); });
  spawn(io.get_executor(), play(io, stage, arguments, clock, exit_code));
  io.run();
  return exit_code;
}

std::string beside_us(const char* program) {
  std::error_code error;
  return (fs::read_symlink("/proc/self/exe", error).parent_path() / program).string();
}

}  // namespace
}  // namespace armgate::sim

int main(int argc, char** argv) {
  armgate::sim::Arguments arguments;
  arguments.armgate = armgate::sim::beside_us("armgate");
  arguments.armsim = armgate::sim::beside_us("armsim");
  CLI::App app("Lets several clients race for the same resources, straight to a simulated ARM and through armgate");
  app.add_option("--armgate", arguments.armgate, "The armgate program")->capture_default_str();
  app.add_option("--armsim", arguments.armsim, "The simulated ARM")->capture_default_str();
  app.add_option("--conf", arguments.conf, "Use the rules below this directory instead of the shipped ones");
  app.add_flag("--verbose", arguments.verbose, "Show armgate's log if the demo cannot run");
  CLI11_PARSE(app, argc, argv);
  return armgate::sim::run(arguments);
}
