// error_class.h – what ARM's error answer means for the request that got it (DESIGN §6).
//
// Why: a status alone proves nothing. 409 is a passing conflict, a quota, a registration or a name that is taken; only the
// code tells, and what is not known passes through at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "arm/arm_error.h"
#include "arm/http.h"
#include "base/time.h"

namespace armgate::policy {

enum class ErrorClass {
  None,           // not an error, or one that armgate has no opinion about: the client's business
  Stale,          // 412: a precondition failed
  Busy,           // refused before effect because another operation runs on the entity
  GroupNotFound,  // ARM does not see the resource group (yet)
};

struct ErrorFacts {
  ErrorClass kind = ErrorClass::None;
  std::string code;            // ARM's code, for the log
  std::string operation_url;   // the URL of the running operation, if the message names it
  std::optional<Duration> come_back;  // Retry-After or the message's own hint
};

// Reads the complete answer to a write.
ErrorFacts classify_error(const arm::ResponseHead& head, std::string_view body, WallTime now);

}  // namespace armgate::policy
