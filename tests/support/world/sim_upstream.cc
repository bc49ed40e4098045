#include "tests/support/world/sim_upstream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "proxy/async/waiter.h"

namespace armgate::world {
namespace {

constexpr std::string_view kExpiry = "exp-";  // in "Bearer exp-<seconds>", or as the signature of a token with claims
constexpr Duration kLateMax = std::chrono::seconds(3);

// An answer's body in pieces, whole or broken off.
class SimBody final : public BodySource {
 public:
  SimBody(std::string bytes, size_t break_at) : bytes_(std::move(bytes)), break_at_(break_at) {}

  Task<Result<std::string_view>> read() override {
    const size_t end = std::min(break_at_, bytes_.size());
    if (at_ >= end) {
      if (break_at_ < bytes_.size()) {
        co_return upstream_error(ErrorKind::Reset, Sent::Answered, "the simulated answer broke off");
      }
      co_return std::string_view();
    }
    const size_t from = std::exchange(at_, std::min(end, at_ + kPiece));
    co_return std::string_view(bytes_).substr(from, at_ - from);
  }

 private:
  static constexpr size_t kPiece = 4096;
  const std::string bytes_;
  const size_t break_at_;
  size_t at_ = 0;
};

bool has_content(const arm::Request& request, int status) {
  return request.head.method != arm::Method::Head && status != 204 && status != 304;
}

}  // namespace

TimePoint token_expiry(std::string_view authorization) {
  const size_t at = authorization.rfind(kExpiry);
  if (at == authorization.npos || (authorization[at - 1] != ' ' && authorization[at - 1] != '.')) return kNever;
  authorization.remove_prefix(at + kExpiry.size());
  int64_t seconds = 0;
  std::from_chars(authorization.data(), authorization.data() + authorization.size(), seconds);
  return TimePoint(std::chrono::seconds(seconds));
}

// One request on its way, alive as long as its connection or its effect is to come.
struct SimUpstream::Flight {
  explicit Flight(arm::Request sent) : request(std::move(sent)) {}
  const arm::Request request;
  std::optional<arm::Response> answer;
  bool late = false;
};

SimUpstream::SimUpstream(SimClock& clock, sim::SimArm& arm, UpstreamWatch& watch, Trace& trace, NetworkFaults faults,
                         uint64_t seed)
    : clock_(clock), arm_(arm), watch_(watch), trace_(trace), faults_(faults), rng_(seed) {}

std::string_view SimUpstream::stage_of(const arm::Request& request) const {
  const bool polls = request.head.target.find("/locations/") != std::string::npos;
  const auto exchange = request.head.fields.get("x-sim-exchange");
  if (exchange.empty()) return polls ? "own poll" : "own read";
  if (request.head.method == arm::Method::Get) return polls ? "client's poll" : "read";
  const auto sent = sendings_.find(exchange);
  return sent != sendings_.end() && sent->second > 1 ? "write again" : "write";
}

void SimUpstream::count(std::string_view fault, const arm::Request& request) {
  ++counts_[fmt::format("{} @ {}", fault, stage_of(request))];
}

bool SimUpstream::happens(double chance, std::string_view name, const arm::Request& request) {
  if (chance <= 0 || !rng_.chance(chance)) return false;
  count(name, request);
  trace_.add(clock_.now(), "  network: {}", name);
  return true;
}

Duration SimUpstream::delay() {
  return Duration(static_cast<int64_t>(rng_.below(static_cast<uint64_t>(faults_.delay_max.count()) + 1)));
}

// What cannot be late must not outlast the gateway's patience with ARM either.
Duration SimUpstream::slow_answer(bool can_be_late) {
  const Duration most = can_be_late ? faults_.slow_max : std::min<Duration>(faults_.slow_max, std::chrono::seconds(60));
  return Duration(static_cast<int64_t>(rng_.below(static_cast<uint64_t>(most.count()))));
}

arm::Response SimUpstream::error_answer(int status, std::string_view code, Duration retry_after) {
  arm::Response answer;
  answer.head.status = status;
  answer.head.fields.add("Content-Type", "application/json; charset=utf-8");
  if (retry_after > Duration{}) {
    answer.head.fields.add("Retry-After", std::to_string(whole_milliseconds(retry_after) / 1000));
  }
  answer.body = fmt::format(R"({{"error":{{"code":"{}","message":"Simulated."}}}})", code);
  return answer;
}

// What ARM's front door says before it looks at a resource; else what ARM does.
sim::SimAnswer SimUpstream::answer_of(const arm::Request& request) {
  if (clock_.now() > token_expiry(request.head.fields.get("Authorization"))) {
    count("expired token", request);
    return {error_answer(401, "ExpiredAuthenticationToken", Duration{})};
  }
  if (happens(faults_.throttle, "429", request)) return {error_answer(429, "TooManyRequests", std::chrono::seconds(3))};
  if (happens(faults_.fail, "5xx", request)) {
    return {rng_.chance(0.5) ? error_answer(500, "InternalServerError", Duration{})
                             : error_answer(503, "ServerTimeout", std::chrono::seconds(2))};
  }
  const bool writes = request.head.method == arm::Method::Put || request.head.method == arm::Method::Patch;
  if (writes && happens(faults_.conflict, "409", request)) {
    const bool network = request.head.target.find("/Microsoft.Network/") != std::string::npos;
    return {error_answer(409, network ? "AnotherOperationInProgress" : "ConflictingConcurrentWriteNotAllowed", Duration{})};
  }
  return arm_.handle(request, clock_.now());
}

arm::Response SimUpstream::failure_after_effect() {
  struct Failure {
    int status;
    std::string_view code;
  };
  constexpr std::array<Failure, 5> kFailures{{{500, "InternalServerError"},
                                              {502, "BadGateway"},
                                              {503, "ServerTimeout"},
                                              {504, "GatewayTimeout"},
                                              {408, "OperationTimedOut"}}};
  const Failure& failure = kFailures[rng_.below(kFailures.size())];
  return error_answer(failure.status, failure.code, rng_.chance(0.5) ? std::chrono::seconds(1) : Duration{});
}

void SimUpstream::apply(const std::shared_ptr<Flight>& flight) {
  sim::SimAnswer given = answer_of(flight->request);
  const auto& head = flight->request.head;
  trace_.add(clock_.now(), "  ARM {} {} {} If-Match={} -> {} {} {}", head.fields.get("x-sim-write-id"), head.method_token,
             short_path(head.target), head.fields.get("If-Match"), given.response.head.status,
             given.response.head.fields.get("ETag"), flight->late ? "late" : "");
  watch_.applied(flight->request, given, flight->late);
  flight->answer = std::move(given.response);
  const bool took_effect = head.method != arm::Method::Get && arm::is_success(flight->answer->head.status);
  if (took_effect && happens(faults_.fail_after, "failure after effect", flight->request))
    flight->answer = failure_after_effect();
}

Task<Result<UpstreamAnswer>> SimUpstream::send(const arm::Request& request, SendLimits limits) {
  using How = UpstreamWatch::How;
  if (!limits.begin(clock_.now())) co_return may_not_begin();
  watch_.sending(request);
  ++sendings_[std::string(request.head.fields.get("x-sim-exchange"))];
  if (happens(faults_.refuse, "refused connection", request)) {
    co_await clock_.sleep_for(delay());
    watch_.returned(request, How::NotSent, nullptr);
    co_return upstream_error(ErrorKind::Unreachable, Sent::No, "the simulated ARM refuses connections");
  }
  const bool harmless = request.head.method == arm::Method::Get || request.head.fields.has("If-Match");
  const bool can_be_late = harmless || faults_.late_unguarded;
  const bool lose_request = happens(faults_.lose_request, "lost request", request);
  const bool late = !lose_request && can_be_late && happens(faults_.late, "late effect", request);
  const bool lose_answer = !lose_request && !late && happens(faults_.lose_answer, "lost answer", request);
  const Duration slowness = happens(faults_.slow, "slow", request) ? slow_answer(harmless) : Duration{};
  const TimePoint arrives = clock_.now() + delay() + (rng_.chance(0.5) ? slowness : Duration{});
  const TimePoint answered = std::max(arrives, clock_.now() + slowness) + delay();

  const auto flight = std::make_shared<Flight>(request);
  flight->late = late;
  const TimePoint effect =
      late ? arrives + Duration(static_cast<int64_t>(rng_.below(static_cast<uint64_t>(kLateMax.count())))) : arrives;
  if (!lose_request) clock_.at(effect, [this, flight] { apply(flight); });
  co_await clock_.sleep_until(std::min(late ? arrives : answered, limits.answered_by()));

  if (!flight->answer || late || lose_answer || clock_.now() < answered) {
    const bool timed_out = clock_.now() >= limits.answered_by();
    if (timed_out && !lose_request && !flight->answer) flight->late = true;
    watch_.returned(request, How::Lost, nullptr);
    co_return upstream_error(timed_out ? ErrorKind::TimedOut : ErrorKind::Reset, Sent::Maybe,
                             "the simulated connection broke before the answer");
  }
  arm::Response& answer = *flight->answer;
  const bool content = has_content(request, answer.head.status);
  const bool cut = content && !answer.body.empty() && happens(faults_.cut, "cut answer", request);
  const arm::Response head_alone{answer.head, {}};
  watch_.returned(request, cut ? How::BrokenOff : How::Answered, cut ? &head_alone : &answer);
  UpstreamAnswer result;
  const bool chunked = content && rng_.chance(0.3);
  if (content) result.length = {chunked ? BodyLength::Kind::Unknown : BodyLength::Kind::Known, answer.body.size()};
  const size_t break_at = cut ? rng_.below(answer.body.size()) : answer.body.size();
  result.body = std::make_unique<SimBody>(content ? std::move(answer.body) : std::string(), break_at);
  result.head = std::move(answer.head);
  co_return result;
}

}  // namespace armgate::world
