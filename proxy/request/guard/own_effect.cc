#include "proxy/request/guard/own_effect.h"

#include <algorithm>
#include <utility>

#include "arm/body/content.h"
#include "arm/body/difference.h"
#include "arm/body/patch.h"
#include "arm/etag.h"
#include "proxy/request/content_coding.h"
#include "proxy/request/guard/reconcile.h"
#include "proxy/request/read/remember.h"

namespace armgate {
namespace {

// A PATCH says nothing of members that it does not name.
bool has_what_is_asked(const Write& write, std::string_view state) {
  const std::string& asked = write.exchange.request.body;
  const arm::BodyFacts& facts = *body_facts(write.plan);
  if (write.plan.operation != arm::OperationKind::Patch) return arm::satisfies(state, asked, facts);
  const auto part = arm::patched_part(state, asked, facts);
  return part && arm::satisfies(*part, asked, facts);
}

// A PUT that leaves something out asks for its end, and a state that has all of it still satisfies what is asked for. So does
// the base of a write that does nothing else. Then a state shows an effect only if it is what the write asks for to the letter,
// whatever somebody else did beside it.
bool shows_effect(const Write& write, const SeenState& state) {
  const auto& bases = write.bases.possible;
  const bool satisfied_before = std::any_of(bases.begin(), bases.end(), [&](const policy::BaseState& base) {
    const auto before = base.body ? plain_body(*base.body, write.parts.shared.options.body_keep_max) : PlainBytes::decoded("");
    return before && has_what_is_asked(write, before->text());
  });
  return !satisfied_before || asks_for_exactly(write, state);
}

// What an earlier sending of this write was merged into, and may have done: the request becomes that. Gives the order of that
// sending; nothing: there was none, or it was not merged.
std::optional<uint64_t> take_up_merge(const Write& write) {
  const Hash128 own = write_key_of(write);
  const auto earlier = write.ask([&](const policy::History& history) {
    policy::MergedWrite last;
    if (const policy::ClientRecord* record = history.client(write.client.key)) {
      for (const policy::MergedWrite& merged : record->merged) {
        if (merged.write_key == own) last = merged;
      }
    }
    return last;
  });
  if (!earlier.sent) return std::nullopt;
  send_merged(write, earlier.sent->bytes, earlier.base);
  return earlier.entry;
}

// What others had changed, as it was merged into the sending that is taken up.
void report_merged(const Write& write) {
  const arm::ComparedBody bodies[] = {{write.exchange.clients_body()}, {write.exchange.request.body}};
  auto kept = arm::Difference(bodies, *body_facts(write.plan)).changed(0, 1, arm::Difference::kNodesMax);
  write.report().merged.count = kept.size();
  kept.resize(std::min(kept.size(), arm::Difference::kPointersMax));
  write.report().merged.pointers = std::move(kept);
}

// What somebody asked for whose answer was lost.
struct AskedInDoubt {
  policy::SharedBody body;  // null: not kept
  bool whole = false;
};

// By others' writes that were sent with the same ETag: each may have taken effect in the place of this one.
std::vector<AskedInDoubt> asked_in_doubt_on(const Write& write, std::string_view etag) {
  if (etag.empty()) return {};
  const Hash128 own = write_key_of(write);
  return write.ask([&](const policy::History& history) {
    std::vector<AskedInDoubt> asked;
    for (const policy::Entry& e : history.entries()) {
      if (e.if_match == etag && !e.is_of(write.client.key, own)) asked.push_back({e.requested_body, e.asked_for_all});
    }
    return asked;
  });
}

// Whether the state has a change that this write makes to each of its possible bases, where the other asked for something else.
bool shows_change_of(const Write& write, const AskedInDoubt& other, const SeenState& state) {
  enum : size_t { kWanted, kOther, kState, kBases };
  const size_t most = write.parts.shared.options.body_keep_max;
  const auto kind = [](bool whole) { return whole ? arm::BodyKind::Whole : arm::BodyKind::Partial; };
  if (!other.body || write.bases.possible.empty()) return false;
  const auto asked = plain_body(*other.body, most);
  if (!asked) return false;
  std::vector<arm::ComparedBody> bodies{{write.exchange.request.body}, {asked->text(), kind(other.whole)}, {state.body}};
  std::vector<PlainBytes> texts;
  texts.reserve(write.bases.possible.size());
  for (const policy::BaseState& base : write.bases.possible) {
    if (!base.body || base.absent || base.api_version != write.plan.target.api_version) return false;
    auto text = plain_body(*base.body, most);
    if (!text) return false;
    bodies.push_back({texts.emplace_back(*std::move(text)).text(), kind(!base.is_partial)});
  }
  const arm::Difference difference(bodies, *body_facts(write.plan));
  bool shows = true;
  for (size_t base = kBases; base < bodies.size(); ++base) shows &= difference.shows_change_of(kWanted, kOther, base, kState);
  return shows;
}

bool shows_what_was_sent(const Write& write, uint64_t known_since, std::string_view etag, const SeenState& state) {
  // Not if another write was accepted after the state that it was built on. Somebody else, another actor of this client too,
  // may have asked for the very same state (two that both count from 2 to 3), and what that one did must not be told to this
  // one as its own. What is in doubt on the ETag that this one was sent with is told apart by what it asked for.
  const bool others_wrote = others_wrote_since(write, known_since, etag);
  if (others_wrote || !is_satisfied(write, state) || !shows_effect(write, state)) return false;
  return std::ranges::all_of(asked_in_doubt_on(write, etag),
                             [&](const AskedInDoubt& other) { return shows_change_of(write, other, state); });
}

}  // namespace

bool is_satisfied(const Write& write, const SeenState& state) { return has_what_is_asked(write, state.body); }

bool asks_for_exactly(const Write& write, const SeenState& state) {
  constexpr std::string_view kSaidByUrl[] = {"/id", "/name", "/type"};  // a request may leave them out
  const arm::ComparedBody bodies[] = {{write.exchange.request.body}, {state.body}};
  const arm::Difference difference(bodies, *body_facts(write.plan));
  return difference.satisfied(0, 1) && std::ranges::all_of(difference.changed(0, 1), [&](const std::string& pointer) {
           return std::ranges::find(kSaidByUrl, pointer) != std::end(kSaidByUrl);
         });
}

bool is_own_effect(const Write& write, uint64_t known_since, std::string_view etag, const SeenState& state) {
  if (!state.exists() || state.api_version != write.plan.target.api_version) return false;
  if (shows_what_was_sent(write, known_since, etag, state)) return true;
  const auto merged = write.exchange.clients_own ? std::nullopt : take_up_merge(write);
  if (!merged) return false;
  if (shows_what_was_sent(write, *merged, etag, state)) {
    report_merged(write);
    return true;
  }
  send_as_asked(write);
  return false;
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
