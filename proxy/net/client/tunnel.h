// tunnel.h – relays bytes both ways, untouched, until both sides have ended.
//
// Back-pressure: nothing is read from one side while the other does not take what was read. The end of one direction is
// passed on; the other goes on. A broken side breaks the other.
#pragma once

#include <string>

#include "proxy/net/socket/byte_stream.h"
#include "proxy/seams/clock.h"

namespace armgate::net {

struct TunnelCounts {
  uint64_t to_host_bytes = 0;
  uint64_t from_host_bytes = 0;
};

// `early`: bytes the client sent already. Ends when nothing moved in either direction for `idle_max`, too. Closes both.
Task<TunnelCounts> run_tunnel(ByteStream& client, ByteStream& host, std::string early, Clock& clock, Duration idle_max);

}  // namespace armgate::net
