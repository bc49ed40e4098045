// task.h – the one coroutine type, and how it waits for what comes from outside.
//
// Why our own and not asio::awaitable: thirty tasks serve one GET, and each awaitable costs hundreds of instructions and memory
// that has left the processor's cache (docs/decisions/0010).
//
// A task does nothing until it is awaited. The coroutine that awaits it goes on when it has ended, on the same thread. spawn()
// starts a root task: it awaits a task, which awaits another and so on, and only the last of them can do something. "The root
// task" means all of them where it says who waits, goes on or is destroyed.
//
// Rules (docs/decisions/0002): no mutex and no view of a temporary is held across co_await; no capturing lambda is a
// coroutine; clean-up belongs in destructors, because a cancelled coroutine may never run past its await.
// Threads   a root task goes on wherever its Parked is called: always on one event loop.
// Cancel    destroying a task destroys what it awaits; destroying a Parked destroys its root task.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "base/check.h"
#include "proxy/async/frame_pool.h"

namespace armgate {

using Executor = boost::asio::any_io_executor;

template <class T>
class Task;

namespace internal {

class RootTask {
 public:
  RootTask(const Executor& executor, std::coroutine_handle<> first);

  const Executor& executor() const { return executor_; }
  void destroy() { first_.destroy(); }

  // Goes on at `task`, and with what that says comes next, until it waits or has ended; it may be destroyed by then.
  void go_on(std::coroutine_handle<> task) {
    std::coroutine_handle<> next = task;
    next_ = &next;
    while (next) std::exchange(next, nullptr).resume();
  }
  // To be called by what runs, last before it suspends.
  void comes_next(std::coroutine_handle<> task) { *next_ = task; }

 private:
  const Executor executor_;
  const Executor work_;  // the event loop does not end before this
  const std::coroutine_handle<> first_;
  std::coroutine_handle<>* next_ = nullptr;
};

struct PromiseBase {
  static void* operator new(size_t bytes) { return FramePool::take(bytes); }
  static void operator delete(void* frame, size_t bytes) { FramePool::give_back(frame, bytes); }

  struct Final {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> ended) noexcept {
      ended.promise().root->comes_next(ended.promise().awaiting);
    }
    void await_resume() noexcept {}
  };

  std::suspend_always initial_suspend() noexcept { return {}; }
  Final final_suspend() noexcept { return {}; }
  void unhandled_exception() { failure = std::current_exception(); }
  void rethrow() const {
    if (failure) [[unlikely]]
      std::rethrow_exception(failure);
  }

  RootTask* root = nullptr;
  std::coroutine_handle<> awaiting;
  std::exception_ptr failure;
};

template <class T>
struct Promise : PromiseBase {
  Task<T> get_return_object();
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() {
    rethrow();
    return *std::move(value);
  }
  std::optional<T> value;
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() {}
  void take() { rethrow(); }
};

}  // namespace internal

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = internal::Promise<T>;

  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~Task() {
    if (frame_) frame_.destroy();
  }

  class Awaiter {
   public:
    explicit Awaiter(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> awaiting) {
      internal::PromiseBase& own = frame_.promise();
      own.root = awaiting.promise().root;
      own.awaiting = awaiting;
      own.root->comes_next(frame_);
    }
    T await_resume() { return frame_.promise().take(); }

   private:
    std::coroutine_handle<promise_type> frame_;
  };
  Awaiter operator co_await() && { return Awaiter(frame_); }

 private:
  friend promise_type;
  explicit Task(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
  std::coroutine_handle<promise_type> frame_;
};

template <class T>
Task<T> internal::Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise>::from_promise(*this));
}
inline Task<void> internal::Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise>::from_promise(*this));
}

// A suspended root task: call it once to resume it. Without a call it is destroyed with this.
class Parked {
 public:
  Parked() = default;
  Parked(internal::RootTask& root, std::coroutine_handle<> suspended) : root_(&root), suspended_(suspended) {}
  Parked(Parked&& other) noexcept : root_(std::exchange(other.root_, nullptr)), suspended_(other.suspended_) {}
  Parked& operator=(Parked&& other) noexcept {
    Parked(std::move(other)).swap(*this);
    return *this;
  }
  ~Parked() {
    if (root_ != nullptr) root_->destroy();
  }

  explicit operator bool() const { return root_ != nullptr; }
  void swap(Parked& other) noexcept {
    std::swap(root_, other.root_);
    std::swap(suspended_, other.suspended_);
  }
  void operator()() {
    GATE_CHECK(root_ != nullptr, "a root task goes on once");
    std::exchange(root_, nullptr)->go_on(suspended_);
  }

 private:
  internal::RootTask* root_ = nullptr;
  std::coroutine_handle<> suspended_;  // of its tasks the last
};

// co_await park(take): the root task waits, and `take` is given it to make it go on later, on its own event loop: neither
// before `take` has returned nor from within.
template <class Take>
class Parking {
 public:
  explicit Parking(Take take) : take_(std::move(take)) {}
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> task) {
    take_(Parked(*task.promise().root, task));
  }
  void await_resume() const noexcept {}

 private:
  Take take_;
};

template <class Take>
Parking<Take> park(Take take) {
  return Parking<Take>(std::move(take));
}

// co_await current_executor(): where this root task goes on.
class CurrentExecutor {
 public:
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> task) {
    executor_ = task.promise().root->executor();
    return false;
  }
  Executor await_resume() { return std::move(executor_); }

 private:
  Executor executor_;
};

inline CurrentExecutor current_executor() { return {}; }

}  // namespace armgate
