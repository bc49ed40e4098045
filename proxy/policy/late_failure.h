// late_failure.h – what becomes of a write that ARM took and whose operation has failed since (docs/decisions/0016).
//
// Why: such a failure may be as passing as one that ARM tells at once, but nothing proves that it had no effect, and its client
// has been told 201 already. So it goes again only if the code says that it was refused for the moment, and what is there is
// what it was built from. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "arm/body/body_facts.h"
#include "base/rng.h"
#include "base/time.h"
#include "proxy/policy/bases.h"
#include "rules/file/error_table.h"
#include "rules/rule.h"

namespace armgate::policy {

struct LateFailure {
  rules::ErrorClass kind = rules::ErrorClass::Final;
  std::optional<Duration> come_back;  // the message's own hint
};

// Reads what a poll of the operation was told at its end.
LateFailure classify_late_failure(const rules::ErrorTable& table, std::string_view body);

// Its sendings so far.
struct SentSoFar {
  int sendings = 1;
  int superseded = 0;  // times somebody's later write took its place
  Duration spent{};    // since ARM took the first one
};

// After what pause it may go again; nothing: it may not.
std::optional<Duration> pause_before_next(const LateFailure& failure, const SentSoFar& so_far, const rules::LateRetry& rule,
                                          Rng& rng);

// What was read under the lease, at the base's api-version.
struct SeenBody {
  bool absent = false;
  std::string_view json;
};

// Whether that is what the write was built from, and in a final state: then its operation has left nothing behind.
bool is_base_still(const BaseState& base, const SeenBody& there, const arm::BodyFacts& facts);

}  // namespace armgate::policy
