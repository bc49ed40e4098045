// tls_stream.h – TLS by OpenSSL directly on a non-blocking socket.
//
// Why not asio::ssl: it copies every byte through a BIO pair and waits before it tries; this tries first (measured, see
// docs/decisions on the transport).
// Threads   one event loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "certs/ssl_handles.h"
#include "proxy/net/socket/byte_stream.h"
#include "proxy/net/socket/socket.h"
#include "proxy/net/socket/socket_bio.h"

namespace armgate::net {

class TlsStream final : public ByteStream {
 public:
  // Only server contexts with a servername callback of their own look at it; see intercept.cc.
  using NameCheck = std::function<int(SSL* ssl, int* alert)>;
  using SessionSink = std::function<void(certs::SessionHandle session)>;

  // `early`: bytes that were read from the socket already. The caller sets accept or connect state through ssl().
  static Result<std::unique_ptr<TlsStream>> make(std::unique_ptr<Socket> socket, SSL_CTX* context, std::string early = {});
  ~TlsStream() override;

  SSL* ssl() { return ssl_.get(); }
  static TlsStream& of(SSL* ssl) { return *static_cast<TlsStream*>(SSL_get_app_data(ssl)); }

  // Before the handshake: what runs when the peer's name is known, and where resumable sessions go.
  void set_name_check(NameCheck check) { name_check_ = std::move(check); }
  const NameCheck& name_check() const { return name_check_; }
  void set_session_sink(SessionSink sink) { session_sink_ = std::move(sink); }
  const SessionSink& session_sink() const { return session_sink_; }

  // Errors: Untrusted if the peer's certificate did not verify, BadInput if the peer refused ours or broke TLS, Closed
  // if it hung up, and those of every stream.
  Task<Result<void>> handshake(TimePoint deadline);

  Task<Result<size_t>> read_some(std::span<char> into, TimePoint deadline) override;
  using ByteStream::write_all;
  Task<Result<void>> write_all(std::span<const std::string_view> pieces, TimePoint deadline) override;
  Task<void> shutdown(TimePoint deadline) override;
  void cancel_read() override { socket_->cancel(Waiting::Reader); }
  bool tell_readable(std::function<void()> readable) override;
  void close() override { socket_->close(); }
  StreamEnd end() const override { return end_; }
  size_t unacknowledged() const override { return socket_->unacknowledged(); }
  bool is_broken() const override { return socket_->is_broken(); }
  void acknowledge_now() override { socket_->acknowledge_now(); }
  uint64_t bytes_written() const override { return bio_.bytes_written; }
  bool has_input() const override { return holds_input() || socket_->has_input(); }
  bool is_quiet() override;

 private:
  struct Verdict {
    enum class Kind { WaitReadable, WaitWritable, Ended, Failed } kind;
    std::optional<Error> error;  // for Failed
  };

  explicit TlsStream(std::unique_ptr<Socket> socket) : socket_(std::move(socket)) {}
  Verdict verdict_of(int result);
  Error protocol_error();
  // What was taken from the socket and not read yet; half a record, too.
  bool holds_input() const { return SSL_has_pending(ssl_.get()) != 0 || bio_.has_early(); }
  Task<Result<void>> wait_for(Verdict verdict, Waiting who, TimePoint deadline);
  // Writes what can be written without waiting, and takes it off. What is in the way of the rest, if any is left.
  std::optional<Verdict> try_write(std::string_view& bytes);
  Task<Result<void>> write_one(std::string_view bytes, TimePoint deadline);
  Task<Result<void>> write_records(std::span<const std::string_view> pieces, TimePoint deadline);

  std::unique_ptr<Socket> socket_;
  SocketBioState bio_;
  certs::SslHandle ssl_;
  NameCheck name_check_;
  SessionSink session_sink_;
  StreamEnd end_ = StreamEnd::Open;
  bool broken_ = false;        // OpenSSL forbids further calls after a fatal error ...
  bool write_broken_ = false;  // ... but what came before the socket refused our bytes can be read, and may say why
};

}  // namespace armgate::net
