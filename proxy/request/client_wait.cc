#include "proxy/request/client_wait.h"

#include "base/mutant.h"
#include "proxy/request/exchange.h"
#include "proxy/request/parts.h"

namespace armgate {

Duration queue_timeout_of(const Parts& parts, const Exchange& exchange) {
  // A relayed request has no rules, so the default applies.
  if (exchange.planned.made_under == nullptr) return parts.shared.options.wait_max;
  const auto* patient = exchange.planned.made_under->queue_timeouts().find(exchange.request.head.fields.get("User-Agent"));
  return patient != nullptr ? patient->wait_max : parts.shared.options.wait_max;
}

ClientWait::ClientWait(Clock& clock, const Executor& executor, ClientLink& client, TimePoint until)
    : clock_(clock), executor_(executor), client_(client), until_(until), waiter_(executor) {
  client_.watch(&waiter_, kClient);
}

ClientWait::~ClientWait() { client_.watch(nullptr, 0); }

bool ClientWait::may_begin() const { return !client_.gone() || is_mutant(Mutant::LeaverIsSent); }

Task<ClientWait::End> ClientWait::await_grant(const QueuePosition& position) {
  return await_ready([&position] { return position.granted(); }, AtClosing::Stop);
}

Task<ClientWait::End> ClientWait::await_ready(std::function<bool()> ready, AtClosing at_closing) {
  const auto timer = clock_.call_at(executor_, until_, [this] { waiter_.signal(kTimer); });
  while (true) {
    if (client_.gone() && !is_mutant(Mutant::LeaverIsSent)) co_return End::Gone;
    if (ready()) co_return End::Ready;
    if (at_closing == AtClosing::Stop && client_.closing()) co_return End::Closing;
    if (clock_.now() >= until_) co_return End::TimeUp;
    co_await waiter_.wait();
  }
}

Task<ClientWait::End> ClientWait::pause(Duration duration, AtClosing at_closing) {
  const TimePoint wake = clock_.now() + duration;
  if (wake > until_) co_return End::TimeUp;
  const auto timer = clock_.call_at(executor_, wake, [this] { waiter_.signal(kTimer); });
  while (true) {
    if (client_.gone()) co_return End::Gone;
    if (clock_.now() >= wake) co_return End::Ready;
    if (at_closing == AtClosing::Stop && client_.closing()) co_return End::Closing;
    co_await waiter_.wait();
  }
}

}  // namespace armgate
