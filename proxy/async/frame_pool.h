// frame_pool.h – memory for tasks and what lives as long as a request, in which what came back last is given out first.
//
// Why: an allocator hands a page's blocks out in turn, so that the memory of tasks that live for microseconds is always one
// that has left the processor's cache. Here a request runs in what the one before has just used.
// Threads   any; each has a pool of its own, and what was taken on another may be given back.
// Limits    a thread keeps 1 MB, until the process ends; frames of more than 4 KB are allocated as anything else.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace armgate {

class FramePool {
 public:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
  // Reused memory would hide what sanitizers look for.
  static void* take(size_t bytes) { return ::operator new(bytes); }
  static void give_back(void* frame, size_t) { ::operator delete(frame); }
#else
  static void* take(size_t bytes) {
    const size_t place = place_of(bytes);
    if (place >= kSizes) return ::operator new(bytes);
    Free* const first = pool_.kept[place];
    if (first == nullptr) return ::operator new((place + 1) * kStep);
    pool_.kept[place] = first->next;
    pool_.bytes -= (place + 1) * kStep;
    return first;
  }
  static void give_back(void* frame, size_t bytes) {
    const size_t place = place_of(bytes);
    if (place >= kSizes || pool_.bytes >= kBytesMax) return ::operator delete(frame);
    pool_.kept[place] = new (frame) Free{pool_.kept[place]};
    pool_.bytes += (place + 1) * kStep;
  }
#endif

  static size_t bytes_kept() { return pool_.bytes; }  // by this thread

 private:
  static constexpr size_t kStep = 64;
  static constexpr size_t kSizes = 64;
  static constexpr size_t kBytesMax = 1 << 20;

  struct Free {
    Free* next;
  };
  struct Pool {
    std::array<Free*, kSizes> kept;
    size_t bytes;
  };

  static size_t place_of(size_t bytes) { return (bytes - 1) / kStep; }

  // Trivial to destroy: tasks may end after a thread's other variables.
  static constinit inline thread_local Pool pool_{};
};

// The same for what lives as long as a request and is no task.
template <class T>
struct PoolAllocator {
  using value_type = T;

  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) {}  // NOLINT(google-explicit-constructor): containers rebind it so

  T* allocate(size_t count) { return static_cast<T*>(FramePool::take(count * sizeof(T))); }
  void deallocate(T* memory, size_t count) { FramePool::give_back(memory, count * sizeof(T)); }
  friend bool operator==(const PoolAllocator&, const PoolAllocator&) = default;

  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
};

template <class T, class... Arguments>
std::shared_ptr<T> make_pooled(Arguments&&... arguments) {
  return std::allocate_shared<T>(PoolAllocator<std::remove_const_t<T>>(), std::forward<Arguments>(arguments)...);
}

}  // namespace armgate
