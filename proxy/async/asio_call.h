// asio_call.h – `co_await` an asynchronous operation of Asio's or Beast's within a Task.
//
//   co_await asio_call(error, [&](auto handler) { http::async_write(stream, answer, std::move(handler)); });
#pragma once

#include <boost/system/error_code.hpp>
#include <utility>

#include "proxy/async/task.h"

namespace armgate {

// `start` gives its argument to the operation as the handler; what comes behind the error code is dropped.
template <class Start>
auto asio_call(boost::system::error_code& error, Start start) {
  return park([&error, start](Parked parked) {
    start([&error, parked = std::move(parked)](const boost::system::error_code& failed, auto&&...) mutable {
      error = failed;
      parked();
    });
  });
}

}  // namespace armgate
