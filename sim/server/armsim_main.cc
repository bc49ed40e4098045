// armsim – a simulated Azure Resource Manager on a local port, for demos, load tests and real tools.
#include <CLI/CLI.hpp>
#include <boost/asio/signal_set.hpp>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "proxy/seams/real_clock.h"
#include "sim/server/arm_server.h"

namespace armgate::sim {
namespace {

struct Arguments {
  std::string listen = "127.0.0.1:0";
  std::string certificate;
  std::string key;
  std::string ca_directory;
  std::string port_file;
  std::string kubernetes_directory;
  std::vector<double> reads, writes, deletes;  // a bucket's size, and what is refilled each second
  std::string origin = "https://management.azure.com";
  std::string exclusivity = "refuse";
  std::string state_shown = "honest";
  std::string url_escapes = "odd";
  int64_t operation_ms = 5000;
  int64_t action_ms = -1;
  int64_t group_lag_ms = 0;
  int64_t neighbour_ms = 0;
  int64_t operation_record_ms = 0;
  int64_t stale_by_ms = 0;
  double stale_read_chance = 0;
  bool neighbour_links = false;
  bool no_etags = false;
  bool fewer_in_lists = false;
  double drop_before_chance = 0;
  double drop_after_chance = 0;
  int64_t retry_after_seconds = 1;
  std::vector<int64_t> latency_ms;
  size_t page_items = 100;
  uint64_t seed = 1;
};

void declare(CLI::App& app, Arguments& arguments) {
  const auto not_negative = CLI::NonNegativeNumber;
  const auto chance = CLI::Range(0.0, 1.0);
  app.add_option("--listen", arguments.listen, "Address and port; port 0 takes a free one")->capture_default_str();
  auto* certificate = app.add_option("--cert", arguments.certificate, "PEM chain of the server");
  auto* key = app.add_option("--key", arguments.key, "PEM key of the server");
  certificate->needs(key);
  key->needs(certificate);
  app.add_option("--make-ca", arguments.ca_directory, "Make a certificate for management.azure.com and write ca.pem here")
      ->excludes(certificate);
  app.add_option("--port-file", arguments.port_file, "Write the port to this file once connections are taken");
  app.add_option("--kubernetes", arguments.kubernetes_directory,
                 "Serve the Kubernetes API of its AKS clusters too, and write a kubeconfig for it here");
  app.add_option("--origin", arguments.origin, "Origin of operation URLs")->capture_default_str();
  app.add_option("--operation-ms", arguments.operation_ms, "How long operations last")
      ->check(not_negative)
      ->capture_default_str();
  app.add_option("--action-ms", arguments.action_ms, "How long restart and deallocate last (as --operation-ms)")
      ->check(not_negative);
  app.add_option("--group-lag-ms", arguments.group_lag_ms, "For so long providers do not know a new group")
      ->check(not_negative);
  app.add_option("--neighbour-ms", arguments.neighbour_ms, "Move some ETag so often; 0: never")->check(not_negative);
  app.add_flag("--neighbour-links", arguments.neighbour_links, "The neighbour also writes read-only references into it");
  app.add_flag("--no-etags", arguments.no_etags, "No type and no api-version has ETags");
  app.add_flag("--fewer-in-lists", arguments.fewer_in_lists, "Items of lists lack ETag, state and location");
  app.add_option("--operation-record-ms", arguments.operation_record_ms, "For so long an ended operation is known; 0: always")
      ->check(not_negative);
  app.add_option("--stale-read-chance", arguments.stale_read_chance, "Share of reads, of lists too, from a lagging replica")
      ->check(chance);
  app.add_option("--stale-by-ms", arguments.stale_by_ms, "How far that replica lags")->check(not_negative);
  app.add_option("--drop-before-chance", arguments.drop_before_chance, "Share of writes dropped unapplied")->check(chance);
  app.add_option("--drop-after-chance", arguments.drop_after_chance, "Share of writes whose answer is dropped")->check(chance);
  app.add_option("--exclusivity", arguments.exclusivity, "What meets a second write during an operation")
      ->check(CLI::IsMember({"refuse", "accept", "supersede"}))
      ->capture_default_str();
  app.add_option("--state-shown", arguments.state_shown, "provisioningState during an operation")
      ->check(CLI::IsMember({"honest", "succeeded"}))
      ->capture_default_str();
  app.add_option("--url-escapes", arguments.url_escapes, "In operation URLs; none: for clients that write them anew")
      ->check(CLI::IsMember({"odd", "none"}))
      ->capture_default_str();
  app.add_option("--retry-after", arguments.retry_after_seconds, "Seconds in Retry-After; 0: it is not said")
      ->check(not_negative)
      ->capture_default_str();
  app.add_option("--latency-ms", arguments.latency_ms, "Least and most milliseconds per request")->expected(1, 2);
  app.add_option("--page-items", arguments.page_items, "Items on one page of a list")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  for (const auto& [name, bucket] :
       {std::pair{"--reads", &arguments.reads}, {"--writes", &arguments.writes}, {"--deletes", &arguments.deletes}}) {
    app.add_option(name, *bucket,
                   "So many at once of a principal, and so many more each second; else 429 (250 25 is ARM's of reads)")
        ->expected(2)
        ->check(not_negative);
  }
  app.add_option("--seed", arguments.seed, "Of everything that looks random")->capture_default_str();
}

SimOptions sim_options(const Arguments& arguments) {
  using std::chrono::milliseconds;
  SimOptions options;
  options.origin = arguments.origin;
  options.operation = milliseconds(arguments.operation_ms);
  if (arguments.action_ms >= 0) {
    for (const char* action : {"start", "restart", "deallocate", "reimage", "poweroff"}) {
      options.operation_by_type["microsoft.compute/virtualmachinescalesets/" + std::string(action)] =
          milliseconds(arguments.action_ms);
    }
  }
  options.group_lag = milliseconds(arguments.group_lag_ms);
  options.neighbour_every = milliseconds(arguments.neighbour_ms);
  options.neighbour_links = arguments.neighbour_links;
  options.has_etags = !arguments.no_etags;
  if (arguments.fewer_in_lists) options.list_items = ListItems::Fewer;
  options.operation_record = milliseconds(arguments.operation_record_ms);
  options.stale_read_chance = arguments.stale_read_chance;
  options.stale_by = milliseconds(arguments.stale_by_ms);
  options.drop_before_chance = arguments.drop_before_chance;
  options.drop_after_chance = arguments.drop_after_chance;
  options.retry_after = std::chrono::seconds(arguments.retry_after_seconds);
  options.page_items = arguments.page_items;
  const auto bucket_of = [](const std::vector<double>& given) { return given.empty() ? Bucket{} : Bucket{given[0], given[1]}; };
  options.reads = bucket_of(arguments.reads);
  options.writes = bucket_of(arguments.writes);
  options.deletes = bucket_of(arguments.deletes);
  if (arguments.exclusivity == "accept") options.exclusivity = Exclusivity::Accept;
  if (arguments.exclusivity == "supersede") options.exclusivity = Exclusivity::Supersede;
  if (arguments.url_escapes == "none") options.url_escapes = UrlEscapes::None;
  if (arguments.state_shown == "succeeded") options.state_shown = StateShown::Succeeded;
  return options;
}

std::optional<ServerOptions> server_options(const Arguments& arguments) {
  ServerOptions options;
  const size_t colon = arguments.listen.rfind(':');
  const char* end = arguments.listen.data() + arguments.listen.size();
  if (colon == std::string::npos || std::from_chars(arguments.listen.data() + colon + 1, end, options.port).ptr != end) {
    return std::nullopt;
  }
  options.address = arguments.listen.substr(0, colon);
  if (!arguments.latency_ms.empty()) {
    options.latency_min = std::chrono::milliseconds(arguments.latency_ms.front());
    options.latency_max = std::chrono::milliseconds(arguments.latency_ms.back());
  }
  options.seed = arguments.seed;
  return options;
}

Result<std::string> load_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return gateway_error(ErrorKind::BadInput, "Cannot read " + path + ": " + std::strerror(errno) + ".");
  return text.str();
}

// Complete or not there at all: others wait for the file to appear.
Result<void> save_file(const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path unfinished = path.string() + ".new";
  std::error_code error;
  {
    std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
    file << text;
    if (!file.flush()) return gateway_error(ErrorKind::BadInput, "Cannot write " + path.string() + ".");
  }
  std::filesystem::rename(unfinished, path, error);
  if (error) return gateway_error(ErrorKind::BadInput, "Cannot write " + path.string() + ": " + error.message() + ".");
  return {};
}

Result<ServerIdentity> load_or_make_identity(const Arguments& arguments, WallTime now) {
  if (!arguments.certificate.empty()) {
    Result<std::string> chain = load_file(arguments.certificate);
    if (!chain) return chain.error();
    Result<std::string> key = load_file(arguments.key);
    if (!key) return key.error();
    return ServerIdentity{{}, std::move(*chain), std::move(*key)};
  }
  if (arguments.ca_directory.empty()) {
    return gateway_error(ErrorKind::BadInput, "Give --make-ca DIR, or --cert and --key.");
  }
  Result<ServerIdentity> identity = make_server_identity(now);
  if (!identity) return identity.error();
  std::error_code error;
  std::filesystem::create_directories(arguments.ca_directory, error);
  const Result<void> saved = save_file(std::filesystem::path(arguments.ca_directory) / "ca.pem", identity->ca_pem);
  if (!saved) return saved.error();
  return identity;
}

// Serves it, and writes what kubectl needs to get there.
Result<void> start_kubernetes(ArmServer& server, const std::filesystem::path& directory, WallTime now) {
  const Result<ServerIdentity> identity = make_server_identity(now, "kubernetes");
  if (!identity) return identity.error();
  const Result<uint16_t> port = server.start_kubernetes(*identity);
  if (!port) return port.error();
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  const Result<void> saved = save_file(directory / "kubernetes-ca.pem", identity->ca_pem);
  if (!saved) return saved.error();
  return save_file(directory / "kubeconfig", R"({"apiVersion": "v1", "kind": "Config", "current-context": "armsim",
 "clusters": [{"name": "armsim", "cluster": {"server": "https://127.0.0.1:)" +
                                                 std::to_string(*port) + R"(", "certificate-authority": "kubernetes-ca.pem"}}],
 "users": [{"name": "armsim", "user": {"token": "armsim"}}],
 "contexts": [{"name": "armsim", "context": {"cluster": "armsim", "user": "armsim"}}]}
)");
}

int fail(const std::string& sentence) {
  std::fprintf(stderr, "armsim: %s\n", sentence.c_str());
  return 1;
}

int run(const Arguments& arguments) {
  const auto options = server_options(arguments);
  if (!options) return fail("--listen needs ADDRESS:PORT, not '" + arguments.listen + "'.");
  boost::asio::io_context io(1);
  RealClock clock;
  const Result<ServerIdentity> identity = load_or_make_identity(arguments, clock.wall());
  if (!identity) return fail(identity.error().context);
  std::optional<ArmServer> server;
  try {
    server.emplace(io, clock, *identity, *options, sim_options(arguments));
  } catch (const std::exception& error) {
    return fail(std::string("The certificate or key cannot be used: ") + error.what());
  }
  const Result<uint16_t> port = server->start();
  if (!port) return fail(port.error().context);
  if (!arguments.kubernetes_directory.empty()) {
    const Result<void> started = start_kubernetes(*server, arguments.kubernetes_directory, clock.wall());
    if (!started) return fail(started.error().context);
  }
  boost::asio::signal_set signals(io, SIGTERM, SIGINT);
  signals.async_wait([&io](const boost::system::error_code&, int) { io.stop(); });
  if (!arguments.port_file.empty()) {
    const Result<void> saved = save_file(arguments.port_file, std::to_string(*port) + "\n");
    if (!saved) return fail(saved.error().context);
  }
  std::printf("armsim listens on https://%s:%d\n", options->address.c_str(), static_cast<int>(*port));
  std::fflush(stdout);
  io.run();
  return 0;
}

}  // namespace
}  // namespace armgate::sim

int main(int argc, char** argv) {
  CLI::App app("A simulated Azure Resource Manager that judges its clients (GET /__sim/report)");
  armgate::sim::Arguments arguments;
  armgate::sim::declare(app, arguments);
  CLI11_PARSE(app, argc, argv);
  return armgate::sim::run(arguments);
}
