#include "proxy/policy/late_failure.h"

#include "arm/arm_error.h"
#include "arm/body/content.h"
#include "arm/long_running.h"
#include "arm/throttle.h"
#include "base/mutant.h"
#include "proxy/policy/backoff.h"

namespace armgate::policy {

LateFailure classify_late_failure(const rules::ErrorTable& table, std::string_view body) {
  LateFailure failure;
  const auto error = arm::parse_error(body);
  const rules::ErrorRule* rule = error ? table.find_late(*error) : nullptr;
  if (rule == nullptr) return failure;
  failure.kind = rule->kind;
  failure.come_back = arm::retry_hint_in_message(error->message);
  return failure;
}

std::optional<Duration> pause_before_next(const LateFailure& failure, const SentSoFar& so_far, const rules::LateRetry& rule,
                                          Rng& rng) {
  if (failure.kind == rules::ErrorClass::Final) return std::nullopt;
  if (failure.kind == rules::ErrorClass::Superseded && so_far.superseded > 0) return std::nullopt;
  return next_delay(rule.backoff, so_far.sendings + 1, so_far.spent, failure.come_back, rng);
}

bool is_base_still(const BaseState& base, const SeenBody& there, const arm::BodyFacts& facts) {
  if (base.absent || there.absent) return base.absent && there.absent;
  const auto state = arm::provisioning_state(there.json);
  const bool settled = !state || arm::is_terminal(arm::progress_of_word(*state));
  if (!settled || !base.body || base.is_partial) return false;
  if (is_mutant(Mutant::PartialEffectIgnored)) return true;
  return arm::same_writable_content(base.body->bytes, there.json, facts);
}

}  // namespace armgate::policy
