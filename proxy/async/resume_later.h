// resume_later.h – lets a parked root task go on in a later iteration of its event loop.
#pragma once

#include <boost/asio/post.hpp>
#include <utility>

#include "base/check.h"
#include "proxy/async/task.h"

namespace armgate {

// Returns at once. Threads: any.
inline void resume_later(const Executor& executor, Parked parked) {
  GATE_CHECK(static_cast<bool>(executor), "a root task goes on at an executor");
  boost::asio::post(executor, std::move(parked));
}

}  // namespace armgate
