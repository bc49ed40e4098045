#include "cli/view/shown.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "arm/body/content.h"
#include "arm/etag.h"
#include "json/scan.h"
#include "proxy/policy/body_etag.h"
#include "proxy/policy/verdict.h"
#include "rules/merge_scope.h"

namespace armgate {
namespace {

constexpr size_t kPointersMax = 5;

bool is_object(const std::string& text) { return scan_string_member(text, "id").readable; }

std::string difference(const ShownAnswer& answer, const std::string& body, const arm::BodyFacts& facts) {
  const auto pointers = arm::changed_pointers(answer.body, body, facts, kPointersMax);
  if (pointers.empty()) return "the body is the same";
  if (pointers.front().empty()) return "they differ as a whole";
  return fmt::format("they differ at {}", fmt::join(pointers, ", "));
}

std::string what_is_said(const ShownAnswer& answer, const std::string& body, const arm::BodyFacts& facts) {
  if (answer.absent) return "there was none";
  if (!is_object(answer.body)) return "no JSON object, so nothing is known of it; give the body of an answer without its head";
  return difference(answer, body, facts);
}

// What the client was shown, as its history has it, and where each answer stands in it.
struct ShownHistory {
  policy::History history;
  std::vector<uint64_t> entries;
};

ShownHistory history_of(const std::vector<ShownAnswer>& shown, const rules::Plan& plan) {
  ShownHistory all;
  uint64_t order = 0;
  for (const ShownAnswer& answer : shown) {
    policy::StateShown event;
    event.asked = ++order;
    event.at.order = ++order;
    event.absent = answer.absent;
    event.rendering.api_version = plan.target.api_version;
    if (!answer.absent) {
      event.etag = arm::etag_in_body(answer.body).value_or("");
      auto kept = std::make_shared<policy::KeptBody>();
      kept->bytes = answer.body;
      event.rendering.body = std::move(kept);
    }
    all.history.apply({}, std::move(event));
    const auto& observed = all.history.client({})->shown.back();
    all.entries.push_back(observed.entry);
  }
  return all;
}

// What becomes of the write.
std::string consequence_of(const policy::Bases& bases, const rules::Plan& plan) {
  switch (bases.rule) {
    case policy::BaseRule::Create: return "it is sent as a create, and refused if somebody made it since";
    case policy::BaseRule::Unconditional:
    case policy::BaseRule::Forgotten:
      return "it is sent without a precondition, and refused once if another write finishes while it waits";
    default: break;
  }
  const bool by_etag = plan.rule->guard.kind == rules::GuardKind::Etag && bases.possible.size() == 1;
  if (by_etag && !bases.possible.front().etag.empty())
    return fmt::format("it is sent with If-Match {}", bases.possible.front().etag);
  return bases.possible.size() == 1
             ? "what is there is compared with it under the lock"
             : "what is there is compared with each of them under the lock, and it is sent if all lead to the same";
}

std::string places_of(const arm::MergePlaces& places) {
  if (places.count == 0) return "nothing";
  const size_t more = places.count - std::min(places.count, places.pointers.size());
  return fmt::format("{}{}", fmt::join(places.pointers, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

// What the write leads to if this is there when its turn comes.
std::string outcome_of(const policy::Bases& bases, const policy::WantedBody& wanted, const ShownAnswer& there,
                       std::optional<arm::MergeScope> scope, const rules::Plan& plan) {
  if (!there.absent && !is_object(there.body)) return "no JSON object, so nothing can be compared with it";
  if (bases.possible.empty()) return "does not matter: there is nothing that it would be compared with";
  const auto etag = arm::etag_in_body(there.body).value_or("");
  policy::ThereBody now{there.absent, etag, there.body, wanted.api_version};
  const auto nobody_wrote = [](uint64_t) { return false; };
  const policy::Verdict verdict = policy::decide(bases, wanted, now, {}, nobody_wrote, *plan.facts().body, scope);
  if (verdict.merged)
    return fmt::format("merged: kept of others' changes: {}; taken from the write: {}", places_of(verdict.merged->kept),
                       places_of(verdict.merged->taken));
  if (verdict.sends) return "the write is sent as it is";
  const bool is_everything = !verdict.pointers.empty() && verdict.pointers.front().empty();  // as refused() has it
  if (is_everything)
    return "412 ArmgateStaleWrite: the write, or what it was built from, cannot be compared with what is there";
  const std::string places = verdict.pointers.empty() ? "" : fmt::format(" at {}", fmt::join(verdict.pointers, ", "));
  if (verdict.conflict) return fmt::format("412 ArmgateConflict: others have changed the very same{}", places);
  return fmt::format("412 ArmgateStaleWrite: it would undo what others changed{}", places);
}

}  // namespace

std::vector<rules::Fact> explain_shown(const std::string& body, const ShownBefore& before, const rules::Plan& plan) {
  const std::vector<ShownAnswer>& shown = before.shown;
  if (!plan.guarded || plan.operation != arm::OperationKind::Put) {
    return {{"built from", "does not matter: only a full PUT of a guarded type is held to what its client was shown", {}}};
  }
  const ShownHistory all = history_of(shown, plan);
  const std::string etag = policy::body_etag(plan, body);
  policy::WriteFacts write;
  write.actors = before.actors;
  write.arrived.order = 2 * shown.size() + 1;
  write.body_etag = etag;
  write.api_version = plan.target.api_version;
  auto bases = policy::possible_bases(all.history, {}, write);
  policy::narrow_down(bases, {body, write.api_version}, *plan.facts().body);

  std::vector<rules::Fact> facts;
  if (!is_object(body)) facts.push_back({"body", "no JSON object, so nothing in it tells what it was built from", {}});
  std::string from;
  for (size_t i = 0; i < shown.size(); ++i) {
    facts.push_back({fmt::format("shown {}", i + 1),
                     fmt::format("{}: {}", shown[i].name, what_is_said(shown[i], body, *plan.facts().body)),
                     {}});
    const bool possible = std::any_of(bases.possible.begin(), bases.possible.end(),
                                      [&](const policy::BaseState& state) { return state.entry == all.entries[i]; });
    if (possible) from += fmt::format("{}shown {}", from.empty() ? "" : " or ", i + 1);
  }
  if (from.empty()) from = "none of them";
  facts.push_back(
      {"built from", fmt::format("{} ({}): {}", from, policy::to_text(bases.rule), consequence_of(bases, plan)), {}});
  if (before.there) {
    const auto outcome = outcome_of(bases, {body, write.api_version}, *before.there,
                                    rules::merge_scope(plan, std::max(before.merging, plan.rule->guard.merging)), plan);
    facts.push_back({"beside what is there", fmt::format("{}: {}", before.there->name, outcome), {}});
  }
  return facts;
}

}  // namespace armgate
