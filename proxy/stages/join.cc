#include "proxy/stages/join.h"

#include <absl/cleanup/cleanup.h>

#include <utility>

#include "proxy/stages/answer.h"
#include "proxy/stages/remember.h"

namespace armgate {
namespace {

Outcome take_over(Write& write, uint64_t earlier, const UnansweredWrites::Ending& ending) {
  write.unanswered = earlier;
  write.bound.binding = ending.binding;
  write.client.state->join_binding(ending.binding);
  write.parts.shared.counters.replayed.fetch_add(1, std::memory_order_relaxed);
  write.report().reason = ending.reason.empty() ? "answered-an-earlier-sending" : ending.reason;
  write.report().replayed = true;
  write.report().altered = true;
  Outcome outcome;
  outcome.kind = ending.accepted ? Outcome::Kind::Accepted : Outcome::Kind::Answered;
  outcome.answer = *ending.answer;
  unexplain(outcome.answer.head);
  return outcome;
}

}  // namespace

UnansweredWrites::Arrival arrival_of(const Write& write, std::shared_ptr<const Presence> asker) {
  UnansweredWrites::Arrival arrival;
  // With the credential: claims alone are unverified, so only who shows the same token asks for the same.
  arrival.request = write.parts.shared.hasher.chain(write.bytes, write.client.credential);
  arrival.request_id = write.request_id;
  arrival.resource = write.plan.resource_key;
  arrival.asker = std::move(asker);
  return arrival;
}

Task<std::optional<Outcome>> join_earlier(Write& write, const UnansweredWrites::Arrival& arrival) {
  auto& unanswered = write.client.state->unanswered();
  while (true) {
    const TimePoint before = write.parts.clock.now();
    const auto joined = unanswered.join_or_add(arrival, &write.patience.waiter(), Patience::kJoinedEnded, before);
    if (!joined.to_earlier) {
      write.unanswered = joined.write;
      co_return std::nullopt;
    }
    auto with = UnansweredWrites::With::Nothing;
    const auto leave = absl::MakeCleanup([&] { unanswered.leave(joined.write, &write.patience.waiter(), with); });
    const auto end = co_await write.patience.await_ready([&] { return unanswered.ending(joined.write).has_value(); });
    write.report().waited += write.parts.clock.now() - before;
    if (end == Patience::End::Gone) co_return Outcome{Outcome::Kind::Left, {}, {}};
    if (end == Patience::End::TimeUp) {
      write.report().reason = "still-running";
      co_return Outcome{Outcome::Kind::Busy, make_still_running(write.parts.shared.options.retry_after), {}};
    }
    const auto ending = unanswered.ending(joined.write);
    const bool has_answer = ending && ending->answer;
    if (!has_answer) continue;
    with = UnansweredWrites::With::Answer;
    co_return take_over(write, joined.write, *ending);
  }
}

}  // namespace armgate
