#include "proxy/cli_shown.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "arm/content.h"
#include "arm/etag.h"
#include "arm/json_scan.h"
#include "proxy/policy/body_etag.h"
#include "proxy/policy/evidence.h"

namespace armgate {
namespace {

constexpr size_t kPointersMax = 5;

std::string_view words_for(arm::Evidence says) {
  switch (says) {
    case arm::Evidence::Silent: return "the body says nothing about it";
    case arm::Evidence::Agrees: return "the body agrees with it";
    case arm::Evidence::ContradictsByAbsence: return "the body lacks what it has: built on another, or that was removed";
    case arm::Evidence::Contradicts: return "the body was not built on it";
  }
  return {};
}

// What goes to ARM with a base that one of these rules has found.
std::string consequence_of(const policy::Base& base, const rules::Plan& plan) {
  if (base.rule == policy::BaseRule::Create) return "it is sent as a create, and refused if somebody made it since";
  if (base.rule == policy::BaseRule::Blind)
    return "it is sent without a precondition, and refused if another write finishes while it waits";
  if (!base.has_state()) return "it is answered 412 here";
  if (plan.rule->guard.kind == rules::GuardKind::Verify || base.etag.empty())
    return "ARM's state is compared with it under the lock";
  return fmt::format("it is sent with If-Match {}", base.etag);
}

// What the client was shown, as its view would have it.
class ShownView {
 public:
  ShownView(const std::vector<ShownAnswer>& shown, const rules::Plan& plan) : facts_(*plan.rule->body.facts) {
    for (const ShownAnswer& answer : shown) {
      policy::Delivery delivery;
      delivery.at.order = ++order_;
      delivery.confirmation = policy::Confirmation::Confirmed;
      if (answer.absent) {
        for (auto& state : states_) state.after_absence = false;
        absent_ = view_.record_absent(std::move(delivery));
        versions_.push_back(absent_);
      } else {
        versions_.push_back(record(answer, plan.target.api_version, std::move(delivery)));
      }
    }
  }

  const policy::View& view() const { return view_; }
  uint64_t version_of(size_t shown) const { return versions_[shown]; }
  const arm::BodyFacts& facts() const { return facts_; }

  std::vector<policy::VersionEvidence> weigh(const std::string& body) const {
    return policy::weigh(body, states_, absent_, facts_);
  }
  Moment now() const { return {order_ + 1, {}}; }

 private:
  uint64_t record(const ShownAnswer& answer, const std::string& api_version, policy::Delivery delivery) {
    policy::Observation seen;
    seen.etag = arm::etag_in_body(answer.body).value_or("");
    seen.api_version = api_version;
    auto kept = std::make_shared<policy::KeptBody>();
    kept->bytes = answer.body;
    seen.body = std::move(kept);
    seen.delivery = std::move(delivery);
    const auto same = std::find_if(states_.begin(), states_.end(), [&](const policy::StateBody& state) {
      return arm::same_writable_content(state.body, answer.body, facts_);
    });
    const uint64_t id = view_.record(std::move(seen), same == states_.end() ? std::nullopt : std::optional(same->version));
    if (same != states_.end())
      same->after_absence = true;
    else if (states_.size() < arm::kEvidenceStatesMax)
      states_.push_back({id, answer.body});
    return id;
  }

  const arm::BodyFacts& facts_;
  policy::View view_;
  std::vector<uint64_t> versions_;
  std::vector<policy::StateBody> states_;
  uint64_t absent_ = 0;
  uint64_t order_ = 0;
};

bool is_object(const std::string& text) { return arm::scan_string_member(text, "id").readable; }

std::string difference(const ShownAnswer& answer, const std::string& body, const arm::BodyFacts& facts) {
  const auto pointers = arm::changed_pointers(answer.body, body, facts, kPointersMax);
  if (pointers.empty()) return {};
  if (pointers.front().empty()) return "; they differ as a whole";
  return fmt::format("; they differ at {}", fmt::join(pointers, ", "));
}

std::string what_is_said(const ShownAnswer& answer, const std::string& body, arm::Evidence says, const arm::BodyFacts& facts) {
  if (answer.absent) return std::string(words_for(says));
  if (!is_object(answer.body)) return "no JSON object, so nothing is known of it; give the body of an answer without its head";
  return std::string(words_for(says)) + difference(answer, body, facts);
}

}  // namespace

std::vector<rules::Fact> explain_shown(const std::string& body, const std::vector<ShownAnswer>& shown, const rules::Plan& plan,
                                       policy::Actor actor) {
  if (!plan.guarded || plan.operation != arm::OperationKind::Put) {
    return {{"built from", "does not matter: only a full PUT of a guarded type is held to what its client was shown", {}}};
  }
  const ShownView all(shown, plan);
  policy::WriteFacts write;
  const std::string etag = policy::body_etag(plan, body);
  write.body_etag = etag;
  write.arrived = all.now();
  write.api_version = plan.target.api_version;
  write.actor = actor;
  write.evidence = all.weigh(body);
  const auto base = policy::decide_base(all.view(), write, {}, {});

  std::vector<rules::Fact> facts;
  if (!is_object(body)) facts.push_back({"body", "no JSON object, so nothing in it tells what it was built from", {}});
  std::string from = "none of them";
  for (size_t i = 0; i < shown.size(); ++i) {
    const uint64_t version = all.version_of(i);
    const auto found =
        std::find_if(write.evidence.begin(), write.evidence.end(), [&](const auto& e) { return e.version == version; });
    const auto says = found == write.evidence.end() ? arm::Evidence::Silent : found->says;
    facts.push_back({fmt::format("shown {}", i + 1),
                     fmt::format("{}: {}", shown[i].name, what_is_said(shown[i], body, says, all.facts())),
                     {}});
    if (base.version == version && base.version != 0) from = fmt::format("shown {}", i + 1);
  }
  facts.push_back(
      {"built from", fmt::format("{} (by {}): {}", from, policy::to_text(base.rule), consequence_of(base, plan)), {}});
  return facts;
}

}  // namespace armgate
