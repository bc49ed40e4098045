#include "proxy/net/socket/socket_bio.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "certs/record_pool.h"

namespace armgate::net {
namespace {

SocketBioState& state_of(BIO* bio) { return *static_cast<SocketBioState*>(BIO_get_data(bio)); }

bool is_passing(int number) { return number == EAGAIN || number == EWOULDBLOCK || number == EINTR; }

int write_bytes(BIO* bio, const char* data, int size) {
  SocketBioState& state = state_of(bio);
  BIO_clear_retry_flags(bio);
  certs::note_record_written(data);
  const ssize_t count = ::send(state.fd, data, static_cast<size_t>(size), MSG_NOSIGNAL);
  if (count >= 0) {
    state.bytes_written += static_cast<uint64_t>(count);
    return static_cast<int>(count);
  }
  if (is_passing(errno))
    BIO_set_retry_write(bio);
  else
    state.last_errno = errno;
  return -1;
}

int read_bytes(BIO* bio, char* data, int size) {
  SocketBioState& state = state_of(bio);
  BIO_clear_retry_flags(bio);
  if (state.has_early()) {
    const size_t count = std::min(static_cast<size_t>(size), state.early.size() - state.early_taken);
    std::memcpy(data, state.early.data() + state.early_taken, count);
    state.early_taken += count;
    certs::note_record_read(data, count);
    if (!state.has_early()) {  // the state lives as long as the connection
      std::string().swap(state.early);
      state.early_taken = 0;
    }
    return static_cast<int>(count);
  }
  if (state.is_drained) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const ssize_t count = ::recv(state.fd, data, static_cast<size_t>(size), 0);
  if (count > 0) {
    certs::note_record_read(data, static_cast<size_t>(count));
    state.is_drained = count < size;
    return static_cast<int>(count);
  }
  if (count == 0) {
    state.end_seen = true;
    return 0;
  }
  if (is_passing(errno)) {
    state.is_drained = errno != EINTR;
    BIO_set_retry_read(bio);
  } else {
    state.last_errno = errno;
  }
  return -1;
}

long control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return state_of(bio).end_seen ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* make_method() {
  BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "armgate socket");
  BIO_meth_set_write(method, write_bytes);
  BIO_meth_set_read(method, read_bytes);
  BIO_meth_set_ctrl(method, control);
  return method;
}

}  // namespace

certs::BioHandle make_socket_bio(SocketBioState& state) {
  static const std::unique_ptr<BIO_METHOD, certs::Freed<BIO_meth_free>> method(make_method());
  certs::BioHandle bio(BIO_new(method.get()));
  BIO_set_data(bio.get(), &state);
  BIO_set_init(bio.get(), 1);
  return bio;
}

}  // namespace armgate::net
