#include "bench/counted.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<uint64_t> times{0};
std::atomic<uint64_t> bytes{0};

void* counted(size_t size) {
  times.fetch_add(1, std::memory_order_relaxed);
  bytes.fetch_add(size, std::memory_order_relaxed);
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return counted(size); }
void* operator new[](size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace armgate::bench {

Allocated allocated() { return {times.load(std::memory_order_relaxed), bytes.load(std::memory_order_relaxed)}; }

void AllocationCounter::report(benchmark::State& state) const {
  const Allocated now = allocated();
  state.counters["allocs"] =
      benchmark::Counter(static_cast<double>(now.times - before_.times), benchmark::Counter::kAvgIterations);
  state.counters["bytes"] =
      benchmark::Counter(static_cast<double>(now.bytes - before_.bytes), benchmark::Counter::kAvgIterations);
}

}  // namespace armgate::bench
