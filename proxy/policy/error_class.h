// error_class.h – what ARM's error answer means for the write that got it (docs/design.md, "Retries").
//
// Why: a status alone proves nothing. 409 is a passing conflict, a quota, a registration or a name that is taken; only the
// error table (rules/file/error_table.h) tells, and what it does not know passes through at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/http.h"
#include "arm/resource_id.h"
#include "base/time.h"
#include "rules/file/error_table.h"

namespace armgate::policy {

struct ErrorFacts {
  rules::ErrorClass kind = rules::ErrorClass::Final;
  std::string code;  // ARM's code, for the log
  // What ARM said of a conflict, for the log: its start, without the queries of URLs, which may be signed. Of an error that is
  // only passed on nothing is kept: what is wrong with a request may quote the request.
  std::string message;
  std::string operation_url;           // the URL of the running operation, if the message names it
  std::vector<arm::ResourceId> named;  // the first resources that the messages name, for Dependency and Propagation
  rules::Visibility visibility;        // for Propagation
  std::optional<Duration> come_back;   // Retry-After or the message's own hint
};

// Reads the complete answer to a write.
ErrorFacts classify_error(const rules::ErrorTable& table, const arm::ResponseHead& head, std::string_view body,
                          rules::OwnPrecondition own, WallTime now);

// Answers that do not tell whether a write took effect (observed: ServerTimeout with 503, GatewayTimeout, OperationTimedOut and
// internal errors). What is not implemented (501) has had none, nor what went in a circle (508, of an armgate on the way).
inline bool may_have_had_effect(int status) { return status == 408 || (status >= 500 && status != 501 && status != 508); }

}  // namespace armgate::policy
