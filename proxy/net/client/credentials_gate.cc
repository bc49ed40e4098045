#include "proxy/net/client/credentials_gate.h"

#include <algorithm>
#include <utility>

#include "proxy/async/spawn.h"

namespace armgate::net {
namespace {

enum WaitSignal : uint32_t { kTold = 1, kTooLate = 2 };

constexpr Duration kFirstPause = std::chrono::seconds(30);
constexpr Duration kLongestPause = std::chrono::minutes(10);

}  // namespace

std::optional<Error> CredentialsGate::refusal_in_force(TimePoint now) const { return now < until_ ? refusal_ : std::nullopt; }

std::optional<Error> CredentialsGate::refusal(TimePoint now) {
  const MutexLock lock(&mutex_);
  return refusal_in_force(now);
}

std::optional<Result<void>> CredentialsGate::check(TimePoint now, Waiter& waiter) {
  const MutexLock lock(&mutex_);
  if (are_taken_) return Result<void>{};
  if (auto refusal = refusal_in_force(now)) return Result<void>(*std::move(refusal));
  if (!std::exchange(one_asks_, true)) return Result<void>{};
  waiting_.push_back(&waiter);
  return std::nullopt;
}

void CredentialsGate::leave(Waiter& waiter) {
  const MutexLock lock(&mutex_);
  std::erase(waiting_, &waiter);
}

Task<Result<void>> CredentialsGate::enter(Clock& clock, TimePoint deadline) {
  const Executor executor = co_await current_executor();
  Waiter waiter(executor);
  while (true) {
    if (auto answer = check(clock.now(), waiter)) co_return *std::move(answer);
    const auto timer = clock.call_at(executor, deadline, [&waiter] { waiter.signal(kTooLate); });
    const uint32_t signals = co_await waiter.wait();
    leave(waiter);
    if ((signals & kTold) != 0) continue;
    co_return upstream_error(ErrorKind::TimedOut, Sent::No, "others are still asking");
  }
}

void CredentialsGate::taken() {
  const MutexLock lock(&mutex_);
  are_taken_ = true;
  refusal_.reset();
  wake_all();
}

void CredentialsGate::note_refusal(Error refusal, TimePoint now) {
  const MutexLock lock(&mutex_);
  are_taken_ = false;
  // Of several that were under way together, the first one counts.
  if (!refusal_ || now >= until_) {
    pause_ = refusal_ ? std::min(pause_ * 2, kLongestPause) : kFirstPause;
    until_ = now + pause_;
  }
  refusal_ = std::move(refusal);
  wake_all();
}

void CredentialsGate::unanswered() {
  const MutexLock lock(&mutex_);
  wake_all();
}

void CredentialsGate::wake_all() {
  one_asks_ = false;
  for (Waiter* waiter : std::exchange(waiting_, {})) waiter->signal(kTold);
}

}  // namespace armgate::net
