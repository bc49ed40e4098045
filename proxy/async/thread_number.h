// thread_number.h – numbers threads, so that each can have a place of its own in what all of them share.
#pragma once

#include <atomic>
#include <cstddef>

namespace armgate {

// Of the calling thread: 0, 1, ... in the order in which they ask first.
inline size_t thread_number() {
  static std::atomic<size_t> threads{0};
  static thread_local const size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace armgate
