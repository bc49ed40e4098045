#include "proxy/net/upstream/parent_proxy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/text.h"
#include "proxy/http/connect_answer.h"
#include "proxy/http/head_parser.h"
#include "proxy/net/client/credentials_gate.h"

namespace armgate::net {
namespace {

constexpr size_t kHeadBytesMax = 16 * 1024;
constexpr int kInterimToConnectMax = 8;

Error failed(ErrorKind kind, std::string context) { return upstream_error(kind, Sent::No, std::move(context)); }

Task<Result<void>> write_whole(Socket& socket, std::string_view bytes, TimePoint deadline) {
  while (!bytes.empty()) {
    if (!socket.is_open()) co_return socket.cancelled();
    const ssize_t count = ::send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) co_return socket.error_of(errno);
    auto ready = co_await socket.wait(Waiting::Writer, Readiness::Writable, deadline);
    if (!ready) co_return ready;
  }
  co_return Result<void>{};
}

// Takes the head and not a byte behind it, which is for whoever uses the tunnel. Empty: the connection ended before its end.
Task<Result<std::string>> read_answer_head(Socket& socket, TimePoint deadline) {
  std::string head;
  std::array<char, 2048> piece;
  while (head.size() < kHeadBytesMax) {
    if (!socket.is_open()) co_return socket.cancelled();
    const ssize_t seen = ::recv(socket.fd(), piece.data(), piece.size(), MSG_PEEK);
    if (seen == 0) co_return std::string();
    if (seen > 0) {
      const size_t before = head.size();
      head.append(piece.data(), static_cast<size_t>(seen));
      const auto end = http::find_head_end(head, before);
      if (end) head.resize(*end);
      if (::recv(socket.fd(), piece.data(), head.size() - before, 0) < 0) co_return socket.error_of(errno);
      if (end) co_return head;
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) co_return socket.error_of(errno);
    auto ready = co_await socket.wait(Waiting::Reader, Readiness::Readable, deadline);
    if (!ready) co_return std::move(ready).error();
  }
  co_return head;
}

std::string base64(const std::string& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and a NUL
  const auto* const in = reinterpret_cast<const unsigned char*>(bytes.data());
  const int count = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), in, static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(count));
  return text;
}

std::string told(const http::ConnectAnswer& answer) {
  std::string text = std::to_string(answer.status);
  if (!answer.reason.empty()) text += " " + answer.reason;
  if (!answer.proxy_error.empty()) text += ", " + answer.proxy_error;
  return text;
}

// 407: who one is does not suit it.
std::string about_user(const ParentProxy& parent, const http::ConnectAnswer& answer) {
  const bool takes_basic = std::any_of(answer.schemes.begin(), answer.schemes.end(),
                                       [](const std::string& scheme) { return equal_ignoring_case(scheme, "Basic"); });
  if (!takes_basic && !answer.schemes.empty()) {
    return fmt::format(
        "{} asks for {}, and armgate can only give a user name and a password (Basic); let its operator admit this machine "
        "without, or put a helper such as cntlm or px in between and name that",
        parent.text(), fmt::join(answer.schemes, " or "));
  }
  if (parent.credentials.empty()) {
    return fmt::format(
        "{} asks for a user name (407); put it into the URL (http://USER@HOST:PORT) and its password into a file that "
        "upstream.proxy_password_file names",
        parent.text());
  }
  return fmt::format("{} does not take this user name and password (407); correct them, then start armgate anew",
                     parent.text());
}

Error refusal(const ParentProxy& parent, const http::ConnectAnswer& answer, const std::string& authority) {
  if (answer.status == 407) return failed(ErrorKind::Unreachable, about_user(parent, answer));
  if (answer.status >= 500) {
    return failed(ErrorKind::Unreachable, fmt::format("{} could not reach {} ({})", parent.text(), authority, told(answer)));
  }
  return failed(ErrorKind::Unreachable,
                fmt::format("{} opens no tunnel to {} ({}); let its operator allow CONNECT there, or add the host to "
                            "upstream.no_proxy (NO_PROXY) if it can be reached directly",
                            parent.text(), authority, told(answer)));
}

std::string compose(const ParentProxy& parent, const std::string& authority) {
  std::string request =
      fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n{1}: 1.1 {2}\r\n", authority, kMarkField, parent.mark);
  if (!parent.credentials.empty()) request += fmt::format("Proxy-Authorization: Basic {}\r\n", base64(parent.credentials));
  return request + "\r\n";
}

Error too_late(const ParentProxy& parent, const std::string& authority) {
  return failed(ErrorKind::TimedOut, fmt::format("{} did not open a tunnel to {} in time", parent.text(), authority));
}

// Why there is no answer; nothing: there is one.
std::optional<Error> without_answer(const ParentProxy& parent, const std::string& authority, const Result<std::string>& head,
                                    const std::optional<http::ConnectAnswer>& answer) {
  if (answer) return std::nullopt;
  if (!head && head.error().kind == ErrorKind::TimedOut) return too_late(parent, authority);
  if (!head || head->empty()) {
    return failed(ErrorKind::Unreachable,
                  fmt::format("{} ended the connection instead of opening a tunnel to {}", parent.text(), authority));
  }
  return failed(ErrorKind::Unreachable,
                fmt::format("{} does not answer as an HTTP proxy; correct its host and port", parent.text()));
}

// `100 Continue` and its kind: another answer follows (RFC 9110 §15.2).
bool is_interim(const Result<std::string>& head) {
  const auto answer = head ? http::parse_connect_answer(*head) : std::nullopt;
  return answer && answer->status < 200 && answer->status != 101;
}

// Takes what the proxy answered, and tells the gate.
Result<void> check_answer(const ParentProxy& parent, const std::string& authority, const Result<std::string>& head,
                          TimePoint now) {
  const auto answer = head ? http::parse_connect_answer(*head) : std::nullopt;
  if (auto missing = without_answer(parent, authority, head, answer)) {
    parent.gate->unanswered();
    return *std::move(missing);
  }
  const bool refuses_credentials = answer->status == 407 && !parent.credentials.empty();
  if (!refuses_credentials) parent.gate->taken();
  if (answer->is_open()) return {};
  Error error = refusal(parent, *answer, authority);
  if (refuses_credentials) parent.gate->note_refusal(error, now);
  return error;
}

}  // namespace

std::shared_ptr<CredentialsGate> make_credentials_gate() { return std::make_shared<CredentialsGate>(); }

std::string ParentProxy::text() const {
  const bool is_ipv6 = host.find(':') != host.npos;
  return fmt::format("the proxy {}{}{}:{} ({})", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "", port, named_by);
}

Task<Result<void>> open_tunnel(Socket& socket, const ParentProxy& parent, std::string authority, Clock& clock,
                               TimePoint deadline) {
  if (!parent.credentials.empty()) {
    auto entered = co_await parent.gate->enter(clock, deadline);
    if (!entered) co_return entered.error().kind == ErrorKind::TimedOut ? too_late(parent, authority) : entered.error();
  }
  const std::string request = compose(parent, authority);
  const auto written = co_await write_whole(socket, request, deadline);
  Result<std::string> head("");  // two statements: g++ 12 copies the result of a conditional co_await bit by bit
  if (written) head = co_await read_answer_head(socket, deadline);
  for (int i = 0; is_interim(head) && i < kInterimToConnectMax; ++i) head = co_await read_answer_head(socket, deadline);
  co_return check_answer(parent, authority, head, clock.now());
}

std::string handshake_hint(const ParentProxy& parent, const Error& error) {
  switch (error.kind) {
    case ErrorKind::Untrusted:
      return fmt::format(
          "; {} may look into TLS with an authority of its own: then name that one's certificate (PEM) in "
          "upstream.proxy_ca_file",
          parent.text());
    case ErrorKind::BadInput:
      return fmt::format("; what came through {} may be a page of its own instead of ARM's answer: look with  curl -v --proxy",
                         parent.text());
    case ErrorKind::Closed:
    case ErrorKind::Reset:
      return fmt::format("; {} cut the tunnel, or what it led to: ask its operator whether it lets TLS to this host through",
                         parent.text());
    default: return fmt::format(", through {}", parent.text());
  }
}

}  // namespace armgate::net
