// counted.h – counts what a benchmark allocates: the program's operator new is replaced (counted.cc).
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>

namespace armgate::bench {

struct Allocated {
  uint64_t times = 0;
  uint64_t bytes = 0;
};

// By this thread since it began.
Allocated allocated();

// From its construction to report(): allocations and bytes of one iteration, as counters of the benchmark.
class AllocationCounter {
 public:
  AllocationCounter() : before_(allocated()) {}
  void report(benchmark::State& state) const;

 private:
  const Allocated before_;
};

}  // namespace armgate::bench
