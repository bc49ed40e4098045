#include "proxy/async/task.h"

#include <boost/asio/execution.hpp>
#include <boost/asio/prefer.hpp>

namespace armgate::internal {

RootTask::RootTask(const Executor& executor, std::coroutine_handle<> first)
    : executor_(executor),
      work_(boost::asio::prefer(executor, boost::asio::execution::outstanding_work.tracked)),
      first_(first) {}

}  // namespace armgate::internal
