#include "proxy/request/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/sixteen_bytes.h"

namespace armgate {
namespace {

constexpr Duration kComeAgainMax = std::chrono::seconds(60);

// Field values are one line of printable ASCII; names in ids may be anything.
void set_text(arm::ResponseHead& head, std::string_view name, std::string_view text) {
  if (sixteen_bytes::has_none(text, sixteen_bytes::not_printable)) return head.fields.set(name, text);
  std::string printable(text);
  std::replace_if(
      printable.begin(), printable.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  head.fields.set(name, printable);
}

}  // namespace

arm::Response make_error(int status, std::string_view code, std::string_view message, std::optional<Duration> retry_after,
                         const std::vector<arm::ErrorDetail>& details) {
  arm::Response answer;
  answer.head.status = status;
  answer.body = arm::error_body(code, message, {}, details);
  answer.head.fields.add("Content-Type", "application/json; charset=utf-8");
  if (retry_after) {
    const auto seconds = std::max<int64_t>(1, std::chrono::ceil<std::chrono::seconds>(*retry_after).count());
    answer.head.fields.add("Retry-After", std::to_string(seconds));
  }
  return answer;
}

arm::Response make_stale(std::string_view code, std::string_view why, const std::vector<std::string>& changed) {
  std::vector<arm::ErrorDetail> details;
  details.reserve(changed.size());
  for (const auto& pointer : changed) {
    details.push_back({"ArmgateChangedMember", "This member changed since the state the request was built from.", pointer});
  }
  return make_error(412, code, fmt::format("{} Read the resource again, apply the change to what it is now, and send it.", why),
                    std::nullopt, details);
}

arm::Response make_sick(std::string_view resource, std::string_view why, Duration probe_every) {
  return make_error(
      412, "ArmgateResourceSick",
      fmt::format(
          "{} is sick: {}. Nothing was sent. One write goes each {} s, to see whether that is over; a DELETE goes, reads and "
          "\"abort\" do, and so does another write than those that failed while the resource is in state Failed. "
          "\"armgate sick\" shows all such resources.",
          resource, why, std::chrono::duration_cast<std::chrono::seconds>(probe_every).count()));
}

Duration come_again(Duration least, Duration asked) { return std::clamp(asked, least, std::max(least, kComeAgainMax)); }

arm::Response make_busy(std::string_view why, Duration retry_after, Tried tried) {
  const std::string_view so_far = tried == Tried::No ? "Nothing was sent" : "What was sent had no effect";
  return make_error(503, "ArmgateBusy", fmt::format("{} {}; send the same request again.", why, so_far), retry_after);
}

arm::Response make_still_running(Duration retry_after) {
  return make_error(503, "ArmgateBusy",
                    "The same request, sent earlier, is still being carried out. Send it again to get its answer.",
                    retry_after);
}

arm::Response make_kept(Duration retry_after) {
  return make_error(
      503, "ArmgateBusy",
      "ARM has taken the request. Its answer is kept until the cluster's engine has recorded it; send the same request "
      "again to get it.",
      retry_after);
}

arm::Response make_outcome_unknown(std::string_view resource, std::string_view why) {
  return make_error(409, "ArmgateOutcomeUnknown",
                    fmt::format("{} Whether the request took effect is not known, and it is not sent again. Read {} through "
                                "armgate, under the same client name, to see, then decide.",
                                why, resource));
}

arm::Response make_answer_not_kept(std::string_view resource, int status) {
  return make_error(
      409, "ArmgateOutcomeUnknown",
      fmt::format("ARM accepted this very request before, with status {}. What its answer said is not kept, and it "
                  "is not sent again. Read {} to see what came of it, then decide.",
                  status, resource));
}

arm::Response make_operation_failed(std::string_view resource, int status, std::string_view how, const arm::ErrorCodes& error) {
  std::string codes = error.code.empty() ? "without an error code" : "with " + error.code;
  if (!error.message.empty()) codes += " (" + error.message + ")";
  return make_error(
      409, "ArmgateOperationFailed",
      fmt::format("ARM accepted this very request before, with status {}, and its operation has ended as {} {}. It is "
                  "not sent again. Read {}; to try once more, send it under a new Repeatability-Request-ID.",
                  status, how, codes, resource));
}

arm::Response make_upstream_failure(const Error& error, Duration retry_after) {
  if (error.kind == ErrorKind::Busy) return make_busy(error.context + ".", retry_after);
  if (error.sent == Sent::No) {
    return make_error(502, "ArmgateUpstreamUnreachable", fmt::format("No request was sent: {}.", error.context));
  }
  if (error.kind == ErrorKind::TimedOut) {
    return make_error(504, "ArmgateUpstreamTimeout", fmt::format("ARM did not answer in time: {}.", error.context));
  }
  const bool is_unreadable = error.kind == ErrorKind::BadInput || error.kind == ErrorKind::TooLarge;
  return make_error(
      502, "ArmgateUpstreamBroken",
      fmt::format("ARM's answer {}: {}.", is_unreadable ? "cannot be read" : "did not arrive whole", error.context));
}

void explain(arm::ResponseHead& head, const Report& report) {
  head.fields.set("x-armgate-waited-ms", std::to_string(whole_milliseconds(report.waited)));
  head.fields.set("x-armgate-attempts", std::to_string(report.attempts));
  if (report.locks.size() == 1) set_text(head, "x-armgate-locks", report.locks.front());
  if (report.locks.size() > 1) set_text(head, "x-armgate-locks", fmt::format("{}", fmt::join(report.locks, ", ")));
  if (!report.guard.empty()) set_text(head, "x-armgate-guard", report.guard);
  if (report.merged.count > 0) head.fields.set("x-armgate-merged", std::to_string(report.merged.count));
  if (!report.repeatability.empty()) head.fields.set("Repeatability-Result", report.repeatability);
  if (report.replayed) head.fields.set("x-armgate-replayed", "true");
  if (!report.reason.empty()) set_text(head, "x-armgate-reason", report.reason);
}

void unexplain(arm::ResponseHead& head) {
  for (const char* field : {"x-armgate-waited-ms", "x-armgate-attempts", "x-armgate-locks", "x-armgate-guard",
                            "x-armgate-merged", "x-armgate-reason", "x-armgate-replayed"}) {
    head.fields.remove(field);
  }
}

Task<bool> write_answer(Exchange& exchange, ClientLink& client, const arm::Response& answer) {
  exchange.status = answer.head.status;
  const bool has_content = answer.head.status != 204 && answer.head.status != 304;
  BodyLength length;
  if (has_content) length = {BodyLength::Kind::Known, answer.body.size()};
  if (!co_await client.write_head(answer.head, length)) co_return false;
  if (has_content && !answer.body.empty()) {
    if (!co_await client.write_body(answer.body)) co_return false;
  }
  const auto end = co_await client.finish();
  exchange.delivered = end.ok();
  co_return end.ok();
}

}  // namespace armgate
