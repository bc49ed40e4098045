// process_cost.h – what another process consumes: CPU time from /proc, instructions from the processor's counters.
//
// Why: on a shared or virtual machine the time of a request says more about the neighbours than about the program;
// instructions repeat within about one per cent.
// Limits    threads that the process starts after the beginning of a count are in its CPU time, not in its instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace armgate::load {

struct ProcessCost {
  double user_us = 0;
  double system_us = 0;
  double instructions = 0;  // the kernel's on behalf of the process included
  double user_instructions = 0;
};

// Microseconds of user and system time in the text of /proc/PID/stat; nothing if it is none.
std::optional<ProcessCost> parse_stat(std::string_view text, long ticks_per_second);

class ProcessMeter {
 public:
  // BadInput if there is no such process.
  static Result<ProcessMeter> open(int pid);

  ProcessMeter(ProcessMeter&& other) noexcept;
  ProcessMeter& operator=(ProcessMeter&&) = delete;
  ~ProcessMeter();

  bool counts_instructions() const { return !counters_.empty(); }
  // Since the process (time) and this object (instructions) began.
  ProcessCost read() const;
  // Kilobytes of memory.
  uint64_t resident_kb() const;

 private:
  struct Counter {
    int all;
    int user;
  };
  explicit ProcessMeter(int pid) : pid_(pid) {}
  int pid_;
  std::vector<Counter> counters_;  // one for each thread
};

}  // namespace armgate::load
