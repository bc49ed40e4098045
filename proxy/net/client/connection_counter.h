// connection_counter.h – how many connections of clients the process has, and their names.
//
// Threads   any; shared by all servers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace armgate::net {

struct ConnectionCounter {
  std::atomic<size_t> open{0};
  std::atomic<uint64_t> last_id{0};
};

}  // namespace armgate::net
