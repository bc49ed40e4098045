#include "proxy/net/upstream/upstream_host.h"

#include <fmt/format.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace armgate::net {
namespace {

constexpr size_t kSessionsMax = 4;

// Other bits are those of whoever asks, who has the waiter.
enum WaitSignal : uint32_t { kFree = 1u << 16, kTooLate = 1u << 17 };

Error not_sent(Error error) {
  error.source = ErrorSource::Upstream;
  error.sent = Sent::No;
  const bool keep =
      error.kind == ErrorKind::Untrusted || error.kind == ErrorKind::TimedOut || error.kind == ErrorKind::Cancelled;
  if (!keep) error.kind = ErrorKind::Unreachable;
  return error;
}

}  // namespace

UpstreamHost::UpstreamHost(std::string host, Clock& clock, const Executor& executor, Connector& connector, SSL_CTX* context,
                           const UpstreamHostOptions& options)
    : host_(std::move(host)),
      clock_(clock),
      executor_(executor),
      connector_(connector),
      context_(context),
      options_(options),
      expiry_(clock, executor, [this] { close_old(); }),
      too_late_(clock, executor, [this] { end_late_waits(); }) {}

Task<Result<std::unique_ptr<UpstreamConnection>>> UpstreamHost::acquire(TimePoint deadline, SendGate* gate) {
  const auto self = shared_from_this();
  const bool must_wait = !waiting_.empty() || free() <= promised_;
  if (must_wait) {
    auto waited = co_await wait_in_line(deadline, gate);
    if (!waited) co_return std::move(waited).error();
  }
  auto idle = take_idle();
  if (!idle) ++open_;
  if (must_wait) --promised_;  // only now: what take_idle() closes makes room that is ours
  if (idle) co_return idle;
  auto connection = co_await connect(deadline);
  if (!connection) {
    --open_;
    wake_next();
    co_return not_sent(std::move(connection).error());
  }
  co_return connection;
}

void UpstreamHost::give_back(std::unique_ptr<UpstreamConnection> connection) {
  ++connection->exchanges;
  connection->idle_since = clock_.now();
  idle_.push_back(std::move(connection));
  if (idle_.size() > options_.idle_connections_max) {
    discard(std::move(idle_.front()));
    idle_.erase(idle_.begin());
  }
  if (!idle_.empty()) expiry_.set(idle_.front()->idle_since + options_.idle_max);
  wake_next();
}

void UpstreamHost::discard(std::unique_ptr<UpstreamConnection> connection) {
  connection->stream->close();
  --open_;
  wake_next();
}

void UpstreamHost::discard_idle() {
  for (auto& connection : std::exchange(idle_, {})) discard(std::move(connection));
}

// The most recently used one, so that the others grow old and are closed.
std::unique_ptr<UpstreamConnection> UpstreamHost::take_idle() {
  close_old();
  while (!idle_.empty()) {
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    if (connection->stream->is_quiet()) return connection;
    discard(std::move(connection));
  }
  return nullptr;
}

void UpstreamHost::close_old() {
  const TimePoint now = clock_.now();
  while (!idle_.empty() && now >= idle_.front()->idle_since + options_.idle_max) {
    auto connection = std::move(idle_.front());
    idle_.erase(idle_.begin());
    discard(std::move(connection));
  }
  if (!idle_.empty()) expiry_.set(idle_.front()->idle_since + options_.idle_max);
}

Task<Result<std::unique_ptr<UpstreamConnection>>> UpstreamHost::connect(TimePoint deadline) {
  auto socket = co_await connector_.connect(host_, options_.port, LocalTargets::Allow,
                                            std::min(deadline, clock_.now() + options_.connect_max));
  if (!socket) co_return std::move(socket).error();
  (*socket)->take_back_unacknowledged(options_.unacknowledged_max);
  const std::string where = fmt::format("{} at {}", (*socket)->peer().name, far_end((*socket)->fd()));
  auto stream = TlsStream::make(*std::move(socket), context_);
  if (!stream) co_return std::move(stream).error();
  SSL* const ssl = (*stream)->ssl();
  SSL_set_connect_state(ssl);
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (SSL_set_tlsext_host_name(ssl, host_.c_str()) != 1 || SSL_set1_host(ssl, host_.c_str()) != 1) {
    co_return certs::openssl_failure(fmt::format("preparing TLS with {}", host_));
  }
  if (!sessions_.empty()) {
    SSL_set_session(ssl, sessions_.back().get());
    sessions_.pop_back();
  }
  (*stream)->set_session_sink([host = weak_from_this()](certs::SessionHandle session) {
    if (const auto alive = host.lock()) alive->keep_session(std::move(session));
  });
  const Duration left = deadline - clock_.now();
  auto done = co_await (*stream)->handshake(clock_.now() + std::min(left, options_.handshake_max));
  if (!done) {
    Error error = std::move(done).error();
    if (error.kind == ErrorKind::TimedOut) {
      error.context = left < options_.handshake_max
                          ? fmt::format("the TLS handshake with {} did not end in the {} ms that were left", where,
                                        whole_milliseconds(std::max(left, Duration{})))
                          : fmt::format("the TLS handshake with {} did not end in time (upstream.handshake_max)", where);
    }
    if (const ParentProxy* parent = connector_.parent_of(host_, options_.port)) error.context += handshake_hint(*parent, error);
    co_return error;
  }
  auto connection = std::make_unique<UpstreamConnection>();
  connection->stream = *std::move(stream);
  co_return connection;
}

Task<Result<void>> UpstreamHost::wait_in_line(TimePoint deadline, SendGate* gate) {
  if (gate != nullptr && !gate->may_wait()) co_return may_not_begin();
  Waiter* const gates = gate == nullptr ? nullptr : gate->waiter();
  std::optional<Waiter> owned;
  InLine own{gates != nullptr ? gates : &owned.emplace(executor_), deadline};
  waiting_.push_back(&own);
  if (waiting_.size() == 1 || deadline < first_deadline_) too_late_.set(first_deadline_ = deadline);
  uint32_t signals = 0;
  while ((signals & (kFree | kTooLate)) == 0) {
    signals = co_await own.waiter->wait();
    const bool leaves = (signals & (kFree | kTooLate)) == 0 && gate != nullptr && !gate->may_wait();
    if (!leaves || std::erase(waiting_, &own) == 0) continue;  // not in line any more: the next signal says why
    if (waiting_.empty()) too_late_.stop();
    co_return may_not_begin();
  }
  if ((signals & kFree) != 0) co_return Result<void>{};
  co_return gateway_error(ErrorKind::Busy, fmt::format("All {} connections to {} (upstream.connections_per_host) stayed in use",
                                                       options_.connections_max, host_));
}

void UpstreamHost::end_late_waits() {
  const TimePoint now = clock_.now();
  TimePoint next = kNever;
  for (auto place = waiting_.begin(); place != waiting_.end();) {
    InLine& one = **place;
    if (now < one.deadline) {
      next = std::min(next, one.deadline);
      ++place;
    } else {
      place = waiting_.erase(place);
      one.waiter->signal(kTooLate);
    }
  }
  first_deadline_ = next;
  if (next != kNever) too_late_.set(next);
}

// The one in line runs later than who asks in this moment, so what became free is promised to it.
void UpstreamHost::wake_next() {
  if (waiting_.empty() || free() <= promised_) return;
  ++promised_;
  waiting_.front()->waiter->signal(kFree);
  waiting_.pop_front();
  if (waiting_.empty()) too_late_.stop();
}

void UpstreamHost::keep_session(certs::SessionHandle session) {
  if (sessions_.size() == kSessionsMax) sessions_.erase(sessions_.begin());
  sessions_.push_back(std::move(session));
}

}  // namespace armgate::net
