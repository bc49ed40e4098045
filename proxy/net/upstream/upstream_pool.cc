#include "proxy/net/upstream/upstream_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/http/compose.h"
#include "proxy/net/upstream/answer_body.h"

namespace armgate::net {
namespace {

constexpr int kInterimAnswersMax = 16;

int keep_new_session(SSL* ssl, SSL_SESSION* session) {
  if (!TlsStream::of(ssl).session_sink()) return 0;
  TlsStream::of(ssl).session_sink()(certs::SessionHandle(session));
  return 1;  // we own it now
}

// Until when an answer is waited for, and by whom.
struct Patience {
  Clock& clock;
  TimePoint deadline;
  SendGate* gate = nullptr;  // null: whoever asked stays
};

Task<Result<size_t>> read_patiently(ByteStream& stream, Patience patience) {
  const bool looks = patience.gate != nullptr && patience.gate->may_be_given_up();
  while (true) {
    const TimePoint next_look = looks ? patience.clock.now() + kLookForAsker : kNever;
    auto got = co_await stream.read_some(scratch_area(), std::min(patience.deadline, next_look));
    const bool is_look = !got && got.error().kind == ErrorKind::TimedOut && next_look < patience.deadline;
    if (!is_look) co_return got;
    if (!patience.gate->is_awaited()) co_return given_up();
  }
}

Task<Result<http::ParsedResponseHead>> read_head(UpstreamConnection& connection, const std::string& host,
                                                 const http::Limits& limits, arm::Method method, Patience patience) {
  size_t seen = 0;
  while (true) {
    const std::string_view bytes = connection.input.bytes();
    const auto end = http::find_head_end(bytes, seen);
    if (end.value_or(bytes.size()) > limits.head_bytes_max) co_return http::head_too_large(limits, ErrorSource::Upstream);
    if (end) {
      auto head = http::parse_response_head(bytes.substr(0, *end), limits, method);
      connection.input.consume(*end);
      co_return head;
    }
    seen = bytes.size();
    const auto got = co_await read_patiently(*connection.stream, patience);
    const bool has_ended = got ? *got == 0 : got.error().kind == ErrorKind::Reset;
    if (has_ended && seen > 0) {
      co_return upstream_error(ErrorKind::BadInput, Sent::Maybe,
                               fmt::format("{} broke off within the head of its answer", host));
    }
    if (!got) co_return got.error();
    if (*got == 0) {
      co_return upstream_error(ErrorKind::Closed, Sent::Maybe, fmt::format("{} closed the connection without an answer", host));
    }
    connection.input.append(std::string_view(scratch_area().data(), *got));
  }
}

Task<Result<http::ParsedResponseHead>> read_final_head(UpstreamConnection& connection, const std::string& host,
                                                       const http::Limits& limits, arm::Method method, Patience patience) {
  for (int i = 0; i < kInterimAnswersMax; ++i) {
    auto head = co_await read_head(connection, host, limits, method, patience);
    if (!head || !head->is_interim()) co_return head;
  }
  co_return upstream_error(ErrorKind::BadInput, Sent::Maybe, fmt::format("{} sent interim answers without end", host));
}

// What a server said that stopped reading the request (RFC 9112 §9.5: it may refuse one early and close), if it is here
// already.
Task<Result<http::ParsedResponseHead>> read_refusal(UpstreamConnection& connection, const std::string& host,
                                                    const http::Limits& limits, arm::Method method, Clock& clock) {
  const Patience none{clock, clock.now()};
  auto head = co_await read_final_head(connection, host, limits, method, none);
  if (head && head->head.status < 400) co_return upstream_error(ErrorKind::BadInput, Sent::Maybe, "no refusal");
  if (head) head->keep_alive = false;  // the rest of the request is not sent any more
  co_return head;
}

TimePoint write_deadline(const SendLimits& limits, TimePoint now) {
  const TimePoint deadline = limits.answered_by();
  return limits.write_max < deadline - now ? now + limits.write_max : deadline;
}

}  // namespace

Result<std::unique_ptr<UpstreamPool>> UpstreamPool::make(Clock& clock, Executor executor, UpstreamOptions options,
                                                         Resolve resolve) {
  std::unique_ptr<UpstreamPool> pool(new UpstreamPool(clock, std::move(executor), std::move(options), std::move(resolve)));
  auto context = pool->make_context(pool->options_.ca_file, nullptr);
  if (!context) return std::move(context).error();
  pool->context_ = *std::move(context);
  const auto& connector = pool->options_.connector;
  if (connector.parent) {
    auto behind = pool->make_context(pool->options_.ca_file, &*connector.parent);
    if (!behind) return std::move(behind).error();
    pool->parent_context_ = *std::move(behind);
  }
  for (const auto& [host, known] : connector.overrides) {
    if (!known.ca_file) continue;
    auto own = pool->make_context(known.ca_file, pool->connector_.parent_of(host, pool->options_.host.port));
    if (!own) return std::move(own).error();
    pool->own_contexts_.emplace(host, *std::move(own));
  }
  return pool;
}

UpstreamPool::UpstreamPool(Clock& clock, Executor executor, UpstreamOptions options, Resolve resolve)
    : clock_(clock),
      executor_(std::move(executor)),
      options_(std::move(options)),
      connector_(clock, executor_, options_.connector, std::move(resolve)) {}

Result<certs::ContextHandle> UpstreamPool::make_context(const certs::CaFile& ca_file, const ParentProxy* parent) const {
  auto context = certs::make_client_context(ca_file, parent != nullptr ? options_.parent_ca_file : certs::CaFile());
  if (context) SSL_CTX_sess_set_new_cb(context->get(), keep_new_session);
  return context;
}

SSL_CTX* UpstreamPool::context_for(const std::string& name) const {
  const auto own = own_contexts_.find(name);
  if (own != own_contexts_.end()) return own->second.get();
  const bool is_behind_parent = connector_.parent_of(name, options_.host.port) != nullptr;
  return is_behind_parent ? parent_context_.get() : context_.get();
}

size_t UpstreamPool::connections() const {
  size_t open = 0;
  for (const auto& [name, host] : hosts_) open += host->open();
  return open;
}

Result<std::shared_ptr<UpstreamHost>> UpstreamPool::host_for(const std::string& name) {
  if (const auto it = hosts_.find(name); it != hosts_.end()) return it->second;
  if (hosts_.size() >= options_.hosts_max) {
    std::erase_if(hosts_, [](const auto& entry) { return entry.second->unused() && entry.second.use_count() == 1; });
  }
  if (hosts_.size() >= options_.hosts_max) {
    return upstream_error(ErrorKind::TooLarge, Sent::No,
                          fmt::format("connections to {} other hosts are in use", hosts_.size()));
  }
  auto host = std::make_shared<UpstreamHost>(name, clock_, executor_, connector_, context_for(name), options_.host);
  hosts_.emplace(name, host);
  return host;
}

Task<Result<UpstreamAnswer>> UpstreamPool::send(const arm::Request& request, SendLimits limits) {
  PooledBuffer head;
  if (auto composed = http::compose_request(*head, request.head, http::body_length(request), options_.via); !composed) {
    co_return std::move(composed).error();
  }
  auto host = host_for(request.head.host);
  if (!host) co_return std::move(host).error();
  while (true) {
    auto connection = co_await (*host)->acquire(std::min(limits.deadline, limits.begin_by), limits.gate);
    if (!connection) co_return std::move(connection).error();
    if (!limits.begin(clock_.now())) {
      (*host)->give_back(*std::move(connection));
      co_return may_not_begin();
    }
    const bool reused = (*connection)->exchanges > 0;
    auto answer = co_await exchange(*host, *std::move(connection), request, *head, limits);
    if (answer || !reused || answer.error().sent != Sent::No || answer.error().kind != ErrorKind::Reset) co_return answer;
  }
}

// Writes the request and reads the head of the final answer. Errors say whether a byte may have arrived.
Task<Result<http::ParsedResponseHead>> UpstreamPool::ask(UpstreamConnection& connection, const std::string& host,
                                                         const arm::Request& request, std::string_view head,
                                                         SendLimits limits) {
  ByteStream& stream = *connection.stream;
  const arm::Method method = request.head.method;
  const uint64_t before = stream.bytes_written();
  const std::array<std::string_view, 2> pieces{head, request.body};
  const auto written = co_await stream.write_all(pieces, write_deadline(limits, clock_.now()));
  if (written) {
    const Patience patience{clock_, limits.answered_by(), limits.gate};
    auto answer = co_await read_final_head(connection, host, options_.limits, method, patience);
    if (!answer) {
      answer.error().source = ErrorSource::Upstream;
      answer.error().sent = Sent::Maybe;
    }
    co_return answer;
  }
  Error failure = written.error();
  failure.sent = stream.bytes_written() == before ? Sent::No : Sent::Maybe;
  if (failure.sent == Sent::No) co_return failure;
  auto refusal = co_await read_refusal(connection, host, options_.limits, method, clock_);
  if (refusal) co_return refusal;
  co_return failure;
}

Task<Result<UpstreamAnswer>> UpstreamPool::exchange(std::shared_ptr<UpstreamHost> host,
                                                    std::unique_ptr<UpstreamConnection> connection, const arm::Request& request,
                                                    std::string_view head, SendLimits limits) {
  auto parsed = co_await ask(*connection, host->name(), request, head, limits);
  if (!parsed) {
    host->discard(std::move(connection));
    // A repetition must not meet the next connection that a firewall has forgotten. An answer that cannot be read, or is not
    // waited for any more, tells nothing of the others.
    const bool has_died = parsed.error().kind != ErrorKind::Cancelled && !is_unreadable(parsed.error());
    if (parsed.error().sent == Sent::Maybe && has_died) host->discard_idle();
    co_return std::move(parsed).error();
  }
  UpstreamAnswer answer;
  answer.length = http::body_length(parsed->framing);
  answer.body = std::make_unique<AnswerBody>(std::move(host), std::move(connection), clock_, *parsed, options_.limits,
                                             options_.stall_max);
  answer.head = std::move(parsed->head);
  co_return answer;
}

}  // namespace armgate::net
