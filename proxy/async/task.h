// task.h – the one coroutine type. Asio enters the rest of armgate only through proxy/async.
//
// Rules (docs/decisions/0002): no mutex and no view of a temporary is held across co_await; no capturing lambda is a
// coroutine; clean-up belongs in destructors, because a cancelled coroutine may never run past its await.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace armgate {

template <class T>
using Task = boost::asio::awaitable<T>;

using Executor = boost::asio::any_io_executor;

}  // namespace armgate
