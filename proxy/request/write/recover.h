// recover.h – what to do when a sent write did not simply succeed: each function turns one kind of trouble into the next
// step, and none of them ever sends the write itself. To go on means to send the write again, with `attempts` as changed.
#pragma once

#include <string>

#include "proxy/policy/error_class.h"
#include "proxy/request/write/write.h"

namespace armgate {

// What a write's sendings have come to so far.
struct Attempts {
  std::string clients_if_match;  // "*", or nothing, where ours may take its place
  std::string if_match;          // what goes along as If-Match; empty: nothing of ours
  bool must_be_absent = false;   // "If-None-Match: *" goes along
  int sent = 0;
  int renewals = 0;            // times the ETag was renewed because nothing stood in the way
  int superseded = 0;          // times somebody's later write took its place
  int unreachable = 0;         // times no byte could be sent
  int lost = 0;                // times the answer to a sending of this request was lost
  uint64_t known_since = 0;    // order at which the state that if_match names was known to stand
  bool maybe_applied = false;  // an earlier sending, also by an earlier request with these bytes, may have taken effect
  TimePoint first_sent{};
};

// An end for this reason.
Outcome stop(const Write& write, Outcome::Kind kind, arm::Response answer, std::string_view reason);

// Suspends for `duration`, which the report counts as waiting.
Task<ClientWait::End> pause_counted(const Write& write, Duration duration,
                                    ClientWait::AtClosing at_closing = ClientWait::AtClosing::WaitOn);

// Waits while the client's queue timeout lasts; afterwards the client is asked to come again, and that is the outcome. If an
// answer was lost before, the write may be running: then nobody is told that nothing was sent. Suspends.
Task<Step<void>> wait_for(const Write& write, const Attempts& attempts, Duration delay, std::string_view why);

// Where several processes serve the same clients: an end if the others may have its keys by now.
Step<void> check_may_send(const Write& write, const Attempts& attempts);

// ARM said 412 to an ETag that we injected.
Task<Step<void>> after_stale(const Write& write, Attempts& attempts, arm::Response answer);

// ARM said 412 to a create that must not replace anything.
Task<Step<void>> after_existing(const Write& write, Attempts& attempts, arm::Response answer);

// ARM refused because another operation runs on the entity or on what it refers to, or has taken this one's place.
Task<Step<void>> after_busy(const Write& write, Attempts& attempts, arm::Response answer, const policy::ErrorFacts& facts);

// The answer to a sent write was lost.
Task<Step<void>> after_lost_answer(const Write& write, Attempts& attempts, const Error& error);

}  // namespace armgate
