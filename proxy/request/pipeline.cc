#include "proxy/request/pipeline.h"

#include <utility>

#include "base/mutant.h"
#include "proxy/request/answer.h"
#include "proxy/request/client_wait.h"
#include "proxy/request/cluster/fenced.h"
#include "proxy/request/content_coding.h"
#include "proxy/request/identify.h"
#include "proxy/request/observe/observe.h"
#include "proxy/request/operation/owned_poll.h"
#include "proxy/request/parts.h"
#include "proxy/request/queue/share.h"
#include "proxy/request/read/relay.h"
#include "proxy/request/write/coalesce.h"
#include "proxy/request/write/repeat.h"
#include "proxy/request/write/serve_write.h"

namespace armgate {
namespace {

Task<Receipt> serve_planned(Parts& parts, Exchange& exchange, ClientLink& link, const KeyedPlan& plan, const Client& client) {
  // Whatever the mode is by now: nobody but armgate knows the URL.
  OwnedPoll poll = owned_poll_of(parts, exchange.request.head);
  if (poll.may_be_told_yet) poll = co_await once_all_is_known(parts, exchange);
  const bool protects = plan.kind != rules::PlanKind::Pass && plan.mode == rules::Mode::Protect;
  if (protects || poll.is_armgates()) accept_readable_codings(exchange.request.head.fields);
  if (poll.is_armgates()) co_return co_await serve_owned_poll(parts, exchange, link, poll);
  if (plan.kind == rules::PlanKind::Write && plan.mode == rules::Mode::Observe) {
    co_return co_await observe_write(parts, exchange, link, plan, client);
  }
  const bool may_change = plan.kind == rules::PlanKind::Write || is_watched_action(exchange, plan);
  if (may_change) {
    if (auto misnamed = name_request(parts, exchange)) {
      explain(misnamed->head, exchange.report);
      co_await write_answer(exchange, link, *misnamed);
      co_return Receipt();
    }
  }
  // What is posted elsewhere than to a resource is relayed without a record, and known only if its answer was lost.
  const bool may_be_in_doubt = plan.kind != rules::PlanKind::Write && plan.operation != arm::OperationKind::Action &&
                               is_watched_action(exchange, plan) && client.state->sendings().size() > 0;
  if (may_be_in_doubt && client.state->sendings().knows(arrival_of(parts, exchange, plan, client, nullptr))) {
    auto answer = not_again(SendingLedger::Match::InDoubt, exchange, plan);
    explain(answer.head, exchange.report);
    co_await write_answer(exchange, link, answer);
    co_return Receipt();
  }
  if (plan.kind == rules::PlanKind::Write) {
    bool is_unrecorded = false;
    if (parts.cluster != nullptr) is_unrecorded = co_await goes_unrecorded(parts, exchange, plan, client);
    if (is_unrecorded) co_return co_await send_unrecorded(parts, exchange, link, plan, client);
    co_return co_await serve_write(parts, exchange, link, plan, client);
  }
  if (is_mutant(Mutant::ReadWaits)) co_await parts.clock.sleep_for(std::chrono::milliseconds(1));
  if (!parts.shared.budgets.is_fair() || plan.mode != rules::Mode::Protect) {
    co_return co_await relay(parts, exchange, link, plan, client);
  }
  Share share;
  {
    ClientWait client_wait(parts.clock, exchange.executor, link, exchange.arrived.time + queue_timeout_of(parts, exchange));
    share = co_await await_share(parts, exchange, plan, client, client_wait);
  }
  if (share.ticket) co_return co_await relay(parts, exchange, link, plan, client);
  explain(share.busy.head, exchange.report);
  co_await write_answer(exchange, link, share.busy);
  co_return Receipt();
}

}  // namespace

Task<Receipt> Pipeline::serve(Exchange& exchange, ClientLink& link) {
  auto& shared = parts_.shared;
  const arm::RequestHead& head = exchange.request.head;
  auto planned = shared.rules.make_plan(head.method, head.target);
  Receipt receipt;
  if (!planned) {
    exchange.report.reason = "ambiguous-target";
    exchange.report.altered = true;
    auto answer = make_error(400, "ArmgateBadTarget", planned.error().context);
    explain(answer.head, exchange.report);
    co_await write_answer(exchange, link, answer);
  } else {
    exchange.planned = *std::move(planned);
    const Client client = identify(parts_, exchange);
    exchange.client = client.key;
    exchange.principal = client.principal;
    exchange.client_label = client.label;
    const std::string_view authorization = head.fields.get("authorization");
    shared.op_leases.renew_token(client.key, authorization);
    shared.run_leases.lend_credentials(client.key, authorization, shared.op_leases);
    receipt = co_await serve_planned(parts_, exchange, link, *exchange.planned.plan, client);
  }
  if (parts_.account) parts_.account(exchange);
  co_return std::move(receipt);
}

}  // namespace armgate
