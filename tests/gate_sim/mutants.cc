#include "tests/gate_sim/mutants.h"

#include <algorithm>

#include "tests/support/active_mutant.h"

namespace armgate::world {

const std::vector<MutantCase>& mutants() {
  static const std::vector<MutantCase> all{
      {Mutant::OneCacheForAll, "one-cache-for-all", "", {}, 100},
      {Mutant::NewestVersionAlways, "newest-version-always", "tags", {}, 500},
      {Mutant::BaseChosenAfterWait, "base-chosen-after-wait", "tags", {}, 500},
      {Mutant::DeletedEtagsCount, "deleted-etags-count", "create-delete", {}, 2000},
      {Mutant::ApiVersionsMixed, "shapes-mixed", "hidden-versions", {"clock-jumps", "expiring-tokens"}, 500},
      {Mutant::UnconditionalAlwaysSent, "unconditional-always-sent", "create-race", {}, 500},
      {Mutant::FreshEtagAfterBusy, "fresh-etag-after-busy", "", {"writers-around"}, 2000},
      {Mutant::UnconditionalReplayAfter412, "unconditional-replay-after-412", "", {}, 100},
      {Mutant::FalseAlarmIgnoresLeaf, "false-alarm-ignores-leaf", "", {}, 100},
      {Mutant::UnchangedVouches, "unchanged-vouches", "many-counters", {"none"}, 100},
      {Mutant::OwnReadsForgotten, "own-reads-forgotten", "create-delete", {"late-unguarded", "leaving-clients"}, 1000},
      {Mutant::LostIsOver, "lost-is-over", "tags-beside", {"late-unguarded", "no-etags", "leaving-clients"}, 500},
      {Mutant::ForeignStateClaimed, "foreign-state-claimed", "late-counters", {"lossy"}, 500},
      {Mutant::LostPutTakenForDone, "lost-put-taken-for-done", "", {"lossy"}, 500},
      {Mutant::PostSentAgain, "post-sent-again", "restarts", {"lossy"}, 100},
      {Mutant::LockReleasedAtAnswer, "lock-released-at-answer", "", {}, 100},
      {Mutant::ParentNotLocked, "parent-not-locked", "subnets", {}, 100},
      {Mutant::LastComeFirstServed, "last-come-first-served", "", {}, 500},
      {Mutant::GrantLostOnCancel, "grant-lost-on-cancel", "", {"leaving-clients"}, 500},
      {Mutant::ReservationIgnored, "reservation-ignored", "", {"short-waits"}, 500},
      {Mutant::LeaverIsSent, "leaver-is-sent", "", {"leaving-clients"}, 500},
      {Mutant::LiveWritersJoined, "live-writers-joined", "hidden-counters", {}, 500},
      {Mutant::IdsIgnoredInJoin, "ids-ignored-in-join", "", {}, 3000},
      {Mutant::DeliveredIsForgotten, "delivered-is-forgotten", "named-restarts", {"none"}, 100},
      {Mutant::RepeatsNotTakenUp, "repeats-not-taken-up", "named-restarts", {"crash-with-journal"}, 100},
      {Mutant::RepeatedWhateverCame, "repeated-whatever-came", "once-restarts", {"none"}, 100},
      {Mutant::PollErrorLeaksLease, "poll-error-leaks-lease", "", {"lossy"}, 500},
      {Mutant::JournalNotTakenUp, "journal-not-taken-up", "", {"crash-with-journal", "long-operations"}, 100},
      {Mutant::AbortTakenForEnd, "cut-off-taken-for-ended", "", {"drain-with-journal", "slow-arm"}, 500},
      {Mutant::ReadWaits, "read-waits", "", {}, 10},
      {Mutant::AnswerAltered, "answer-altered", "", {}, 100},
      {Mutant::BreakerLetsAll, "breaker-lets-all", "sick-controllers", {"none"}, 100},
      {Mutant::ProbesUnbounded, "probes-unbounded", "sick-controllers", {"none"}, 100},
      {Mutant::SickForEver, "sick-for-ever", "sick-set", {"none"}, 100},
      {Mutant::BreakerStopsDeletes, "breaker-stops-deletes", "sick-set", {"none"}, 100},
      {Mutant::RefusalsMakeSick, "refusals-make-sick", "sick-set", {"throttling"}, 100},
      {Mutant::PartialEffectIgnored, "partial-effect-ignored", "late-failures", {"none"}, 100},
      {Mutant::FirstOperationTold, "first-operation-told", "late-failures", {"none"}, 100},
      {Mutant::OwnLeaseGivenUp, "own-lease-given-up", "late-failures", {"none"}, 100},
      {Mutant::OwnQuestionsFirst, "own-questions-first", "budgets", {"none"}, 100},
      {Mutant::RefusalsShared, "refusals-shared", "fair-budgets", {"throttling"}, 100},
      {Mutant::LongestWaiterFirst, "longest-waiter-first", "fair-budgets", {"none"}, 100},
      {Mutant::LowForEver, "low-for-ever", "fair-budgets", {"none"}, 100},
      {Mutant::OwnRulesAlone, "own-rules-alone", "tags", {"differing-rules"}, 60},
      {Mutant::LedElsewhereIgnored, "led-elsewhere-ignored", "late-failures", {"replicas"}, 60},
      {Mutant::DeadHoldNothing, "dead-hold-nothing", "readers", {"dying-replicas"}, 100},
      {Mutant::ReadNotAwaited, "read-not-awaited", "quick-counters", {"slow-engine"}, 60},
      {Mutant::AnswerNotAwaited, "answer-not-awaited", "once-restarts", {"slow-engine"}, 60},
      {Mutant::IntentUnfenced, "intent-unfenced", "readers", {"dying-replicas"}, 30},
      {Mutant::BodiesKnownByUrl, "bodies-known-by-url", "take-back-beside", {"replicas"}, 60},
      {Mutant::AnyPassesUnrecorded, "any-passes-unrecorded", "tags", {"engine-away-fenced"}, 60},
      {Mutant::UnrecordedUntold, "unrecorded-untold", "tags", {"engine-away-fenced"}, 60},
      {Mutant::PerhapsDeadSends, "perhaps-dead-sends", "clusters", {"frozen-replicas"}, 100},
      {Mutant::OthersNotMet, "others-not-met", "quick-counters", {"slow-engine"}, 60},
      {Mutant::RetryWithoutWriting, "retry-without-writing", "once-restarts", {"engine-fails-over"}, 100},
      {Mutant::EngineLosesTail, "engine-loses-tail", "once-restarts", {"engine-fails-over"}, 60},
      // What is put together wrongly; arm/body/merge's own tests notice all of these, too.
      {Mutant::MergeDropsRemoval, "merge-drops-removal", "edited-rules", {}, 500},
      {Mutant::MergeResurrectsElement, "merge-resurrects-element", "edited-rules", {}, 500},
      {Mutant::MergeAgreesOnValues, "merge-agrees-on-values", "tags-and-counter", {}, 500},
      {Mutant::MergeReordersElements, "merge-reorders-elements", "edited-rules", {}, 500},
      {Mutant::MergeSendsReadOnly, "merge-sends-read-only", "edited-rules", {}, 500},
      {Mutant::MergeLosesSecret, "merge-loses-secret", "secrets", {}, 500},
      {Mutant::MergeBaseGuessed, "merge-base-guessed", "hidden-merges", {}, 2000},
      {Mutant::MergesAreKnown, "merges-are-known", "kept-objects", {}, 500},
      // Two at least for each law of getting through; those are kept in kind worlds (liveness_worlds_test.cc).
      {Mutant::EverybodyIsMany, "everybody-is-many", "lone-autoscaler", {"none"}, 100, Liveness::Forbidden},
      {Mutant::MovedEtagIsStale, "moved-etag-is-stale", "parallel-rules", {"none"}, 100, Liveness::Forbidden},
      {Mutant::RefusalMarksState, "refusal-marks-state", "lone-take-back", {"none"}, 100, Liveness::Forbidden},
      {Mutant::RepetitionMeansNothing, "repetition-means-nothing", "lone-take-back", {"none"}, 100, Liveness::Forbidden},
      {Mutant::NoRightAfterRefusal, "no-right-after-refusal", "take-back-beside", {"none"}, 100, Liveness::Forbidden},
      {Mutant::NoTurns, "no-turns", "quick-counters", {"none"}, 100, Liveness::Forbidden},
      {Mutant::TurnsWaitInLine, "turns-wait-in-line", "quick-counters", {"none"}, 100, Liveness::Forbidden},
  };
  return all;
}

const MutantCase* find_mutant(std::string_view name) {
  const auto& all = mutants();
  const auto it = std::find_if(all.begin(), all.end(), [&](const MutantCase& m) { return m.name == name; });
  return it == all.end() ? nullptr : &*it;
}

Catch hunt(const MutantCase& mutant) {
  set_mutant(mutant.mutant);
  Catch caught;
  Scenario scenario;
  scenario.workload = mutant.workload;
  scenario.disturbances = mutant.disturbances;
  scenario.liveness = mutant.liveness;
  for (uint64_t seed = 1; seed <= mutant.seeds_max && caught.seeds == 0; ++seed) {
    scenario.seed = seed;
    const RunResult result = run_scenario(scenario);
    if (result.violations.empty()) continue;
    caught.seeds = seed;
    caught.promise = result.violations.front().promise;
    for (const Violation& violation : result.violations) caught.promises.insert(violation.promise);
  }
  set_mutant(Mutant::None);
  return caught;
}

}  // namespace armgate::world
