#include "bench/load/process_cost.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace armgate::load {
namespace {

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

enum class Levels { All, UserOnly };

int open_counter(int thread, Levels levels) {
  perf_event_attr wanted{};
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.size = sizeof wanted;
  wanted.config = PERF_COUNT_HW_INSTRUCTIONS;
  wanted.exclude_hv = 1;
  wanted.exclude_kernel = levels == Levels::UserOnly ? 1 : 0;
  return static_cast<int>(::syscall(SYS_perf_event_open, &wanted, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

double value_of(int counter) {
  uint64_t value = 0;
  const bool complete = ::read(counter, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
  return complete ? static_cast<double>(value) : 0;
}

}  // namespace

std::optional<ProcessCost> parse_stat(std::string_view text, long ticks_per_second) {
  const size_t name_end = text.rfind(')');  // the name may hold anything, parentheses and spaces too
  if (name_end == text.npos) return std::nullopt;
  std::istringstream fields{std::string(text.substr(name_end + 1))};
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  if (!fields) return std::nullopt;
  const double us = 1e6 / static_cast<double>(ticks_per_second);
  return ProcessCost{user * us, system * us, 0, 0};
}

Result<ProcessMeter> ProcessMeter::open(int pid) {
  const std::string directory = fmt::format("/proc/{}", pid);
  if (!parse_stat(text_of(directory + "/stat"), 100)) {
    return client_error(ErrorKind::BadInput, fmt::format("pid={}: there is no such process", pid));
  }
  ProcessMeter meter(pid);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory + "/task", error)) {
    const std::string name = entry.path().filename();
    int thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    const int all = open_counter(thread, Levels::All);
    if (all < 0) continue;
    const int user = open_counter(thread, Levels::UserOnly);
    if (user < 0) {
      ::close(all);
      continue;
    }
    meter.counters_.push_back({all, user});
  }
  return meter;
}

ProcessMeter::ProcessMeter(ProcessMeter&& other) noexcept : pid_(other.pid_), counters_(std::exchange(other.counters_, {})) {}

ProcessMeter::~ProcessMeter() {
  for (const auto& counter : counters_) {
    ::close(counter.all);
    ::close(counter.user);
  }
}

ProcessCost ProcessMeter::read() const {
  auto cost = parse_stat(text_of(fmt::format("/proc/{}/stat", pid_)), ::sysconf(_SC_CLK_TCK)).value_or(ProcessCost{});
  for (const auto& counter : counters_) {
    cost.instructions += value_of(counter.all);
    cost.user_instructions += value_of(counter.user);
  }
  return cost;
}

uint64_t ProcessMeter::resident_kb() const {
  std::istringstream status(text_of(fmt::format("/proc/{}/status", pid_)));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("VmRSS:")) continue;
    std::istringstream value(line.substr(6));
    uint64_t kb = 0;
    value >> kb;
    return kb;
  }
  return 0;
}

}  // namespace armgate::load
