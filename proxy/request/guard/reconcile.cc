#include "proxy/request/guard/reconcile.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "arm/body/patch.h"
#include "arm/throttle.h"
#include "base/mutant.h"
#include "proxy/request/answer.h"
#include "proxy/request/content_coding.h"
#include "proxy/request/guard/find_bases.h"
#include "proxy/request/guard/patch_copy.h"
#include "proxy/request/queue/turn.h"
#include "proxy/request/read/parents.h"
#include "proxy/request/read/remember.h"
#include "proxy/request/write/recover.h"
#include "rules/merge_scope.h"

namespace armgate {
namespace {

constexpr std::string_view kNotComparable =
    " What it asks for cannot be compared with what is there: one of the two may be empty, cut short or no JSON in UTF-8, a member may "
    "stand in it twice, a number may be out of range, or it is nested too deep.";
constexpr std::string_view kNotKept =
    " What its client was shown was not kept, so that changes of other members cannot be told from it: it may be longer than "
    "armgate's option history.body_keep_max.";

policy::SharedBody kept(const SeenState& seen) { return seen.exists() ? policy::kept_body(seen.body) : nullptr; }

// Whether somebody was shown that there is something, otherwise than by the answer to a write.
bool was_ever_read(const Write& write) {
  return write.ask([](const policy::History& history) { return history.was_ever_read(); });
}

// The authors of the change, and when the newest change that is not this client's became known, if it passed by.
std::string conflict_text(const Write& write, std::string_view place) {
  uint64_t base = 0;
  for (const policy::BaseState& state : write.bases.possible) base = std::max(base, state.entry);
  std::optional<TimePoint> newest;
  bool is_own = false;
  write.ask([&](const policy::History& history) {
    for (const policy::Entry& entry : history.entries()) {
      if (entry.number <= base) continue;
      is_own |= entry.writer == write.client.key && entry.cause == policy::Cause::Written;
      if (entry.writer != write.client.key) newest = entry.known.time;
    }
  });
  constexpr std::string_view kOwn = "by a write of this client's which this one is not built on";
  const std::chrono::duration<double> ago = newest ? write.parts.clock.now() - *newest : Duration{};
  if (newest && is_own)
    return fmt::format("{} has changed since, by somebody else {:.1f} s ago or {}.", place, ago.count(), kOwn);
  if (newest) return fmt::format("Somebody else changed {} {:.1f} s ago.", place, ago.count());
  if (is_own) return fmt::format("{} has changed since, perhaps {}.", place, kOwn);
  return fmt::format("{} has changed since, and not by a write whose answer armgate has seen.", place);
}

// What of the write may be merged with others' changes; nothing: all of it has to be built on what is there.
std::optional<arm::MergeScope> merge_scope(const Write& write) {
  const rules::Rule& rule = *write.plan.rule;
  const auto merging = std::max({write.parts.shared.options.merge, write.client.declared.merge, rule.guard.merging});
  const auto names = [&](const char* field) { return !write.head().fields.get(field).empty(); };
  const bool tied_to_its_bytes =
      names("content-encoding") || names("content-md5") || names("content-digest") || names("digest");
  if (tied_to_its_bytes || write.has_own_precondition) return std::nullopt;
  const bool is_patch = write.plan.operation == arm::OperationKind::Patch;
  if (is_patch && arm::clears_by_member(write.exchange.clients_body(), *body_facts(write.plan))) return std::nullopt;
  return rules::merge_scope(write.plan, merging);
}

bool reads_in_vain(const Write& write, const policy::WantedBody& wanted, const policy::ThereBody& there) {
  const auto refusal =
      write.ask([&](const policy::History& history) { return policy::refused_in_vain(history, write.facts, write.rule()); });
  return refusal && policy::tries_the_same(*refusal, wanted, there, *body_facts(write.plan));
}

// An answer that says something about the reader or the type, not about the resource. Of a type that has no GET at all many
// providers say 404; then nobody was ever shown what was written, and it was not deleted either.
bool is_hidden(const Write& write, const SeenState& seen) {
  if (seen.exists() || seen.is_refused_for_now()) return false;
  if (seen.head.status != 404) return true;
  if (unreadable_for(write) == Unreadable::TryLater) return false;
  const auto& bases = write.bases.possible;
  const uint64_t gone_at = last_absence(write);
  const auto is_written = [&](const policy::BaseState& b) { return !b.absent && !b.gone && !b.lies_before(gone_at); };
  return !bases.empty() && std::all_of(bases.begin(), bases.end(), is_written) && !was_ever_read(write);
}

// What is there, read so. Suspends.
Task<Result<SeenState>> read_at(const Write& write, View view) {
  OwnRead read = own_read(write.parts, write.plan.resource_key, view.target);
  auto seen =
      co_await read_again(write.parts, write.head().host, std::move(read), write.authorization(), write.client_wait.until());
  if (seen) seen->api_version = view.api_version;
  co_return std::move(seen);
}

View own_view(const Write& write) { return {write.head().target, write.plan.target.api_version}; }

// The ETag, where it proves that nothing has moved.
std::string proof_in(const Write& write, const SeenState& there) { return write.etag_tells_all() ? there.etag : std::string(); }

// What ARM says of the client's own token: its challenge is what the client needs to get another (401), and a right that is
// missing does not come by asking again (403).
Outcome token_refused(const Write& write, SeenState&& seen) {
  write.report().altered = true;
  Outcome outcome = stop(write, Outcome::Kind::Answered, {std::move(seen.head), std::move(seen.body)}, "verify-failed");
  outcome.answer.head.fields.remove("Content-Encoding");
  return outcome;
}

// Whether a state that the write may be built from is known by its ETag alone.
bool cannot_be_compared(const Write& write) {
  return std::ranges::any_of(write.bases.possible, [](const policy::BaseState& b) { return !b.absent && !b.gone && !b.body; });
}

// What was accepted before a state was shown may have changed it when it ended. Of its own a client knows.
bool others_changed_since(const Write& write, uint64_t order) {
  const bool is_one = write.client.declared.actors != policy::Actors::Many;
  const auto is_own = [&](const policy::Entry& e) {
    return is_one ? e.writer == write.client.key : e.is_of(write.client.key, write_key_of(write));
  };
  return others_wrote_since(write, order) ||
         write.ask([&](const policy::History& history) { return history.ended_since(order, is_own); });
}

policy::StateShown shown_by(const Write& write, const SeenState& seen, uint64_t asked) {
  policy::StateShown shown;
  shown.asked = asked;
  shown.at = write.parts.clock.next_moment();
  shown.absent = seen.absent();
  shown.etag = seen.etag;
  shown.rendering.api_version = seen.api_version;
  shown.rendering.body = kept(seen);
  return shown;
}

// One look that finds nothing, where something was accepted a moment ago and has been read since, is a replica that lags or a
// deletion around armgate: the messages are the same. Several in a row are a deletion.
constexpr int kAbsencesBelieved = 4;

bool is_to_be_doubted(const Write& write, const SeenState& seen, uint64_t asked) {
  if (!seen.absent()) return false;
  const policy::StateShown shown = shown_by(write, seen, asked);
  const auto& resources = write.parts.shared.resources;
  return write.ask([&](const policy::History& history) { return history.may_lag(resources.limits(), shown); });
}

// When the client should come again: once ARM lets the resource be read, as far as it says so.
Duration come_again_after(const Write& write, const Result<SeenState>& seen) {
  const Duration usual = write.parts.shared.options.retry_after;
  if (!seen || !seen->is_refused_for_now()) return usual;
  return come_again(usual, arm::retry_after(seen->head.fields, write.parts.clock.wall()).value_or(Duration{}));
}

}  // namespace

bool lags(const Write& write, const SeenState& seen, uint64_t asked) {
  if (seen.absent()) note_removed_with_parent(write.parts, write.plan, asked);
  const policy::StateShown shown = shown_by(write, seen, asked);
  const auto& resources = write.parts.shared.resources;
  return write.ask(
      [&](const policy::History& history) { return history.lags(resources.limits(), shown, *body_facts(write.plan)); });
}

std::vector<View> views(const Write& write, std::string_view etag_there) {
  std::vector<View> found;
  for (const auto& base : write.bases.possible) {
    const bool is_proven = !base.etag.empty() && base.etag == etag_there;
    const bool is_comparable = base.body && !base.target.empty() && !base.deleted;
    const bool is_new = std::ranges::find(found, base.api_version, &View::api_version) == found.end();
    if (!is_proven && is_comparable && is_new) found.push_back({base.target, base.api_version});
  }
  if (found.empty()) found.push_back(own_view(write));
  return found;
}

Task<void> read_other_versions(const Write& write, SeenState& there) {
  auto others = views(write, proof_in(write, there));
  std::erase_if(others, [&](const View& view) { return view.api_version == there.api_version; });
  others.resize(std::min(others.size(), write.parts.shared.options.versions_compared_max));
  for (const View& view : others) {
    const uint64_t asked = write.parts.clock.next_moment().order;
    auto other = co_await read_at(write, view);
    // It may have moved meanwhile, or be an older state.
    const bool is_same = other && other->exists() && other->etag == there.etag && !lags(write, *other, asked);
    if (is_same) there.elsewhere.push_back({std::move(other->api_version), std::move(other->body)});
  }
}

Task<Step<SeenState>> read_current(const Write& write, std::string_view why_not, Unreadable unreadable) {
  // What an earlier sending has made of the resource shows at the write's own api-version.
  const bool may_be_done = write.ledger().maybe_applied(write.sending);
  const View newest = may_be_done ? own_view(write) : views(write).front();
  for (int absences = 0;;) {
    const uint64_t asked = write.parts.clock.next_moment().order;
    auto now = co_await read_at(write, newest);
    if (write.client_wait.client_gone()) co_return client_left(write, "client-left-while-verifying");
    if (now && unreadable == Unreadable::Returned && is_hidden(write, *now)) {
      now->is_hidden = true;
      co_return *std::move(now);
    }
    if (now && (now->head.status == 401 || now->head.status == 403)) co_return token_refused(write, *std::move(now));
    const bool readable = now && (now->exists() || now->absent());
    if (now && now->exists()) write.record_event(policy::Found{asked});
    if (!readable) co_return try_later(write, why_not, "verify-failed", come_again_after(write, now));
    absences = now->absent() ? absences + 1 : 0;
    const bool lagging = lags(write, *now, asked) || (absences < kAbsencesBelieved && is_to_be_doubted(write, *now, asked));
    if (!lagging || (now->absent() && has_seen_it_gone(write, policy::Writers::Own))) {
      if (now->exists()) co_await read_other_versions(write, *now);
      co_return *std::move(now);
    }
    constexpr std::string_view kWaited = "waited-for-a-read-that-is-up-to-date";
    write.report().reason = kWaited;
    const auto end = co_await pause_counted(write, kLagPause, ClientWait::AtClosing::Stop);
    if (end == ClientWait::End::Gone) co_return client_left(write, "client-left-while-verifying");
    if (end == ClientWait::End::Ready) continue;
    if (end == ClientWait::End::Closing) co_return try_later(write, kClosing, "armgate-ends");
    co_return try_later(write, "ARM does not show the last write yet.", kWaited);
  }
}

policy::Verdict reconcile(const Write& write, const SeenState& there) {
  auto& resources = write.parts.shared.resources;
  const size_t bytes_max = write.parts.shared.options.body_keep_max;
  policy::Bases bases = write.bases;
  decode_bodies(bases.possible, bytes_max);
  const uint64_t gone_at = last_absence(write);
  for (policy::BaseState& base : bases.possible) {
    base.gone |= base.lies_before(gone_at);
    base.deleted |= base.gone && base.lies_before(last_delete(write));
  }
  policy::Right right = write.ask(
      [&](const policy::History& history) { return policy::right_of(history, resources.limits(), write.facts, write.rule()); });
  right.last_read.body = in_plain_bytes(right.last_read.body, bytes_max);
  decode_bodies(right.superseded, bytes_max);
  decode_bodies(right.newer, bytes_max);
  std::string body = there.body;
  if (write.plan.operation == arm::OperationKind::Patch && there.exists()) keep_patched_part(write, bases, right, body);
  const std::string proof = proof_in(write, there);
  const policy::ThereBody now{there.absent(), proof, body, there.api_version, there.elsewhere};
  const policy::WantedBody wanted{write.exchange.clients_body(), write.plan.target.api_version};
  policy::Verdict verdict = policy::decide(
      bases, wanted, now, right, [&](uint64_t order) { return others_changed_since(write, order); }, *body_facts(write.plan),
      merge_scope(write));
  write.report().by_right |= verdict.by_right;
  if (!verdict.sends && there.exists() && is_forced(write)) {
    verdict.sends = true;  // it was only ever shown its own answers, and was told once
    note_forced(write);
  }
  // Of a type of which nothing is known some member may move by itself, and then no read ever is what is there.
  if (!verdict.sends && unreadable_for(write) == Unreadable::Returned && there.exists() && reads_in_vain(write, wanted, now)) {
    verdict.sends = true;
    note_forced(write);
  }
  return verdict;
}

void send_as_asked(const Write& write) {
  Exchange& exchange = write.exchange;
  if (exchange.clients_own) exchange.request.body = std::move(exchange.clients_own->body);
  exchange.clients_own.reset();
  write.report().merged = {};
}

void send_merged(const Write& write, std::string body, policy::SharedBody base) {
  Exchange& exchange = write.exchange;
  if (!exchange.clients_own) exchange.clients_own.emplace().body = std::move(exchange.request.body);
  exchange.clients_own->base = std::move(base);
  exchange.request.body = std::move(body);
  write.report().merged = {};
  write.report().altered = true;
}

void compose_body(const Write& write, policy::Verdict& verdict) {
  if (!verdict.merged) return send_as_asked(write);
  send_merged(write, std::move(verdict.merged->body), std::move(verdict.merged_from));
  write.report().merged = std::move(verdict.merged->kept);
}

uint64_t last_delete(const Write& write) { return write.parts.shared.resources.last_delete(write.plan.target.resource).order; }

uint64_t last_absence(const Write& write) {
  if (is_mutant(Mutant::DeletedEtagsCount)) return 0;
  const uint64_t absent = write.ask([](const policy::History& history) { return history.absent(); });
  return std::max(absent, last_delete(write));
}

bool has_seen_it_gone(const Write& write, policy::Writers writers) {
  const uint64_t deleted = last_delete(write);  // asks other tables
  return write.ask(
      [&](const policy::History& history) { return policy::has_seen_it_gone(history, write.facts, deleted, writers); });
}

void note_forced(const Write& write) {
  write.parts.shared.counters.forced.fetch_add(1, std::memory_order_relaxed);
  if (!write.report().guard.ends_with(kForced)) write.report().guard += kForced;
}

Outcome refused(const Write& write, std::string_view why, std::string_view reason, const policy::Verdict& verdict,
                const SeenState* found) {
  if (!verdict.conflict) {
    const bool two_bodies = write.rule() != policy::BaseRule::Create && (found == nullptr || !found->absent());
    const bool is_incomparable = verdict.is_incomparable();
    const std::string_view more = is_incomparable && two_bodies ? kNotComparable : cannot_be_compared(write) ? kNotKept : "";
    const auto places = is_incomparable ? std::vector<std::string>() : verdict.pointers;
    return refused_by_arm(write, make_stale("ArmgateStaleWrite", fmt::format("{}{}", why, more), places), reason, found);
  }
  // Some SDKs show the message alone, and none of the details.
  const std::string_view place =
      verdict.pointers.empty() ? std::string_view("the same") : std::string_view(verdict.pointers.front());
  const std::string both = fmt::format("{} {}", why, conflict_text(write, place));
  return refused_by_arm(write, make_stale("ArmgateConflict", both, verdict.pointers), reason, found);
}

Outcome refused_by_arm(const Write& write, arm::Response answer, std::string_view reason, const SeenState* found) {
  write.parts.shared.counters.refused_stale.fetch_add(1, std::memory_order_relaxed);
  write.report().reason = reason;
  write.report().altered = true;
  write.report().merged = {};
  Outcome outcome;
  outcome.kind = Outcome::Kind::Refused;
  outcome.answer = std::move(answer);
  outcome.turn = turn_due(write);
  if (found != nullptr) outcome.found = kept(*found);
  return outcome;
}

}  // namespace armgate
