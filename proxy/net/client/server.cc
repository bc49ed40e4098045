#include "proxy/net/client/server.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "proxy/async/spawn.h"
#include "proxy/net/client/live_connections.h"
#include "proxy/net/client/tunnel.h"
#include "proxy/net/socket/input_buffer.h"
#include "proxy/net/socket/plain_stream.h"
#include "proxy/net/upstream/host_pattern.h"

namespace armgate::net {
namespace {

constexpr std::string_view kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";

// By the first byte of a connection: what no HTTP client sends to a proxy. No answer can be understood; a plain text makes most
// clients name the mistake ("wrong version number").
std::optional<Refusal> refuse_protocol(char first) {
  constexpr char kTlsHandshake = 0x16;  // RFC 8446 §5.1
  constexpr char kSocks4 = 4;
  constexpr char kSocks5 = 5;  // RFC 1928 §3
  constexpr std::string_view kCode = "ArmgateBadRequest";
  switch (first) {
    case kTlsHandshake:
      return Refusal{400, kCode, "the client speaks TLS to the proxy port: let its proxy URL begin with http://, not https://"};
    case kSocks4:
    case kSocks5:
      return Refusal{400, kCode, "the client speaks SOCKS to the proxy port: let its proxy URL begin with http://, not socks"};
    default: return std::nullopt;
  }
}

// One of the process's connections; counted down when it ends, however it ends.
class Counted {
 public:
  explicit Counted(ConnectionCounter& counter) : counter_(&counter) {}
  Counted(Counted&& other) noexcept : counter_(std::exchange(other.counter_, nullptr)) {}
  Counted& operator=(Counted&&) = delete;
  ~Counted() {
    if (counter_ != nullptr) counter_->open.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  ConnectionCounter* counter_;
};

}  // namespace

struct ProxyServer::Core {
  using CorePtr = std::shared_ptr<Core>;
  using Slot = LiveConnections::Slot;

  ServerParts parts;
  const ServerOptions options;
  std::unique_ptr<Listener> listener;
  LiveConnections live;

  Core(ServerParts with, ServerOptions chosen) : parts(std::move(with)), options(std::move(chosen)) {}

  static void take(const CorePtr& core, AcceptedSocket accepted);
  static Task<void> accept_all(CorePtr core);
  static Task<void> serve(CorePtr core, std::unique_ptr<Socket> socket, ConnectionIdentity from, Counted counted);
  Task<void> serve_proxy(Slot& slot, std::unique_ptr<Socket> socket, ConnectionIdentity from);
  Task<void> serve_direct(Slot& slot, std::unique_ptr<Socket> socket, ConnectionIdentity from);
  Task<void> serve_intercepted(Slot& slot, Interceptor::Intercepted intercepted, ConnectionIdentity from);
  Task<void> serve_session(Slot& slot, std::unique_ptr<ByteStream> stream, std::string host, ConnectionIdentity from);
  Task<void> serve_tunnel(Slot& slot, PlainStream& client, const ConnectDecision& decision, std::string early,
                          const ConnectionIdentity& from);
  Task<bool> read_first_head(PlainStream& stream, InputBuffer& input, size_t& head_bytes);
  Task<void> refuse(PlainStream& stream, Refusal refusal, std::string_view host, const ConnectionIdentity& from);
  void report(NetEventKind kind, const ConnectionIdentity& from, std::string_view host, std::string_view text = {}) const {
    emit(parts.events, {.kind = kind, .peer = from.peer, .client = from.proxy_user, .host = host, .text = text});
  }
};

Result<std::unique_ptr<ProxyServer>> ProxyServer::open(ServerParts parts, ServerOptions options) {
  auto core = std::make_shared<Core>(std::move(parts), std::move(options));
  auto listener = Listener::open(core->parts.clock, core->parts.executor, core->options.address, core->options.port,
                                 core->options.port_use);
  if (!listener) return std::move(listener).error();
  core->listener = *std::move(listener);
  return std::unique_ptr<ProxyServer>(new ProxyServer(std::move(core)));
}

ProxyServer::~ProxyServer() = default;

uint16_t ProxyServer::port() const { return core_->listener->port(); }

void ProxyServer::start() { spawn(core_->parts.executor, Core::accept_all(core_)); }

void ProxyServer::drain(std::function<void()> drained) {
  core_->listener->stop();
  core_->live.drain(std::move(drained));
}

void ProxyServer::stop_waiting() { core_->live.stop_waiting(); }

void ProxyServer::abort() {
  core_->listener->stop();
  core_->live.abort();
}

Task<void> ProxyServer::Core::accept_all(CorePtr core) {
  std::function<void(AcceptedSocket)> take_one = [&core](AcceptedSocket accepted) { take(core, std::move(accepted)); };
  co_await core->listener->run(std::move(take_one), core->parts.events);
}

void ProxyServer::Core::take(const CorePtr& core, AcceptedSocket accepted) {
  const ServerParts& parts = core->parts;
  if (parts.counter.open.fetch_add(1, std::memory_order_relaxed) >= core->options.connections_max) {
    parts.counter.open.fetch_sub(1, std::memory_order_relaxed);
    if (core->options.listener_kind == ListenerKind::Proxy) {
      const std::string answer = to_bytes({503, "ArmgateTooManyConnections", "armgate has reached its limit of connections"});
      // Best effort: a new socket's buffer takes this much, and nobody waits for one that does not.
      [[maybe_unused]] const ssize_t sent = ::send(accepted.fd, answer.data(), answer.size(), MSG_NOSIGNAL);
      // Unread bytes would turn the close into a reset that destroys the answer; its CONNECT is here already, mostly.
      ::shutdown(accepted.fd, SHUT_WR);
      [[maybe_unused]] const ssize_t unread = ::recv(accepted.fd, scratch_area().data(), scratch_area().size(), MSG_DONTWAIT);
    }
    ::close(accepted.fd);
    const bool own_pages = core->options.listener_kind == ListenerKind::Plain;
    const std::string text = fmt::format("all {} connections {} are in use", core->options.connections_max,
                                         own_pages ? "of listen.admin" : "of clients (limits.connections)");
    emit(parts.events, {.kind = NetEventKind::ConnectionLimit, .peer = accepted.peer, .text = text});
    return;
  }
  Counted counted(parts.counter);
  ConnectionIdentity from;
  from.connection = parts.counter.last_id.fetch_add(1, std::memory_order_relaxed) + 1;
  from.peer = std::move(accepted.peer);
  core->report(NetEventKind::ConnectionAccepted, from, {});
  auto socket =
      std::make_unique<Socket>(parts.clock, parts.executor, accepted.fd, Peer{ErrorSource::Client, "the client " + from.peer});
  spawn(parts.executor, serve(core, std::move(socket), std::move(from), std::move(counted)));
}

Task<void> ProxyServer::Core::serve(CorePtr core, std::unique_ptr<Socket> socket, ConnectionIdentity from, Counted counted) {
  const Counted held(std::move(counted));
  Slot slot(core->live);
  if (core->options.listener_kind == ListenerKind::Proxy) {
    co_await core->serve_proxy(slot, std::move(socket), std::move(from));
  } else if (core->options.listener_kind == ListenerKind::Direct) {
    co_await core->serve_direct(slot, std::move(socket), std::move(from));
  } else {
    auto stream = std::make_unique<PlainStream>(std::move(socket));
    co_await core->serve_session(slot, std::move(stream), {}, std::move(from));
  }
}

Task<void> ProxyServer::Core::serve_proxy(Slot& slot, std::unique_ptr<Socket> socket, ConnectionIdentity from) {
  PlainStream stream(std::move(socket));
  slot.enter({[&stream] { stream.close(); }, [&stream] { stream.close(); }});
  InputBuffer input;
  size_t head_bytes = 0;
  const TimePoint deadline = parts.clock.now() + options.connect_head_max;
  const bool whole = co_await read_first_head(stream, input, head_bytes);
  slot.leave_phase();
  if (!whole) {
    auto refusal = input.empty() ? std::nullopt : refuse_protocol(input.bytes().front());
    const bool is_late = !input.empty() && parts.clock.now() >= deadline;
    if (!refusal && is_late) refusal = refuse_head(client_error(ErrorKind::TimedOut, {}), {}, options.session.limits);
    if (refusal) co_return co_await refuse(stream, *std::move(refusal), {}, from);
    stream.close();
    co_return;
  }
  ConnectDecision decision = decide_connect(input.bytes().substr(0, head_bytes), options.session.limits, options.connect);
  input.consume(head_bytes);
  from.proxy_user = std::move(decision.proxy_user);
  if (decision.user_is_unusable) {
    report(NetEventKind::NameNotTaken, from, decision.host,
           "the user name in the client's proxy URL has a control character, is no UTF-8 or no base64, or is too long; it "
           "counts as a client without a name until that is corrected");
  }
  if (decision.action == ConnectAction::Refuse) {
    co_return co_await refuse(stream, std::move(decision.refusal), decision.host, from);
  }
  if (decision.action == ConnectAction::Tunnel) {
    co_return co_await serve_tunnel(slot, stream, decision, std::string(input.bytes()), from);
  }
  slot.enter({[&stream] { stream.close(); }, [&stream] { stream.close(); }});
  const auto written = co_await stream.write_all(kEstablished, parts.clock.now() + options.connect_head_max);
  slot.leave_phase();
  if (!written) co_return;
  auto inner = stream.release();
  Socket& handshaking = *inner;
  slot.enter({[&handshaking] { handshaking.close(); }, [&handshaking] { handshaking.close(); }});
  std::string early(input.bytes());
  input.clear();  // this lives as long as the connection
  auto intercepted = co_await parts.interceptor.accept(std::move(inner), decision.host, std::move(early));
  slot.leave_phase();
  if (!intercepted) {
    report(NetEventKind::HandshakeFailed, from, decision.host, intercepted.error().context);
    co_return;
  }
  co_await serve_intercepted(slot, *std::move(intercepted), std::move(from));
}

Task<void> ProxyServer::Core::serve_direct(Slot& slot, std::unique_ptr<Socket> socket, ConnectionIdentity from) {
  Socket& handshaking = *socket;
  slot.enter({[&handshaking] { handshaking.close(); }, [&handshaking] { handshaking.close(); }});
  auto intercepted = co_await parts.interceptor.accept_direct(std::move(socket));
  slot.leave_phase();
  if (!intercepted) {
    // A connection that was cut here is not the client's failure either.
    const bool is_failure = intercepted.error().kind != ErrorKind::Cancelled;
    if (is_failure) report(NetEventKind::HandshakeFailed, from, {}, intercepted.error().context);
    co_return;
  }
  co_await serve_intercepted(slot, *std::move(intercepted), std::move(from));
}

Task<void> ProxyServer::Core::serve_intercepted(Slot& slot, Interceptor::Intercepted intercepted, ConnectionIdentity from) {
  report(NetEventKind::Intercepted, from, intercepted.host);
  return serve_session(slot, std::move(intercepted.stream), std::move(intercepted.host), std::move(from));
}

Task<void> ProxyServer::Core::serve_session(Slot& slot, std::unique_ptr<ByteStream> stream, std::string host,
                                            ConnectionIdentity from) {
  const bool direct = options.listener_kind == ListenerKind::Direct;
  const uint16_t asked_port = direct ? listener->port() : options.connect.intercepted_port;
  Session session(
      std::move(stream),
      SessionSetup{parts.clock, parts.executor, options.session, parts.handler, parts.events, std::move(host), asked_port,
                   direct ? http::LedBy::Listener : http::LedBy::Tunnel, std::move(from), parts.bodies});
  slot.enter({[&session] { session.drain(); }, [&session] { session.abort(); }, [&session] { session.stop_waiting(); }});
  co_await session.run();
  slot.leave_phase();
}

Task<void> ProxyServer::Core::serve_tunnel(Slot& slot, PlainStream& client, const ConnectDecision& decision, std::string early,
                                           const ConnectionIdentity& from) {
  slot.enter_tunnel([&client] { client.close(); });
  const bool allowed = matches_host(decision.host, options.connect.allowed);
  const LocalTargets local = allowed ? LocalTargets::Allow : options.connect.local_targets;
  auto socket =
      co_await parts.connector.connect(decision.host, decision.port, local, parts.clock.now() + options.tunnel_connect_max);
  if (!socket) {
    const bool refused = socket.error().kind == ErrorKind::BadInput;
    report(NetEventKind::TunnelFailed, from, decision.host, socket.error().context);
    Refusal refusal{refused ? 403 : 502, refused ? "ArmgateConnectRefused" : "ArmgateHostUnreachable", socket.error().context};
    co_return co_await refuse(client, std::move(refusal), decision.host, from);
  }
  PlainStream host(*std::move(socket));
  const auto cut = [&client, &host] {
    client.close();
    host.close();
  };
  slot.enter_tunnel(cut);
  const auto written = co_await client.write_all(kEstablished, parts.clock.now() + options.connect_head_max);
  if (written) {
    if (matches_host(decision.host, options.connect.intercepted)) {
      report(NetEventKind::TunnelPastGuard, from, decision.host,
             fmt::format("port {} of this host is not looked into, only port {} is", decision.port,
                         options.connect.intercepted_port));
    }
    report(NetEventKind::TunnelOpened, from, decision.host);
    const TunnelCounts counts = co_await run_tunnel(client, host, std::move(early), parts.clock, options.tunnel_idle_max);
    emit(parts.events, {.kind = NetEventKind::TunnelClosed,
                        .peer = from.peer,
                        .client = from.proxy_user,
                        .host = decision.host,
                        .to_host_bytes = counts.to_host_bytes,
                        .from_host_bytes = counts.from_host_bytes});
  }
  slot.leave_phase();
}

// False: nothing can be answered. A head that is too long counts as whole; decide_connect() refuses it, by the same limit.
// Empty lines before it count too: a client that sends them as fast as they are read is never waited for, and so meets no
// deadline.
Task<bool> ProxyServer::Core::read_first_head(PlainStream& stream, InputBuffer& input, size_t& head_bytes) {
  const TimePoint deadline = parts.clock.now() + options.connect_head_max;
  const size_t bytes_max = options.session.limits.head_bytes_max;
  size_t skipped = 0;
  while (true) {
    size_t seen = input.bytes().size();
    const auto got = co_await stream.read_some(scratch_area(), deadline);
    if (!got || *got == 0) co_return false;
    input.append(std::string_view(scratch_area().data(), *got));
    if (const size_t empty = http::empty_lines_before(input.bytes()); empty > 0) {
      input.consume(empty);
      seen = 0;
      skipped += empty;
      if (skipped > bytes_max) co_return false;
      if (input.empty()) {
        co_await let_others_run();
        continue;
      }
    }
    if (refuse_protocol(input.bytes().front())) co_return false;
    const auto end = http::find_head_end(input.bytes(), seen);
    head_bytes = end.value_or(input.bytes().size());
    if (end || head_bytes > bytes_max) co_return true;
  }
}

Task<void> ProxyServer::Core::refuse(PlainStream& stream, Refusal refusal, std::string_view host,
                                     const ConnectionIdentity& from) {
  report(NetEventKind::ProxyRefused, from, host, refusal.message);
  const TimePoint deadline = parts.clock.now() + options.session.linger_max;
  const std::string answer = to_bytes(refusal);
  if (const auto written = co_await stream.write_all(answer, deadline); written) {
    co_await stream.shutdown(deadline);
    while (true) {  // unread bytes would turn our close into a reset that destroys the answer
      const auto got = co_await stream.read_some(scratch_area(), deadline);
      if (!got || *got == 0 || parts.clock.now() >= deadline) break;
      co_await let_others_run();
    }
  }
  stream.close();
}

}  // namespace armgate::net
