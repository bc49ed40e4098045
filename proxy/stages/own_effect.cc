#include "proxy/stages/own_effect.h"

#include <utility>

#include "arm/etag.h"
#include "base/mutant.h"
#include "proxy/stages/remember.h"

namespace armgate {
namespace {

// Whether a sending of this write can have been taken at all: not if another write was accepted after the state that it was
// built on. Somebody else, another actor of this client too, may have asked for the very same state (two that both count from
// 2 to 3), and what that one did must not be told to this one as its own.
bool can_have_been_taken(const Write& write, uint64_t known_since) {
  if (is_mutant(Mutant::ForeignStateClaimed)) return true;
  return !write.parts.shared.resources.others_accepted_since(write.plan.resource_key, write.client.key, origin_of(write),
                                                             known_since);
}

// A PUT that leaves something out asks for its end, and a state that has all of it still satisfies what is asked for. So a state
// to which nothing was done since the write's base shows an effect only if it is what the write asks for to the letter.
bool shows_effect(const Write& write, const SeenState& state) {
  const auto since = compare_with_base(state, write.base(), write.plan, write.parts.shared.options.body_keep_max);
  return !since.same || asks_for_exactly(write, state);
}

}  // namespace

bool is_satisfied(const Write& write, const SeenState& state) {
  return arm::satisfies(state.body, write.exchange.request.body, read_only_members(write.plan));
}

bool asks_for_exactly(const Write& write, const SeenState& state) {
  return arm::same_writable_content(state.body, write.exchange.request.body, read_only_members(write.plan));
}

bool is_own_effect(const Write& write, uint64_t known_since, const SeenState& state) {
  return state.exists() && can_have_been_taken(write, known_since) && is_satisfied(write, state) && shows_effect(write, state);
}

Outcome was_ours(const Write& write, SeenState&& state) {
  Outcome outcome;
  outcome.kind = Outcome::Kind::Accepted;
  outcome.tracking.by = arm::TrackedBy::ResourceState;
  // Many resources show no sign of the operation that changes them.
  outcome.runs_unseen = arm::progress_of_resource(state.head, state.body) != arm::Progress::Running;
  outcome.answer.head.status = 200;
  outcome.answer.head.fields.add("Content-Type", "application/json; charset=utf-8");
  const auto etag = arm::etag_in_head(state.head.fields);
  if (!etag.empty()) outcome.answer.head.fields.add("ETag", etag);
  outcome.answer.body = std::move(state.body);
  write.report().reason = "answer-recovered-by-reading";
  write.report().altered = true;
  return outcome;
}

}  // namespace armgate
