#include "proxy/net/socket/tls_stream.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/net/socket/record_area.h"

namespace armgate::net {
namespace {

constexpr size_t kRecordBytes = RecordArea::kBytes;

// Errors left by others would be taken for this call's. There are none almost always, and clearing costs more than looking.
void forget_errors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

// The pieces behind each other, in one area of the thread: valid until the next suspension.
std::string_view gather(std::span<const std::string_view> pieces) {
  static thread_local std::array<char, kRecordBytes> area;
  char* end = area.data();
  for (const std::string_view piece : pieces) end = std::copy(piece.begin(), piece.end(), end);
  return {area.data(), static_cast<size_t>(end - area.data())};
}

}  // namespace

Result<std::unique_ptr<TlsStream>> TlsStream::make(std::unique_ptr<Socket> socket, SSL_CTX* context, std::string early) {
  std::unique_ptr<TlsStream> stream(new TlsStream(std::move(socket)));
  stream->bio_.fd = stream->socket_->fd();
  stream->bio_.early = std::move(early);
  stream->ssl_.reset(SSL_new(context));
  if (!stream->ssl_) return certs::openssl_failure("making a TLS connection");
  // Else OpenSSL 3 answers an end without close_notify with an alert, which a client that is gone never acknowledges, and lets
  // nothing be written to one that has only ended its own direction. What may be cut is told by end().
  SSL_set_options(stream->ssl_.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
  BIO* const bio = make_socket_bio(stream->bio_).release();
  SSL_set_bio(stream->ssl_.get(), bio, bio);
  SSL_set_app_data(stream->ssl_.get(), stream.get());
  return stream;
}

TlsStream::~TlsStream() {
  // OpenSSL forbids resuming the session of a connection that was not shut down in both directions. TLS 1.3 knows no
  // such rule (RFC 8446 §6.1), and closing without a farewell is how idle connections end.
  if (ssl_ && !broken_) SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

TlsStream::Verdict TlsStream::verdict_of(int result) {
  using Kind = Verdict::Kind;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ: return {Kind::WaitReadable, {}};
    case SSL_ERROR_WANT_WRITE: return {Kind::WaitWritable, {}};
    case SSL_ERROR_ZERO_RETURN:
      // A close_notify is found before the end of the connection behind it is read.
      end_ = bio_.end_seen ? StreamEnd::Bare : StreamEnd::Notified;
      return {Kind::Ended, {}};
    case SSL_ERROR_SYSCALL: broken_ = true; return {Kind::Failed, socket_->error_of(bio_.last_errno)};
    default: broken_ = true; return {Kind::Failed, protocol_error()};
  }
}

Error TlsStream::protocol_error() {
  const Peer& peer = socket_->peer();
  const std::string reasons = certs::take_openssl_errors();
  const long verified = SSL_get_verify_result(ssl_.get());
  if (!SSL_is_server(ssl_.get()) && verified != X509_V_OK) {
    return {ErrorKind::Untrusted, peer.source, Sent::No,
            fmt::format("the certificate of {} is not trusted: {}; the options upstream.ca_file and hosts.<name>.ca_file name "
                        "whom to trust besides the system's authorities",
                        peer.name, X509_verify_cert_error_string(verified))};
  }
  return {ErrorKind::BadInput, peer.source, Sent::No, fmt::format("TLS with {} failed: {}", peer.name, reasons)};
}

Task<Result<void>> TlsStream::wait_for(Verdict verdict, Waiting who, TimePoint deadline) {
  switch (verdict.kind) {
    case Verdict::Kind::WaitReadable: {
      auto ready = co_await socket_->wait(who, Readiness::Readable, deadline);
      // After a wait in vain there is still nothing to read: OpenSSL would take a buffer to find that out.
      if (ready) bio_.is_drained = false;
      co_return ready;
    }
    case Verdict::Kind::WaitWritable: co_return co_await socket_->wait(who, Readiness::Writable, deadline);
    case Verdict::Kind::Ended:
      co_return Error{ErrorKind::Closed, socket_->peer().source, Sent::No,
                      fmt::format("{} closed the connection", socket_->peer().name)};
    case Verdict::Kind::Failed: break;
  }
  co_return *std::move(verdict.error);
}

Task<Result<void>> TlsStream::handshake(TimePoint deadline) {
  while (socket_->is_open()) {
    forget_errors();
    const int result = SSL_do_handshake(ssl_.get());
    if (result == 1) co_return Result<void>{};
    auto ready = co_await wait_for(verdict_of(result), Waiting::Reader, deadline);
    if (!ready) co_return ready;
  }
  co_return socket_->cancelled();
}

Task<Result<size_t>> TlsStream::read_some(std::span<char> into, TimePoint deadline) {
  if (socket_->others_are_due()) {
    auto ran = co_await socket_->let_others_run(Waiting::Reader);
    if (!ran) co_return std::move(ran).error();
  }
  while (socket_->is_open()) {
    if (end_ != StreamEnd::Open) co_return size_t{0};
    if (broken_ && !write_broken_) co_return socket_->error_of(ECONNRESET);
    if (bio_.is_drained && SSL_has_pending(ssl_.get()) == 0) {
      // OpenSSL would only find out the same, at a higher price.
      auto ready = co_await socket_->wait(Waiting::Reader, Readiness::Readable, deadline);
      if (!ready) co_return std::move(ready).error();
      bio_.is_drained = false;
      continue;
    }
    forget_errors();
    const int count = SSL_read(ssl_.get(), into.data(), static_cast<int>(std::min<size_t>(into.size(), 1 << 30)));
    if (count > 0) co_return static_cast<size_t>(count);
    Verdict verdict = verdict_of(count);
    if (verdict.kind == Verdict::Kind::Ended) co_return size_t{0};
    auto ready = co_await wait_for(std::move(verdict), Waiting::Reader, deadline);
    if (!ready) co_return std::move(ready).error();
  }
  co_return socket_->cancelled();
}

std::optional<TlsStream::Verdict> TlsStream::try_write(std::string_view& bytes) {
  while (!bytes.empty()) {
    forget_errors();
    const int count = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(std::min<size_t>(bytes.size(), 1 << 30)));
    if (count <= 0) {
      Verdict verdict = verdict_of(count);
      write_broken_ = broken_;
      return verdict;
    }
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return std::nullopt;
}

Task<Result<void>> TlsStream::write_one(std::string_view bytes, TimePoint deadline) {
  while (!bytes.empty()) {
    if (!socket_->is_open()) co_return socket_->cancelled();
    if (broken_) co_return socket_->error_of(EPIPE);
    auto verdict = try_write(bytes);
    if (!verdict) break;
    auto ready = co_await wait_for(*std::move(verdict), Waiting::Writer, deadline);
    if (!ready) co_return ready;
  }
  co_return Result<void>{};
}

// Small pieces (a head and the beginning of a body, a chunk's size line) share one record and one system call.
Task<Result<void>> TlsStream::write_all(std::span<const std::string_view> pieces, TimePoint deadline) {
  if (socket_->others_are_due()) {
    auto ran = co_await socket_->let_others_run(Waiting::Writer);
    if (!ran) co_return ran;
  }
  if (socket_->others_come_first()) co_await socket_->let_others_come_first();
  size_t total = 0;
  std::string_view longest;
  for (const std::string_view piece : pieces) {
    total += piece.size();
    if (piece.size() > longest.size()) longest = piece;
  }
  if (longest.size() == total) co_return co_await write_one(longest, deadline);  // nothing is to share its record
  if (total > kRecordBytes) co_return co_await write_records(pieces, deadline);
  // Nearly always the system takes it at once, and no memory is needed.
  if (!socket_->is_open()) co_return socket_->cancelled();
  if (broken_) co_return socket_->error_of(EPIPE);
  std::string_view left = gather(pieces);
  auto verdict = try_write(left);
  if (!verdict) co_return Result<void>{};
  const std::string kept(left);  // the area it stands in is for anybody while this waits
  auto ready = co_await wait_for(*std::move(verdict), Waiting::Writer, deadline);
  if (!ready) co_return ready;
  co_return co_await write_one(kept, deadline);
}

Task<Result<void>> TlsStream::write_records(std::span<const std::string_view> pieces, TimePoint deadline) {
  RecordArea record;
  record.make();
  size_t filled = 0;
  for (std::string_view piece : pieces) {
    while (!piece.empty()) {
      if (filled == 0 && piece.size() >= kRecordBytes) {
        const size_t whole_records = piece.size() / kRecordBytes * kRecordBytes;
        auto written = co_await write_one(piece.substr(0, whole_records), deadline);
        if (!written) co_return written;
        piece.remove_prefix(whole_records);
        continue;
      }
      const size_t count = std::min(piece.size(), kRecordBytes - filled);
      std::copy_n(piece.data(), count, record.bytes().data() + filled);
      filled += count;
      piece.remove_prefix(count);
      if (filled < kRecordBytes) continue;
      auto written = co_await write_one({record.bytes().data(), filled}, deadline);
      if (!written) co_return written;
      filled = 0;
    }
  }
  co_return co_await write_one({record.bytes().data(), filled}, deadline);
}

Task<void> TlsStream::shutdown(TimePoint deadline) {
  while (socket_->is_open() && !broken_ && SSL_is_init_finished(ssl_.get())) {
    forget_errors();
    const int result = SSL_shutdown(ssl_.get());
    if (result >= 0) break;
    Verdict verdict = verdict_of(result);
    if (verdict.kind != Verdict::Kind::WaitWritable) break;
    if (auto ready = co_await wait_for(std::move(verdict), Waiting::Writer, deadline); !ready) break;
  }
  socket_->shutdown_write();
}

bool TlsStream::tell_readable(std::function<void()> readable) {
  if (readable != nullptr && holds_input()) return false;
  return socket_->tell_readable(std::move(readable));
}

bool TlsStream::is_quiet() {
  if (!socket_->is_open() || broken_ || end_ != StreamEnd::Open) return false;
  const bool nothing_here = !has_input();
  if (nothing_here) return true;
  forget_errors();
  bio_.is_drained = false;  // the connection has been idle since
  char byte = 0;
  const int count = SSL_peek(ssl_.get(), &byte, 1);  // also takes in session tickets that arrived meanwhile
  // The rest of half a record would come as the beginning of the next answer.
  return count <= 0 && verdict_of(count).kind == Verdict::Kind::WaitReadable && !holds_input();
}

}  // namespace armgate::net
