#include "proxy/observability/reason_words.h"

#include <algorithm>
#include <array>

namespace armgate {
namespace {

struct Row {
  std::string_view reason;
  ReasonWords told;
};

constexpr std::string_view kReadAgain = "read the resource again, apply the change to what it is now, and send that";
constexpr std::string_view kComeAgain = "send the same request again; SDKs do so by themselves";
constexpr std::string_view kLook =
    "read the resource through armgate, under the same client name, to see whether it ran; then decide";
constexpr std::string_view kMayRead = "let the identity that writes also read the resource";
constexpr std::string_view kLongerTimeout = "a longer timeout for the tool, or a shorter queue timeout for it in the rules";

constexpr std::array kRows = {
    // It waited or went again, and ARM has answered.
    Row{"waited-for-another-write", {"waited until the write before it had ended, its operation included", ""}},
    Row{"waited-for-its-share", {"waited for its client's part of what ARM takes of its principal", ""}},
    Row{"claimed-its-reservation", {"came back to the position in the queue that was kept for it", ""}},
    Row{"arm-was-busy", {"ARM was busy with the resource; waited, compared, and sent again", ""}},
    Row{"etag-moved-without-a-change", {"the ETag had moved without a change that matters; sent again with the fresh one", ""}},
    Row{"merged", {"others had changed something else; both changes were sent together", ""}},
    Row{"forced",
        {"refused before, and came again unchanged from a client that does not read; sent over what others changed", ""}},
    Row{"read-again-since-refusal", {"its client has read again since it was refused; sent with the fresh ETag", ""}},
    Row{"waited-for-a-read-that-is-up-to-date", {"waited until ARM's reads showed the last accepted write", ""}},
    Row{"waited-for-the-group-to-appear", {"waited until its new resource group was visible", ""}},
    Row{"waited-for-the-parent-to-appear", {"waited until the new resource that it lies in was visible", ""}},
    Row{"waited-for-a-reference-to-appear", {"waited until a new resource that it refers to was visible", ""}},
    Row{"waited-for-the-principal-to-appear", {"waited until a new principal was visible", ""}},
    Row{"waited-for-the-role-to-hold", {"waited until a new role assignment held", ""}},
    Row{"waited-until-reads-show-it", {"its answer was held back until reads show what it made", ""}},
    // Behind an operation URL of armgate's own.
    Row{"own-operation-url", {"ARM took it; should its operation fail for a passing reason, it is sent again", ""}},
    Row{"operation-sent-again", {"its operation failed for a passing reason; it is being sent again", ""}},
    Row{"own-operation-followed", {"ARM does not tell yet how the operation goes", ""}},
    Row{"last-word", {"ARM does not know the operation any more; this is what it said last", ""}},
    // Refused as stale.
    Row{"stale", {"refused: somebody else has changed the resource since it was read", kReadAgain}},
    Row{"conflict", {"refused: somebody else has changed the very same", kReadAgain}},
    Row{"changed-while-busy", {"refused: another operation of ARM has changed the resource meanwhile", kReadAgain}},
    Row{"merge-refused", {"ARM does not take it together with others' changes", kReadAgain}},
    Row{"unconditional-after-another-write",
        {"refused: built on nothing that armgate has seen, and another write was accepted", kReadAgain}},
    Row{"unconditional-after-conflict",
        {"refused: built on nothing that armgate has seen, and ARM was busy with another operation", kReadAgain}},
    Row{"created-meanwhile", {"refused: its client was told that there is no such resource, and now there is", kReadAgain}},
    // Kept from a sick resource.
    Row{"resource-sick",
        {"refused: the resource's operations keep failing",
         "repair or delete the resource; armgate sick and armgate blame tell more"}},
    // Told to come again.
    Row{"budget-used-up",
        {"what ARM takes of its principal is used up, and its share did not come in time",
         "fewer requests, or more than one principal; armgate status tells who waits"}},
    Row{"waited-too-long",
        {"told to come again: it waited as long as its client can", "find who holds it; its position in the queue is kept"}},
    Row{"kept-for-a-run",
        {"told to come again: the resource is kept for a run of another client",
         "wait for the run's end; its position is kept"}},
    Row{"queue-full", {"told to come again: too many writes wait already", "find out who sends so many"}},
    Row{"still-running", {"told to come again: an earlier sending of the same request is still under way", kComeAgain}},
    Row{"verify-failed", {"not sent: the resource could not be read before it", kMayRead}},
    Row{"armgate-ends", {"told to come again: the service was told to end", kComeAgain}},
    Row{"journal-unavailable",
        {"not sent: it could not be recorded in the journal", "make room on the journal's disk; the log says why"}},
    Row{"cluster-unavailable",
        {"not sent, or not shown: it could not be recorded in the cluster's engine",
         "see why it does not answer; the log says more"}},
    Row{"sent-without-a-record",
        {"sent on its client's own precondition alone, as the cluster's engine could not record it",
         "see why it does not answer; the log says more"}},
    Row{"same-request-elsewhere", {"told to come again: another replica answers the same request", kComeAgain}},
    Row{"client-left-the-queue", {"its client left while it queued; it was not sent", kLongerTimeout}},
    Row{"client-left-while-waiting", {"its client left between two sendings", kLongerTimeout}},
    Row{"client-left-before-sending", {"its client left before it was sent", kLongerTimeout}},
    Row{"client-left-before-the-answer", {"its client left before ARM began to answer", kLongerTimeout}},
    Row{"client-left-while-verifying", {"its client left while the resource was read; it was not sent", kLongerTimeout}},
    // Lost answers.
    Row{"answer-recovered-by-reading", {"ARM's answer was lost; a look shows that the write took effect", ""}},
    Row{"answer-lost-state-unmoved", {"ARM's answer was lost, and nothing had come of it; sent again", ""}},
    Row{"answered-an-earlier-sending", {"the same request came twice and ran once; this is its answer", ""}},
    Row{"answered-as-recorded",
        {"the same request ran before; this is what is recorded of its answer, and what is there now", ""}},
    Row{"recorded-operation-failed",
        {"not sent: the same request ran before, and what it began has failed",
         "to try once more, give it another Repeatability-Request-ID"}},
    Row{"recorded-answer-not-at-hand", {"not sent: the same request was accepted before, and its answer is not kept", kLook}},
    Row{"first-sent-before-memory", {"not sent: it may have been carried out before all that armgate remembers", kLook}},
    Row{"first-sent-ahead", {"not sent: by its own date it was not sent yet", "set the clocks, the client's and armgate's"}},
    Row{"repeatability-id-of-another-request",
        {"not sent: its Repeatability-Request-ID is that of another request", "give each request an id of its own"}},
    Row{"bad-repeatability",
        {"not sent: its Repeatability headers cannot be read", "send both as the message says, or neither"}},
    Row{"answer-lost-state-moved", {"ARM's answer was lost, and the resource has changed: it may have run", kLook}},
    Row{"outcome-unknown", {"ARM's answer was lost, and nothing shows whether it ran", kLook}},
    Row{"still-in-doubt", {"not sent: it is not known yet whether its earlier sending ran", kLook}},
    Row{"sent-again-after-doubt-expired", {"sent again long after an answer was lost", "see whether it ran twice"}},
    Row{"upstream-failure",
        {"ARM could not be reached, or its answer broke off", "see whether the service reaches ARM: armgate doctor"}},
    // ARM's refusals that are passed on.
    Row{"busy", {"ARM was busy; an action is never repeated", "wait for the operation that runs, then send it again"}},
    Row{"busy-too-long",
        {"ARM stayed busy for longer than the rule allows", "see what keeps ARM busy, or raise retry.busy in the rule"}},
    Row{"busy-and-unreadable", {"ARM was busy, and the resource could not be read afterwards", kMayRead}},
    Row{"dependency-failed", {"the operation on a resource that it refers to has failed", "mend that resource first"}},
    Row{"superseded", {"ARM says that a later write took its place", "read, and see whether the later write is what you want"}},
    Row{"ambiguous-target",
        {"not sent: its path could name two resources", "spell each name plainly: no encoded slash, no double encoding"}},
};

}  // namespace

ReasonWords words_of(std::string_view reason) {
  const auto* const found = std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) { return row.reason == reason; });
  return found == kRows.end() ? ReasonWords{} : found->told;
}

}  // namespace armgate
