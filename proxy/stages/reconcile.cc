#include "proxy/stages/reconcile.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "arm/content.h"
#include "base/mutant.h"
#include "proxy/stages/answer.h"
#include "proxy/stages/find_bases.h"
#include "proxy/stages/recover.h"
#include "proxy/stages/remember.h"
#include "proxy/stages/turn.h"

namespace armgate {
namespace {

constexpr std::string_view kInsisted = ", insisted";
constexpr Duration kLagPause = std::chrono::seconds(1);

class Others final : public policy::Witness {
 public:
  explicit Others(const Write& write) : write_(write) {}
  bool others_wrote_since(uint64_t order) const override { return armgate::others_wrote_since(write_, order); }

 private:
  const Write& write_;
};

policy::SharedBody kept(const SeenState& seen) {
  if (!seen.exists()) return nullptr;
  auto body = std::make_shared<policy::KeptBody>();
  body->bytes = seen.body;
  return body;
}

// Whether the read lacks a write that was accepted before it was asked for. What that write asked for may be there all the same: it
// changed nothing.
bool lags(const Write& write, const SeenState& seen, std::string_view api_version, uint64_t asked) {
  policy::Shown shown;
  shown.asked = asked;
  shown.at = write.parts.clock.next_moment();
  shown.absent = seen.absent();
  shown.etag = seen.etag;
  shown.rendering.api_version = api_version;
  shown.rendering.body = kept(seen);
  const auto& resources = write.parts.shared.resources;
  policy::SharedBody asked_for;
  const bool lagging = resources.ask(write.plan.resource_key, [&](const policy::History& history) {
    const bool says_so = history.lags(resources.limits(), shown);
    for (const policy::Entry& entry : history.entries()) {
      if (says_so && entry.cause == policy::Cause::Written) asked_for = entry.asked;
    }
    return says_so;
  });
  return lagging && !(asked_for && seen.exists() && arm::satisfies(seen.body, asked_for->bytes, *body_facts(write.plan)));
}

// The read stands for the api-version that its target names.
std::string_view version_in(const Write& write, const std::string& target) {
  for (const auto& base : write.bases.narrow) {
    if (base.target == target) return base.api_version;
  }
  return write.plan.target.api_version;
}

}  // namespace

const std::string& target_to_read(const Write& write) {
  for (const auto& base : write.bases.narrow) {
    if (!base.target.empty() && base.body) return base.target;
  }
  return write.head().target;
}

Task<std::variant<SeenState, Outcome>> look(const Write& write, const std::string& target, std::string_view why_not,
                                            Unreadable unreadable) {
  while (true) {
    const uint64_t asked = write.parts.clock.next_moment().order;
    auto now = co_await read_again(write.parts, write.head().host, target, write.authorization());
    if (write.patience.client_gone()) co_return client_left(write, "client-left-while-verifying");
    const bool forbidden = now && now->head.status >= 400 && now->head.status < 500 && !now->absent() &&
                           !arm::asks_for_another_try(now->head.status);
    if (forbidden && unreadable == Unreadable::Told) co_return *std::move(now);
    const bool readable = now && (now->exists() || now->absent());
    if (!readable) {
      write.report().reason = "verify-failed";
      write.report().altered = true;
      co_return Outcome{Outcome::Kind::Busy, make_busy(why_not, write.parts.shared.options.retry_after), {}};
    }
    if (!lags(write, *now, version_in(write, target), asked)) co_return *std::move(now);
    write.report().reason = "waited-for-a-read-that-is-up-to-date";
    const auto end = co_await pause_counted(write, kLagPause, Patience::AtClosing::Stop);
    if (end == Patience::End::Gone) co_return client_left(write, "client-left-while-verifying");
    if (end == Patience::End::Ready) continue;
    co_return Outcome{
        Outcome::Kind::Busy, make_busy("ARM does not show the last write yet.", write.parts.shared.options.retry_after), {}};
  }
}

policy::Verdict reconcile(const Write& write, const SeenState& there) {
  auto& resources = write.parts.shared.resources;
  const size_t bytes_max = write.parts.shared.options.body_keep_max;
  policy::Bases bases = write.bases;
  decode_bodies(bases.narrow, bytes_max);
  for (policy::BaseState& base : bases.narrow) base.gone |= was_deleted_since(write, base);
  policy::Right right = resources.ask(write.plan.resource_key, [&](const policy::History& history) {
    return policy::right_of(history, resources.limits(), write.facts);
  });
  std::vector<policy::BaseState> last_read{std::move(right.last_read)};
  decode_bodies(last_read, bytes_max);
  right.last_read = std::move(last_read.front());
  decode_bodies(right.superseded, bytes_max);
  decode_bodies(right.newer, bytes_max);
  const std::string& target = target_to_read(write);
  const policy::ThereBody now{there.absent(), there.etag, there.body, version_in(write, target)};
  const policy::WantedBody wanted{write.exchange.request.body, write.plan.target.api_version};
  policy::Verdict verdict = policy::decide(bases, wanted, now, right, Others(write), *body_facts(write.plan));
  write.report().by_right |= verdict.by_right;
  if (!verdict.sends && write.insists && there.exists()) {
    verdict.sends = true;  // it was only ever shown its own answers, and was told once
    note_insisted(write);
  }
  return verdict;
}

bool was_deleted_since(const Write& write, const policy::BaseState& base) {
  if (base.absent || base.entry == 0) return false;
  const auto& resources = write.parts.shared.resources;
  const uint64_t absent =
      resources.ask(write.plan.resource_key, [](const policy::History& history) { return history.absent(); });
  return std::max(absent, resources.last_delete(write.plan.target.resource).order) > base.entry &&
         !is_mutant(Mutant::DeletedEtagsCount);
}

void note_insisted(const Write& write) {
  write.parts.shared.counters.insisted.fetch_add(1, std::memory_order_relaxed);
  if (!write.report().guard.ends_with(kInsisted)) write.report().guard += kInsisted;
}

Outcome refused(const Write& write, std::string_view why, std::string_view reason, const policy::Verdict& verdict,
                const SeenState* found) {
  return refused_by_arm(write, make_stale(why, verdict.pointers), reason, found);
}

Outcome refused_by_arm(const Write& write, arm::Response answer, std::string_view reason, const SeenState* found) {
  write.parts.shared.counters.refused_stale.fetch_add(1, std::memory_order_relaxed);
  write.report().reason = reason;
  write.report().altered = true;
  Outcome outcome;
  outcome.kind = Outcome::Kind::Refused;
  outcome.answer = std::move(answer);
  outcome.turn = turn_due(write);
  if (found != nullptr) outcome.found = kept(*found);
  return outcome;
}

}  // namespace armgate
