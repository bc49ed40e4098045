// plain_stream.h – a ByteStream without TLS: the proxy port before CONNECT, and tunnels.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "proxy/net/socket/byte_stream.h"
#include "proxy/net/socket/socket.h"

namespace armgate::net {

class PlainStream final : public ByteStream {
 public:
  explicit PlainStream(std::unique_ptr<Socket> socket) : socket_(std::move(socket)) {}

  Task<Result<size_t>> read_some(std::span<char> into, TimePoint deadline) override;
  using ByteStream::write_all;
  Task<Result<void>> write_all(std::span<const std::string_view> pieces, TimePoint deadline) override;
  Task<void> shutdown(TimePoint deadline) override;
  void cancel_read() override { socket_->cancel(Waiting::Reader); }
  bool tell_readable(std::function<void()> readable) override { return socket_->tell_readable(std::move(readable)); }
  void close() override { socket_->close(); }
  StreamEnd end() const override { return end_; }
  size_t unacknowledged() const override { return socket_->unacknowledged(); }
  bool is_broken() const override { return socket_->is_broken(); }
  void acknowledge_now() override { socket_->acknowledge_now(); }
  uint64_t bytes_written() const override { return bytes_written_; }
  bool has_input() const override { return socket_->has_input(); }
  bool is_quiet() override { return socket_->is_open() && !has_input(); }

  // Gives the socket up, for a TLS handshake on it. No operation may be running.
  std::unique_ptr<Socket> release() { return std::move(socket_); }

 private:
  std::unique_ptr<Socket> socket_;
  StreamEnd end_ = StreamEnd::Open;
  uint64_t bytes_written_ = 0;
};

}  // namespace armgate::net
