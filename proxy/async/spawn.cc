#include "proxy/async/spawn.h"

#include <boost/asio/co_spawn.hpp>
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

}  // namespace armgate
