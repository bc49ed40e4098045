#include "proxy/async/spawn.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <exception>

#include "base/check.h"

namespace armgate {

void spawn(const Executor& executor, Task<void> task) {
  boost::asio::co_spawn(executor, std::move(task), [](std::exception_ptr failure) {
    if (!failure) return;
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& e) {
      internal::check_failed(__FILE__, __LINE__, "a spawned task threw", e.what());
    }
  });
}

Task<void> let_others_run() {
  const Executor executor = co_await boost::asio::this_coro::executor;
  co_await boost::asio::post(executor, boost::asio::use_awaitable);
}

}  // namespace armgate
