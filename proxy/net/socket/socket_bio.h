// socket_bio.h – OpenSSL's way to a socket: never raises SIGPIPE, remembers errno, and replays bytes read too early.
//
// Why not BIO_s_socket: it writes with write(2), which kills the process when the peer is gone, and a client may send
// its ClientHello in the same segment as CONNECT, so the first bytes may be in our hands already.
#pragma once

#include <cstdint>
#include <string>

#include "certs/ssl_handles.h"

namespace armgate::net {

struct SocketBioState {
  int fd = -1;
  std::string early;  // bytes to read before the socket's
  size_t early_taken = 0;
  int last_errno = 0;  // of the last read or write that failed for good
  bool end_seen = false;
  // The last read took all there was, or found nothing: the next one says so without asking the system. Its owner clears it
  // when the socket has become readable, or to look again.
  bool is_drained = false;
  uint64_t bytes_written = 0;

  bool has_early() const { return early_taken < early.size(); }
};

// `state` must outlive the BIO.
certs::BioHandle make_socket_bio(SocketBioState& state);

}  // namespace armgate::net
