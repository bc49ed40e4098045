#include "bench/counted.h"

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

// Each thread's own: a counter for all would be what several threads wait for.
thread_local uint64_t times = 0;
thread_local uint64_t bytes = 0;

void* counted(size_t size) {
  ++times;
  bytes += size;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return counted(size); }
void* operator new[](size_t size) { return counted(size); }
// Not left to the library: the allocator brings its own, which would not be counted.
void* operator new(size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace armgate::bench {

Allocated allocated() { return {times, bytes}; }

void AllocationCounter::report(benchmark::State& state) const {
  const Allocated now = allocated();
  state.counters["allocs"] =
      benchmark::Counter(static_cast<double>(now.times - before_.times), benchmark::Counter::kAvgIterations);
  state.counters["bytes"] =
      benchmark::Counter(static_cast<double>(now.bytes - before_.bytes), benchmark::Counter::kAvgIterations);
}

}  // namespace armgate::bench
