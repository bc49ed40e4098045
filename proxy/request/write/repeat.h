// repeat.h – requests whose answer is given again although it has arrived (docs/design.md, "Once means once"): under a
// repeatability id, where a rule says so, and the PUT of one actor whose operation runs. Which request is the same:
// proxy/state/sending_ledger.
#pragma once

#include <optional>

#include "proxy/request/write/write.h"

namespace armgate {

// Takes note of the name that its client gave the request. The answer to one that cannot be read as such; nothing: it goes on.
std::optional<arm::Response> name_request(const Parts& parts, Exchange& exchange);

// To whom the answer is given again. Of a request, and of a record of an earlier process.
SendingLedger::Repeats repeats_of(const SharedState& shared, const rules::Plan& plan, bool one_actor,
                                  const std::optional<NamedRequest>& named);

// What makes two requests one: those under a name by that alone.
void identify_request(SendingLedger::Arrival& arrival, const std::optional<NamedRequest>& named);

// ARM accepted the request before, and its answer is not at hand, or only for who shows again that he may read it: what is
// recorded of it, with the state as ARM shows it now. TryLater if that cannot be read for the moment; 409 where the record is
// not enough. Suspends.
enum class Credential { Same, Other };
Task<Outcome> answer_as_recorded(Write& write, const SendingLedger::Ending& ending, Credential credential);

// An answer after which ARM may have carried a named request out that nothing can be compared with: it does not come again.
bool may_have_run(arm::Method method, int status);

// The answer was given again.
void note_replay(const Write& write, const SendingLedger::Ending& ending);

}  // namespace armgate
