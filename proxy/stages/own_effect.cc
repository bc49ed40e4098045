#include "proxy/stages/own_effect.h"

#include <algorithm>
#include <utility>

#include "arm/content.h"
#include "arm/etag.h"
#include "proxy/stages/content_coding.h"
#include "proxy/stages/remember.h"

namespace armgate {
namespace {

// A PUT that leaves something out asks for its end, and a state that has all of it still satisfies what is asked for. So a state
// to which nothing was done since the write's base shows an effect only if it is what the write asks for to the letter.
bool shows_effect(const Write& write, const SeenState& state) {
  const auto& bases = write.bases.narrow;
  const bool moved = std::none_of(bases.begin(), bases.end(), [&](const policy::BaseState& base) {
    const auto before = base.body ? plain_body(*base.body, write.parts.shared.options.body_keep_max) : PlainBytes::decoded("");
    return before && arm::same_writable_content(before->text(), state.body, *body_facts(write.plan));
  });
  return moved || asks_for_exactly(write, state);
}

}  // namespace

bool is_satisfied(const Write& write, const SeenState& state) {
  return arm::satisfies(state.body, write.exchange.request.body, *body_facts(write.plan));
}

bool asks_for_exactly(const Write& write, const SeenState& state) {
  return arm::same_writable_content(state.body, write.exchange.request.body, *body_facts(write.plan));
}

bool is_own_effect(const Write& write, uint64_t known_since, const SeenState& state) {
  // Not if another write was accepted after the state that it was built on. Somebody else, another actor of this client too, may have
  // asked for the very same state (two that both count from 2 to 3), and what that one did must not be told to this one as its own.
  return state.exists() && !others_wrote_since(write, known_since) && is_satisfied(write, state) && shows_effect(write, state);
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
