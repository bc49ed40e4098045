#include "proxy/request/guard/patch_copy.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "arm/body/patch.h"
#include "proxy/request/guard/find_bases.h"
#include "proxy/request/read/remember.h"

namespace armgate {
namespace {

// Null where it cannot be told: then it is as if the body had not been kept.
policy::SharedBody part_of(const policy::SharedBody& state, std::optional<std::string> part) {
  return part ? policy::kept_body(*std::move(part), state->is_partial) : nullptr;
}

}  // namespace

void detect_patch_copy(Write& write) {
  const rules::Guard& guard = write.plan.rule->guard;
  const bool may_be_copy = rules::is_remembered(guard.kind) && guard.patches == rules::Patches::Compare;
  if (write.replaces || write.plan.operation != arm::OperationKind::Patch || !may_be_copy) return;
  find_bases(write);
  policy::Bases bases = std::exchange(write.bases, {});
  // A client that has read nothing says what it wants, however often it does.
  const bool has_bases = bases.rule != policy::BaseRule::OwnPrecondition && bases.rule != policy::BaseRule::Create;
  const std::string& patch = write.exchange.request.body;
  const bool is_readable = has_bases && bases.has_read && arm::can_be_read(patch);
  if (!is_readable) return;  // what cannot be read is ARM's to refuse
  const arm::BodyFacts& known = *body_facts(write.plan);
  decode_bodies(bases.possible, write.parts.shared.options.body_keep_max);
  // Of a state whose body is not known only maps and arrays can be copies. At another api-version names are the same for the
  // most part; whether anything moved is compared at that one.
  const auto is_copy = [&](const policy::BaseState& base) {
    return !base.absent && arm::may_be_copy(patch, base.body ? std::string_view(base.body->bytes) : "{}", known);
  };
  write.replaces = std::ranges::any_of(bases.possible, is_copy);
}

void keep_patched_part(const Write& write, policy::Bases& bases, policy::Right& right, std::string& there) {
  const std::string& patch = write.exchange.clients_body();
  const arm::BodyFacts& facts = *body_facts(write.plan);
  for (policy::BaseState& base : bases.possible) {
    if (!base.body) continue;
    const std::string& state = base.body->bytes;
    const bool as_a_whole = arm::takes_back(patch, state, there, facts);
    base.body = part_of(base.body, arm::patched_part(state, patch, facts, as_a_whole ? state : there));
  }
  const auto cut = [&](policy::SharedBody& body) {
    if (body) body = part_of(body, arm::patched_part(body->bytes, patch, facts));
  };
  cut(right.last_read.body);
  for (auto* states : {&right.newer, &right.superseded}) {
    for (policy::BaseState& state : *states) cut(state.body);
  }
  for (policy::Refusal& refusal : right.same_change) cut(refusal.found);
  there = arm::patched_part(there, patch, facts).value_or("");
}

}  // namespace armgate
