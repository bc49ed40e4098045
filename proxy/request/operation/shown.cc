#include "proxy/request/operation/shown.h"

#include "proxy/request/read_again.h"
#include "proxy/request/write/recover.h"

namespace armgate {
namespace {

// A resource whose PUT ARM answers with 200 may have been there before, but a client that was told 404 takes it for new.
bool may_be_new(const Write& write, const Outcome& outcome) {
  const bool is_put = write.plan.operation == arm::OperationKind::Put;
  const bool ended = outcome.kind == Outcome::Kind::Accepted && outcome.tracking.by == arm::TrackedBy::Nothing;
  const int status = outcome.answer.head.status;
  const bool knew_of_none = write.rule() == policy::BaseRule::Create || write.is_unconditional();
  return is_put && ended && (status == 201 || (status == 200 && knew_of_none));
}

}  // namespace

Task<void> wait_until_shown(const Write& write, const Outcome& outcome) {
  const rules::Shown& wanted = write.plan.rule->shown;
  if (wanted.consecutive == 0 || !may_be_new(write, outcome)) co_return;
  int found = 0;
  while (true) {
    OwnRead read = own_read(write.parts, write.plan.resource_key, write.head().target);
    const auto seen = co_await read_once(write.parts, write.head().host, std::move(read), write.authorization());
    const bool tells = seen && (seen->exists() || seen->absent());
    if (!tells) co_return;
    found = seen->exists() ? found + 1 : 0;
    if (found >= wanted.consecutive) co_return;
    write.report().reason = "waited-until-reads-show-it";
    const auto end = co_await pause_counted(write, wanted.every, ClientWait::AtClosing::Stop);
    if (end != ClientWait::End::Ready) co_return;
  }
}

}  // namespace armgate
