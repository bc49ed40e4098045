#include "tests/gate_sim/soak_workers.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "json/tree.h"
#include "sim/json_text.h"

namespace armgate::world {
namespace {

using Json = nlohmann::json;

constexpr int kWorkersMax = 256;
constexpr int kTickMilliseconds = 500;

// In memory that parent and workers share.
struct Board {
  std::atomic<uint64_t> next{1};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> running[kWorkersMax]{};  // the seed that each works on; 0: none
};

Board* make_board() {
  void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  GATE_CHECK(memory != MAP_FAILED, "there is memory for the workers' board");
  return new (memory) Board;
}

// One run as a line. Its tail is only of use if something broke.
std::string line_of(uint64_t seed, const RunResult& result) {
  Json violations = Json::array();
  for (const auto& one : result.violations) violations.push_back(Json::array({one.promise, one.what}));
  Json run;
  run["seed"] = seed;
  run["workload"] = result.workload;
  run["disturbances"] = result.disturbances;
  run["tally"] = result.tally;
  if (!result.violations.empty()) run["tail"] = result.tail;
  run["violations"] = std::move(violations);
  return sim::json_text(run) + "\n";
}

uint64_t read_line(const std::string& line, RunResult& result) {
  const Json run = sim::json_value(line);
  result.workload = run.at("workload");
  result.disturbances = run.at("disturbances");
  result.tally = run.at("tally").get<std::map<std::string, uint64_t>>();
  if (run.contains("tail")) result.tail = run["tail"];
  for (const Json& one : run.at("violations")) result.violations.push_back({one[0], one[1]});
  return run.at("seed");
}

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(3);  // nobody listens any more
    text.remove_prefix(static_cast<size_t>(written));
  }
}

[[noreturn]] void work(const Soak& soak, Board& board, int place, int out) {
  std::signal(SIGINT, SIG_IGN);  // the parent hears it, too, and says when to stop
  std::signal(SIGTERM, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (!board.stop) {
    const uint64_t seed = board.next.fetch_add(1);
    if (seed > soak.seeds.last) break;
    board.running[place] = seed;
    Scenario scenario = soak.scenario;
    scenario.seed = seed;
    write_all(out, line_of(seed, run_scenario(scenario)));
    board.running[place] = 0;
  }
  _exit(0);
}

class Worker {
 public:
  Worker(const Soak& soak, Board& board, int place) : soak_(soak), board_(board), place_(place) { start(); }

  bool alive() const { return pid_ > 0; }
  int descriptor() const { return in_; }

  // Reads what has come; at its end, says how it ended, and starts anew if there is more to do.
  void hear() {
    char bytes[65536];
    const ssize_t count = read(in_, bytes, sizeof bytes);
    if (count < 0) return;
    if (count == 0) return end();
    text_.append(bytes, static_cast<size_t>(count));
    size_t from = 0;
    for (size_t to = text_.find('\n'); to != text_.npos; to = text_.find('\n', from)) {
      RunResult result;
      const uint64_t seed = read_line(text_.substr(from, to - from), result);
      heard_ = seed;
      soak_.finished(seed, result);
      from = to + 1;
    }
    text_.erase(0, from);
  }

  void stop_if_hung() {
    const uint64_t seed = board_.running[place_];
    if (seed != watched_ || seed == 0) {
      watched_ = seed;
      since_ = soak_.elapsed();
    } else if (soak_.elapsed() - since_ > soak_.hung_after) {
      hung_ = true;
      kill(pid_, SIGKILL);
    }
  }

 private:
  void start() {
    int ends[2];
    GATE_CHECK(pipe(ends) == 0, "there is a pipe for the worker");
    std::fflush(stdout);
    pid_ = fork();
    GATE_CHECK(pid_ >= 0, "a worker can be started");
    if (pid_ == 0) {
      close(ends[0]);
      work(soak_, board_, place_, ends[1]);
    }
    close(ends[1]);
    in_ = ends[0];
    text_.clear();
    hung_ = false;
  }

  void end() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    close(in_);
    pid_ = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const uint64_t seed = board_.running[place_].exchange(0);
    if (seed != 0 && seed != heard_) {
      RunResult result;
      result.workload = soak_.scenario.workload;
      result.disturbances = soak_.scenario.disturbances;
      const std::string how = hung_                 ? fmt::format("did not end within {:.0f} s", soak_.hung_after)
                              : WIFSIGNALED(status) ? fmt::format("crashed: {}", strsignal(WTERMSIG(status)))
                                                    : fmt::format("ended the process with {}", WEXITSTATUS(status));
      result.violations.push_back({"run", how});
      soak_.finished(seed, result);
    }
    if (!board_.stop) start();
  }

  const Soak& soak_;
  Board& board_;
  const int place_;
  pid_t pid_ = 0;
  int in_ = -1;
  std::string text_;
  uint64_t heard_ = 0;
  uint64_t watched_ = 0;
  double since_ = 0;
  bool hung_ = false;
};

}  // namespace

void run_seeds(const Soak& soak) {
  Board& board = *make_board();
  board.next = soak.seeds.first;
  std::vector<Worker> workers;
  workers.reserve(kWorkersMax);
  for (int i = 0; i < std::min(soak.workers, kWorkersMax); ++i) workers.emplace_back(soak, board, i);
  double ticked = soak.elapsed();
  while (true) {
    std::vector<pollfd> wanted;
    wanted.reserve(workers.size());
    for (const Worker& worker : workers) {
      wanted.push_back({worker.alive() ? worker.descriptor() : -1, POLLIN, 0});
    }
    if (std::none_of(workers.begin(), workers.end(), [](const Worker& worker) { return worker.alive(); })) break;
    poll(wanted.data(), wanted.size(), kTickMilliseconds);
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].fd >= 0 && wanted[i].revents != 0) workers[i].hear();
    }
    if (soak.wants_end()) board.stop = true;
    if (soak.elapsed() - ticked < kTickMilliseconds / 1000.0) continue;
    ticked = soak.elapsed();
    for (Worker& worker : workers) {
      if (worker.alive()) worker.stop_if_hung();
    }
    soak.tick();
  }
  munmap(&board, sizeof board);
}

}  // namespace armgate::world
