#include "bench/load/connection.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "bench/load/replace.h"
#include "certs/tls_context.h"

namespace armgate::load {
namespace {

constexpr size_t kReadBytes = 64 * 1024;

std::string base64(std::string_view text) {
  const std::vector<unsigned char> in(text.begin(), text.end());
  std::vector<unsigned char> out(4 * (in.size() / 3 + 1) + 1);
  const int length = ::EVP_EncodeBlock(out.data(), in.data(), static_cast<int>(in.size()));
  return std::string(out.begin(), out.begin() + length);
}

Result<void> resolve(const Endpoint& endpoint, Route& route) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (failed != 0) {
    return upstream_error(ErrorKind::Unreachable, Sent::No, fmt::format("{}: {}", endpoint.host, ::gai_strerror(failed)));
  }
  const std::unique_ptr<addrinfo, certs::Freed<::freeaddrinfo>> owner(found);
  std::memcpy(&route.address, found->ai_addr, found->ai_addrlen);
  route.address_bytes = found->ai_addrlen;
  return {};
}

}  // namespace

Result<Route> Route::make(const Target& target) {
  Route route;
  if (auto resolved = resolve(target.proxy.value_or(target.connect), route); !resolved) return resolved.error();
  route.host = target.origin.host;
  route.authority = target.origin.port == 443 ? route.host : fmt::format("{}:{}", route.host, target.origin.port);
  if (target.proxy) route.authority = fmt::format("{}:{}", route.host, target.origin.port);
  route.proxy_user = target.proxy_user;
  route.through_proxy = target.proxy.has_value();
  auto context = certs::make_client_context(target.ca_file);
  if (!context) return context.error();
  route.tls = *std::move(context);
  ::SSL_CTX_set_read_ahead(route.tls.get(), 1);  // a record's head and content in one system call
  ::SSL_CTX_set_session_cache_mode(route.tls.get(), SSL_SESS_CACHE_OFF);
  return route;
}

Result<bool> Connection::ensure_open() {
  if (socket_ >= 0) return false;
  socket_ = ::socket(route_.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0) {
    return gateway_error(ErrorKind::Internal, fmt::format("no socket: {} (ulimit -n may be too low)", std::strerror(errno)));
  }
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const auto* address = static_cast<const sockaddr*>(static_cast<const void*>(&route_.address));
  if (::connect(socket_, address, route_.address_bytes) != 0 && errno != EINPROGRESS) {
    const std::string why = std::strerror(errno);
    close();
    return upstream_error(ErrorKind::Unreachable, Sent::No, "connect: " + why);
  }
  state_ = State::Connecting;
  return true;
}

void Connection::close() {
  tls_.reset();
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  state_ = State::Closed;
}

void Connection::begin(std::string_view request, arm::Method method, KeepBody keep) {
  request_.assign(request);
  method_ = method;
  keep_ = keep;
  head_.clear();
  decoder_.reset();
  answered_ = false;
  keep_alive_ = true;
  body_bytes_ = 0;
  body_.clear();
  written_ = 0;
  failure_.clear();
}

Connection::Progress Connection::advance() {
  while (!answered_) {
    Io io = Io::Ok;
    switch (state_) {
      case State::Closed: io = fail("the connection is closed"); break;
      case State::Connecting: io = connect_step(); break;
      case State::ProxyWriting:
      case State::ProxyReading: io = proxy_step(); break;
      case State::Handshaking: io = handshake_step(); break;
      case State::Ready: io = written_ < request_.size() ? write_step() : read_step(); break;
    }
    if (io == Io::Wait) return Progress::Working;
    if (io == Io::Failed) return Progress::Failed;
  }
  return Progress::Done;
}

Connection::Io Connection::fail(std::string why) {
  failure_ = std::move(why);
  close();
  return Io::Failed;
}

std::string Connection::proxy_request() const {
  std::string text = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", route_.authority);
  if (!route_.proxy_user.empty()) {
    const std::string user = replaced(route_.proxy_user, "{c}", std::to_string(number_));
    text += fmt::format("Proxy-Authorization: Basic {}\r\n", base64(user.find(':') == user.npos ? user + ":" : user));
  }
  return text + "\r\n";
}

Connection::Io Connection::connect_step() {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return fail(fmt::format("connect: {}", std::strerror(error)));
  sockaddr_storage peer{};
  socklen_t peer_size = sizeof peer;
  if (::getpeername(socket_, static_cast<sockaddr*>(static_cast<void*>(&peer)), &peer_size) != 0) return Io::Wait;
  tls_.reset(::SSL_new(route_.tls.get()));
  if (!tls_ || ::SSL_set_fd(tls_.get(), socket_) != 1 || ::SSL_set1_host(tls_.get(), route_.host.c_str()) != 1 ||
      ::SSL_set_tlsext_host_name(tls_.get(), route_.host.c_str()) != 1) {
    return fail(certs::openssl_failure("make a TLS connection").context);
  }
  if (route_.through_proxy) out_ = proxy_request();
  state_ = route_.through_proxy ? State::ProxyWriting : State::Handshaking;
  return Io::Ok;
}

Connection::Io Connection::proxy_step() {
  if (state_ == State::ProxyWriting) {
    const ssize_t sent = ::send(socket_, out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) return Io::Wait;
    if (sent != static_cast<ssize_t>(out_.size())) return fail("the proxy took no CONNECT");
    state_ = State::ProxyReading;
    head_.clear();
    return Io::Ok;
  }
  // The server in the tunnel speaks only when it was spoken to, so what arrives here is the proxy's answer and no more.
  std::array<char, 2048> buffer;
  const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (got < 0 && errno == EAGAIN) return Io::Wait;
  if (got <= 0) return fail("the proxy closed the connection on CONNECT");
  head_.append(buffer.data(), static_cast<size_t>(got));
  if (head_.find("\r\n\r\n") == head_.npos) return head_.size() > 16'384 ? fail("the proxy's answer has no end") : Io::Ok;
  if (!head_.starts_with("HTTP/1.1 200") && !head_.starts_with("HTTP/1.0 200")) {
    return fail("the proxy answered CONNECT with " + head_.substr(0, head_.find('\r')));
  }
  head_.clear();
  state_ = State::Handshaking;
  return Io::Ok;
}

Connection::Io Connection::tls_outcome(int result, std::string_view attempted) {
  const int error = ::SSL_get_error(tls_.get(), result);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return Io::Wait;
  if (error == SSL_ERROR_ZERO_RETURN) return fail(fmt::format("{}: the server closed the connection", attempted));
  if (error == SSL_ERROR_SYSCALL) return fail(fmt::format("{}: the connection broke", attempted));
  return fail(fmt::format("{}: {}", attempted, certs::take_openssl_errors()));
}

Connection::Io Connection::handshake_step() {
  const int result = ::SSL_connect(tls_.get());
  if (result != 1) return tls_outcome(result, "handshake");
  state_ = State::Ready;
  return Io::Ok;
}

Connection::Io Connection::write_step() {
  const int result = ::SSL_write(tls_.get(), request_.data() + written_, static_cast<int>(request_.size() - written_));
  if (result <= 0) return tls_outcome(result, "write");
  written_ += static_cast<size_t>(result);
  return Io::Ok;
}

Connection::Io Connection::read_step() {
  static thread_local std::array<char, kReadBytes> buffer;
  const int result = ::SSL_read(tls_.get(), buffer.data(), static_cast<int>(buffer.size()));
  if (result <= 0) {
    const bool ends_content = ::SSL_get_error(tls_.get(), result) == SSL_ERROR_ZERO_RETURN && decoder_;
    if (!ends_content || !decoder_->end_of_input()) return tls_outcome(result, "read");
    answered_ = true;
    keep_alive_ = false;
    return Io::Ok;
  }
  const std::string_view bytes(buffer.data(), static_cast<size_t>(result));
  if (decoder_) return take_body(bytes);
  const size_t seen = head_.size();
  head_.append(bytes);
  return take_head(seen);
}

Connection::Io Connection::take_head(size_t seen) {
  const auto end = http::find_head_end(head_, seen);
  if (!end) return head_.size() > http::Limits{}.head_bytes_max ? fail("the head of the answer has no end") : Io::Ok;
  auto parsed = http::parse_response_head(std::string_view(head_).substr(0, *end), http::Limits{}, method_);
  if (!parsed) return fail(parsed.error().context);
  const std::string rest = head_.substr(*end);
  head_.clear();
  if (parsed->is_interim()) {
    head_ = rest;
    return head_.empty() ? Io::Ok : take_head(0);
  }
  status_ = parsed->head.status;
  keep_alive_ = parsed->keep_alive;
  decoder_.emplace(parsed->framing, ErrorSource::Upstream, http::Limits{});
  return take_body(rest);
}

Connection::Io Connection::take_body(std::string_view bytes) {
  while (true) {
    const auto step = decoder_->feed(bytes);
    if (!step) return fail(step.error().context);
    body_bytes_ += step->piece.size();
    if (keep_ == KeepBody::Yes) body_.append(step->piece);
    bytes.remove_prefix(step->consumed);
    answered_ = step->done;
    if (answered_ || bytes.empty()) return Io::Ok;
  }
}

}  // namespace armgate::load
