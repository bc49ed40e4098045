#include "proxy/net/socket/plain_stream.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace armgate::net {
namespace {

constexpr size_t kPiecesAtOnce = 8;

// The next pieces to write as the kernel wants them; `skip` bytes of the first are written already.
size_t gather(std::span<const std::string_view> pieces, size_t skip, std::array<iovec, kPiecesAtOnce>& into) {
  size_t count = 0;
  for (const std::string_view piece : pieces.first(std::min(pieces.size(), kPiecesAtOnce))) {
    const std::string_view rest = piece.substr(count == 0 ? skip : 0);
    into[count++] = {const_cast<char*>(rest.data()), rest.size()};
  }
  return count;
}

}  // namespace

Task<Result<size_t>> PlainStream::read_some(std::span<char> into, TimePoint deadline) {
  if (socket_->others_are_due()) {
    auto ran = co_await socket_->let_others_run(Waiting::Reader);
    if (!ran) co_return std::move(ran).error();
  }
  while (socket_->is_open()) {
    const ssize_t count = ::recv(socket_->fd(), into.data(), into.size(), 0);
    if (count > 0) co_return static_cast<size_t>(count);
    if (count == 0) {
      end_ = StreamEnd::Notified;
      co_return size_t{0};
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) co_return socket_->error_of(errno);
    auto ready = co_await socket_->wait(Waiting::Reader, Readiness::Readable, deadline);
    if (!ready) co_return std::move(ready).error();
  }
  co_return socket_->cancelled();
}

Task<Result<void>> PlainStream::write_all(std::span<const std::string_view> pieces, TimePoint deadline) {
  if (socket_->others_are_due()) {
    auto ran = co_await socket_->let_others_run(Waiting::Writer);
    if (!ran) co_return ran;
  }
  size_t skip = 0;
  while (true) {
    while (!pieces.empty() && skip >= pieces.front().size()) {
      skip -= pieces.front().size();
      pieces = pieces.subspan(1);
    }
    if (pieces.empty()) co_return Result<void>{};
    if (!socket_->is_open()) co_return socket_->cancelled();
    std::array<iovec, kPiecesAtOnce> vectors{};
    msghdr message{};
    message.msg_iov = vectors.data();
    message.msg_iovlen = gather(pieces, skip, vectors);
    const ssize_t count = ::sendmsg(socket_->fd(), &message, MSG_NOSIGNAL);
    if (count >= 0) {
      skip += static_cast<size_t>(count);
      bytes_written_ += static_cast<uint64_t>(count);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) co_return socket_->error_of(errno);
    auto ready = co_await socket_->wait(Waiting::Writer, Readiness::Writable, deadline);
    if (!ready) co_return ready;
  }
}

Task<void> PlainStream::shutdown(TimePoint) {
  socket_->shutdown_write();
  co_return;
}

}  // namespace armgate::net
