// own_counter.h – counts in a variable that one thread changes and any may read: no bus is locked for it.
#pragma once

#include <atomic>

namespace armgate {

// Only on the thread that alone changes it: an event loop's own counters.
template <class Count>
void add_alone(std::atomic<Count>& counter, Count more = 1) {
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace armgate
