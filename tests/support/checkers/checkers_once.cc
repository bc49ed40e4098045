// What is asked for once is carried out once, and told again only while it still holds (docs/design.md, "Once means once").
#include <algorithm>

#include "tests/support/checkers/checkers.h"

namespace armgate::world {

// ARM carries it out.
void Checkers::check_once(const Record& record) {
  if (record.name.empty() || promised_.mode == rules::Mode::Observe) return;
  if (!names_carried_out_.insert(record.name).second) violated("once", record.what + " was carried out twice under one name");
}

// Its client got the answer of an earlier request: without a name only if nobody's write was accepted between that answer and this
// request. One whose answer did not arrive is judged elsewhere.
void Checkers::check_repeated(const Record& record) {
  if (!record.name.empty() || record.has_id) return;
  const Record* first = nullptr;
  for (const auto& [id, other] : records_) {
    const bool is_earlier = id != record.id && other.same_bytes == record.same_bytes && other.served <= record.served;
    if (is_earlier && !other.delivered) return;  // it may be the answer of that one that it gets
    if (is_earlier && other.took_effect) first = &other;
  }
  const bool had_answer =
      first != nullptr && first->delivered && !first->left && first->answered && *first->answered < record.served;
  if (!had_answer) return;
  const bool overtaken = std::any_of(records_.begin(), records_.end(), [&](const auto& entry) {
    const Record& other = entry.second;
    const bool accepted =
        other.took_effect && other.answered && other.last_answer && arm::is_success(other.last_answer->head.status);
    return accepted && other.entity == first->entity && *other.took_effect > *first->answered &&
           *other.answered < record.served;
  });
  if (overtaken) violated("once", record.what + " was answered as carried out before, and somebody has written since");
}

// Whether the answer is ARM's to the same request, where that is one by a rule or as its client is one actor.
bool Checkers::may_be_told_again(const Record& record, const arm::Response& answer) const {
  const auto plan = rules::make_plan(*record.rules, rules::Mode::Protect, record.method, record.target);
  const bool by_rule = plan && plan->rule && plan->rule->once.window > Duration::zero();
  const auto kind = promised_.kinds.find(record.sent_as);
  const bool one_actor =
      kind != promised_.kinds.end() && kind->second == ClientKind::Single && record.method == arm::Method::Put;
  if (!by_rule && !one_actor) return false;
  return std::ranges::any_of(by_bytes_.at(record.same_bytes), [&](const Record* other) {
    return other->id != record.id && other->last_answer && is_the_same(answer, *other->last_answer);
  });
}

}  // namespace armgate::world
