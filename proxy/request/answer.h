// answer.h – where the decisions of the pipeline become HTTP (promise P5, docs/design.md). What never reaches it, because it
// cannot be read as a request, is answered by proxy/net/client/refusal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/arm_error.h"
#include "arm/http.h"
#include "base/result.h"
#include "proxy/request/exchange.h"
#include "proxy/seams/client_link.h"

namespace armgate {

// An answer in ARM's error shape. `retry_after` only where waiting helps.
arm::Response make_error(int status, std::string_view code, std::string_view message,
                         std::optional<Duration> retry_after = std::nullopt, const std::vector<arm::ErrorDetail>& details = {});

// Why somebody is busy who has not been answered yet.
inline constexpr std::string_view kClientLeft = "The client closed its side while the request waited.";
inline constexpr std::string_view kClosing = "armgate is about to end, and this request was still waiting.";

// The refusals that armgate makes itself. 412: ArmgateStaleWrite, ArmgateConflict.
arm::Response make_stale(std::string_view code, std::string_view why, const std::vector<std::string>& changed);
// 412 ArmgateResourceSick: not 409, which go-autorest sends again at once, and not 503, which every client does.
arm::Response make_sick(std::string_view resource, std::string_view why, Duration probe_every);
// The Retry-After for a client that would have to wait for `asked`: at least `least`, and at most what SDKs still obey
// (docs/arm.md, "Clients": azcore gives up beyond it).
Duration come_again(Duration least, Duration asked);
// 503 ArmgateBusy.
enum class Tried { No, WithoutEffect };
arm::Response make_busy(std::string_view why, Duration retry_after, Tried tried = Tried::No);
arm::Response make_still_running(Duration retry_after);                               // 503 ArmgateBusy
arm::Response make_kept(Duration retry_after);                                        // 503 ArmgateBusy
arm::Response make_outcome_unknown(std::string_view resource, std::string_view why);  // 409 ArmgateOutcomeUnknown
// To a request that was carried out before, with that status. 409 ArmgateOutcomeUnknown; 409 ArmgateOperationFailed: what it
// began has.
arm::Response make_answer_not_kept(std::string_view resource, int status);
arm::Response make_operation_failed(std::string_view resource, int status, std::string_view how, const arm::ErrorCodes& error);
// 502 ArmgateUpstreamUnreachable, 504 ArmgateUpstreamTimeout or 502 ArmgateUpstreamBroken; 503 ArmgateBusy where waiting helps.
arm::Response make_upstream_failure(const Error& error, Duration retry_after);

// Adds what was done to the answer as x-armgate-* fields.
void explain(arm::ResponseHead& head, const Report& report);

// Takes such fields off an answer that is given again: what was done to another request is not said of this one.
void unexplain(arm::ResponseHead& head);

// Writes a whole answer. True if every byte was written.
Task<bool> write_answer(Exchange& exchange, ClientLink& client, const arm::Response& answer);

}  // namespace armgate
