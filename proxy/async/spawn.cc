#include "proxy/async/spawn.h"

#include <boost/asio/dispatch.hpp>
#include <exception>

#include "base/check.h"
#include "proxy/async/resume_later.h"

namespace armgate {
namespace {

// A root task, which nobody awaits: its frame goes when it has ended.
struct First {
  struct promise_type : internal::PromiseBase {
    promise_type(const Executor& executor, Task<void>&)
        : own_root(executor, std::coroutine_handle<promise_type>::from_promise(*this)) {
      root = &own_root;
    }
    First get_return_object() { return {Parked(own_root, std::coroutine_handle<promise_type>::from_promise(*this))}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    internal::RootTask own_root;
  };
  Parked parked;
};

First begin(Executor, Task<void> task) {
  Task<void> own = std::move(task);  // parameters outlive the promise, and with it the root task and its hold on the event loop
  try {
    co_await std::move(own);
  } catch (const std::exception& e) {
    internal::check_failed(__FILE__, __LINE__, "a spawned task threw", e.what());
  } catch (...) {
    internal::check_failed(__FILE__, __LINE__, "a spawned task threw", "something that is no std::exception");
  }
}

}  // namespace

void spawn(const Executor& executor, Task<void> task) {
  boost::asio::dispatch(executor, std::move(begin(executor, std::move(task)).parked));
}

Task<void> let_others_run() {
  const Executor executor = co_await current_executor();
  co_await park([&executor](Parked parked) { resume_later(executor, std::move(parked)); });
}

}  // namespace armgate
