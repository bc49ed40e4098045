// write.h – a write on its way, and how it may end: what its steps work on. Each step has a type of its own, which makes a
// wrong order a compile error:
//
//   Plan + bases -> lock() -> WriteLease -> guard() -> Guarded -> intend() -> Intent -> forward() -> Outcome -> settle()
//
// A write that armgate guards leaves only through forward(), which needs an Intent; an Intent is made only from a Guarded, a
// Guarded only from a WriteLease. Each step consumes the one before (docs/decisions/0005).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "arm/http.h"
#include "arm/long_running.h"
#include "base/result.h"
#include "proxy/policy/bases.h"
#include "proxy/request/client_wait.h"
#include "proxy/request/exchange.h"
#include "proxy/request/identify.h"
#include "proxy/request/parts.h"
#include "proxy/request/write/step.h"
#include "proxy/state/client_state.h"
#include "rules/plan.h"
#include "rules/references.h"

namespace armgate {

// Everything about one write that its steps need. What it is stands once coalesce, find_bases and references_of have filled it
// in; the steps after that change the report, and a merge the request's body.
struct Write {
  Parts& parts;
  Exchange& exchange;
  const KeyedPlan& plan;
  const Client& client;
  ClientWait& client_wait;
  Hash128 request_hash{};                         // of method, host, target and body
  Hash128 resend{};                               // see resend_hash_of()
  std::string request_id{};                       // see request_id_of()
  uint64_t sending = 0;                           // its record in the client's ledger
  uint64_t asking = 0;                            // and this exchange's number there (SendingLedger::Asking)
  bool is_repeatable = false;                     // its answer may be given again after it has arrived (repeat.h)
  bool has_own_precondition = false;              // its client's
  bool replaces = false;                          // a full write, or a PATCH that may be a copy: what it was built from matters
  std::string body_etag{};                        // in what its client sent, where the guard heeds it; empty: none
  policy::WriteFacts facts{};                     // for questions to the history; arrived: the first sending's
  policy::Bases bases{};                          // what it may have been built from
  std::vector<rules::ReferenceKey> references{};  // what its body names and must stand still; none of them is in plan.keys

  policy::BaseRule rule() const { return bases.rule; }
  // True if nothing that its client was shown can tell whether it is stale.
  bool is_unconditional() const { return rule() == policy::BaseRule::Unconditional || rule() == policy::BaseRule::Forgotten; }
  // True if a precondition of its client's goes to ARM as it is, whose answer is then the client's.
  bool keeps_own_precondition() const {
    return has_own_precondition && (!replaces || rule() == policy::BaseRule::OwnPrecondition);
  }
  // True if it is compared with what its client was shown.
  bool has_bases() const { return replaces && !is_unconditional() && rule() != policy::BaseRule::OwnPrecondition; }
  bool may_carry_etag() const {
    const bool is_put = plan.operation == arm::OperationKind::Put;
    return rules::sends_etags(plan.rule->guard.kind) && (plan.guarded || is_put || exchange.clients_own);
  }
  // True if ARM compares the ETag that goes along; else armgate has to compare what is there.
  bool is_guarded_by_etag() const { return plan.guarded && plan.rule->guard.kind == rules::GuardKind::Etag; }
  // True if the ETag moves with all that a body shows: a cluster's stays as it is while its pools change.
  bool etag_tells_all() const { return plan.rule->guard.etag_covers == rules::EtagCovers::Everything; }
  // True if it is to be carried out whenever it is asked for, though others have written while it waited (deployments).
  bool is_meant_anyway() const { return plan.rule->unconditional_after_wait == rules::UnconditionalAfterWait::Send; }
  // True if it is a create that may not replace anything, by its rule.
  bool creates_only() const {
    return plan.guarded && plan.operation == arm::OperationKind::Put && rule() == policy::BaseRule::Create &&
           plan.rule->guard.creates == rules::CreateGuard::IfNoneMatch;
  }
  const arm::RequestHead& head() const { return exchange.request.head; }
  std::string authorization() const { return std::string(head().fields.get("authorization")); }
  Report& report() const { return exchange.report; }
  SendingLedger& ledger() const { return client.state->sendings(); }
  // What `question` makes of its resource's history; and what happens to that.
  template <class Question>
  auto ask(Question question) const {
    return parts.shared.resources.ask(plan.resource_key, question);
  }
  void record_event(policy::Event event) const { parts.shared.resources.apply(plan.resource_key, std::move(event)); }
};

// What became of a write, sent or not.
struct Outcome {
  enum class Kind {
    Left,      // the client is gone; nothing (more) is sent, nobody is answered
    TryLater,  // armgate's 503 or 502: nothing was sent or ARM proved it without effect; the client is expected again
    Refused,   // 412, by ARM for an injected ETag or by armgate
    Accepted,  // ARM took it (2xx)
    Answered,  // any other final answer
    InDoubt,   // it may have taken effect
  };
  Kind kind = Kind::Answered;
  arm::Response answer;
  arm::Tracking tracking;                  // for Accepted and InDoubt
  std::optional<std::string> body_etag{};  // in the answer's body (empty: none), if it was looked for
  ComingPosition turn{};                   // for Refused: its client's turn, which begins before it is answered; empty: none
  policy::SharedBody found{};              // for Refused: what is there, in plain bytes; null: not known
  IntentId intent = 0;                     // its record in the store; 0: none
  std::optional<arm::Response> read{};     // what a look for this answer showed, which its client is shown with it
  bool runs_unseen = false;                // perhaps: ARM's answer, which may have named an operation, did not arrive
};

// Of the state that the answer shows; empty: none.
std::string etag_of(const Outcome& outcome, const arm::ResponseHead& answer);

// Nothing was sent, or it had no effect for sure, and the client is expected to send it again.
inline bool had_no_effect(Outcome::Kind kind) { return kind == Outcome::Kind::TryLater || kind == Outcome::Kind::Left; }

// A write as it arrives.
Write make_write(Parts& parts, Exchange& exchange, const KeyedPlan& plan, const Client& client, ClientWait& client_wait);

// Every key that it locks: its plan's, and those of what its body refers to.
std::vector<rules::LockKey> all_keys(const Write& write);
// Of those, what has to stand still only until ARM's answer.
std::vector<std::string> keys_until_answer(const Write& write);

// The identity of what was asked: method, host, target and body. Not who asked.
Hash128 request_hash_of(const Hasher& hasher, const arm::Request& request);
// What its client's own repetition of it shares with it: the same with the credential, for claims alone are unverified, and
// with its client's own preconditions.
Hash128 resend_hash_of(const Hasher& hasher, const Hash128& request_hash, const Client& client, const arm::Headers& fields);
// The same for all sendings of one write by its client, and for no other write.
Hash128 write_key_of(const Hasher& hasher, uint64_t sending, std::string_view request_id);
Hash128 write_key_of(const Write& write);
// Whether anybody else's write was accepted since an order: not even the same bytes of the same client, which another of its
// actors may have sent. `in_doubt_on`: what was sent with that ETag and may have had no effect does not count; empty: all does.
bool others_wrote_since(const Write& write, uint64_t order, std::string_view in_doubt_on = {});
// The same beside the write with that key.
bool others_wrote_since(const Write& write, const Hash128& write_key, uint64_t order, std::string_view in_doubt_on = {});

// Nothing was sent, or it had no effect, and its client is to come again: armgate's 503, for this reason.
Outcome try_later(const Write& write, std::string_view why, std::string_view reason, std::optional<Duration> come_again = {});
// Its client is gone, and nothing (more) is sent for it; counted.
Outcome client_left(const Write& write, std::string_view reason);

}  // namespace armgate
