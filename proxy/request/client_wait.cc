#include "proxy/request/client_wait.h"

#include "base/mutant.h"

namespace armgate {

ClientWait::ClientWait(Clock& clock, const Executor& executor, ClientLink& client, TimePoint until)
    : clock_(clock), executor_(executor), client_(client), until_(until), waiter_(executor) {
  client_.watch(&waiter_, kClient);
}

ClientWait::~ClientWait() { client_.watch(nullptr, 0); }

Task<ClientWait::End> ClientWait::await_grant(const QueuePosition& place) {
  return await_ready([&place] { return place.granted(); }, AtClosing::Stop);
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
