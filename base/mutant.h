// mutant.h – deliberate defects, one at a time, that the simulation must notice (docs/simulation.md).
//
// Why: a checker that never fires proves nothing. Each mutant is a short cut that looks right and breaks a promise; the suite
// shows within how many seeds it is caught.
//
// Only the copies of those files that the simulation links are compiled with ARMGATE_MUTANTS. In the program that users run
// is_mutant() is the constant false, and nothing of a mutant is left in it.
#pragma once

namespace armgate {

enum class Mutant {
  None,
  OneCacheForAll,               // all clients share what they were shown
  NewestVersionAlways,          // the base is what was delivered last, whoever got it
  BaseChosenAfterWait,          // and it is looked up when the lock is granted
  DeletedEtagsCount,            // an ETag survives the resource it belonged to
  ApiVersionsMixed,             // what was shown at another api-version is as good as at the write's own
  UnconditionalAlwaysSent,      // the rule for unconditional writes is not applied
  FreshEtagAfterBusy,           // after a conflict the write goes with the ETag of now
  UnconditionalReplayAfter412,  // a stale write is sent again without its precondition
  FalseAlarmIgnoresLeaf,        // one changed member is no change
  UnchangedVouches,             // a state that several actors' write leaves as it is shows that it knows of it
  OwnReadsForgotten,            // what armgate's own reads have shown says nothing against a create
  LostIsOver,                   // a write whose answer was lost is over when its resource is in a final state
  ForeignStateClaimed,          // a state that somebody else asked for is taken for one's own
  LostPutTakenForDone,          // a lost answer is taken for a good one
  PostSentAgain,                // a POST goes again after its answer was lost
  LockReleasedAtAnswer,         // an operation that still runs holds nothing
  ParentNotLocked,              // a write locks itself alone
  LastComeFirstServed,          // the queue is a stack
  GrantLostOnCancel,            // who is away when it is granted takes the grant along
  ReservationIgnored,           // who comes back stands at the end again
  LeaverIsSent,                 // whoever left the queue is sent all the same
  LiveWritersJoined,            // the same bytes without an id are the same write, though the first one's sender still listens
  IdsIgnoredInJoin,             // two request ids are one request
  DeliveredIsForgotten,         // what is to be given again is carried out again
  RepeatsNotTakenUp,            // what an earlier process had answered is carried out again
  RepeatedWhateverCame,         // it is given again although something else was accepted meanwhile
  PollErrorLeaksLease,          // a failed poll ends the watch, not the operation lease
  JournalNotTakenUp,            // what an earlier process left behind holds nothing
  AbortTakenForEnd,             // a resource in a final state shows that a write which was on its way will not come any more
  ReadWaits,                    // reads stand in line too
  AnswerAltered,                // a field of ARM's answer is lost
  BreakerLetsAll,               // what is sick is written to as often as before
  ProbesUnbounded,              // each write to a sick resource is the probe
  SickForEver,                  // a success does not make a resource well
  BreakerStopsDeletes,          // a DELETE of a sick resource is refused too
  RefusalsMakeSick,             // what ARM refused before it took it counts as a failed operation
  PartialEffectIgnored,         // a write goes again after its operation failed, whatever is there
  FirstOperationTold,           // a client whose operation was sent twice is told how the first one ended
  OwnLeaseGivenUp,              // others come in between the two
  OwnQuestionsFirst,            // armgate goes on asking for itself although ARM has answered 429
  RefusalsShared,               // of those who share a budget, only who was told 429 waits
  LongestWaiterFirst,           // whoever came first goes first, however often its client went already
  LowForEver,                   // what was used up once is used up
  // Of several processes that serve as one.
  OwnRulesAlone,        // each goes by its own rules, whatever the others go by
  LedElsewhereIgnored,  // through another replica than its own a client is told the failure of what is sent again
  DeadHoldNothing,      // what a dead one had sent holds no keys
  ReadNotAwaited,       // what was read is delivered before the others can know
  AnswerNotAwaited,     // so is the answer to a write
  IntentUnfenced,       // a write is sent that does not stand in the log
  BodiesKnownByUrl,     // a body that is shown again is taken for what was shown last at its URL
  AnyPassesUnrecorded,  // writes without a precondition of their own pass, too, while nothing can be recorded
  UnrecordedUntold,     // what passed so is not told when the engine is back
  PerhapsDeadSends,     // one sends although the others may have found it dead
  OthersNotMet,         // a write is looked at before it is known what others told
  RetryWithoutWriting,  // of the engine: what is there already is confirmed although no standby has it
  EngineLosesTail,      // of the engine: what it acknowledged is not there after a failover
  // Of merging (arm/body/merge*.cc).
  MergeDropsRemoval,       // what the write removes stays
  MergeResurrectsElement,  // what others removed comes back with a write that still has it
  MergeAgreesOnValues,     // two that set the same value have agreed: both count, once
  MergeReordersElements,   // new elements come first
  MergeSendsReadOnly,      // the write's own copy of what the service writes goes along
  MergeLosesSecret,        // that a secret is not shown says nothing against writing without it
  MergeBaseGuessed,        // of several possible bases the newest one's merge is taken
  MergesAreKnown,          // a client is taken to know what was merged into its last write
  // Of getting through: nothing is lost by them.
  EverybodyIsMany,         // who is not declared is taken for several actors
  MovedEtagIsStale,        // ARM's 412 is the end, whatever moved the ETag
  RefusalMarksState,       // what was refused on a state is refused on it for ever
  RepetitionMeansNothing,  // a value that is taken back again and again looks stale again and again
  NoRightAfterRefusal,     // who was refused and has read again is as everybody else
  NoTurns,                 // nobody comes next
  TurnsWaitInLine,         // who comes next stands behind those who wait
};

#ifdef ARMGATE_MUTANTS
bool is_mutant(Mutant mutant);  // defined by the simulation
#else
constexpr bool is_mutant(Mutant) { return false; }
#endif

}  // namespace armgate
