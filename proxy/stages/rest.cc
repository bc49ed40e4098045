#include "proxy/stages/rest.h"

#include <algorithm>
#include <string>
#include <vector>

#include "arm/long_running.h"
#include "proxy/stages/read_again.h"
#include "proxy/stages/wake.h"

namespace armgate {
namespace {

constexpr Duration kBetweenLooks = std::chrono::seconds(2);
constexpr int kUnreadableMax = 3;  // a token may write a subnet and not read its network

enum class Rest { Yes, NotYet, Unreadable };

Task<Rest> look(Pipeline::Parts& parts, const Hold& hold, const std::string& target) {
  const std::string authorization = hold.authorization();
  if (authorization.empty()) co_return Rest::Unreadable;
  const auto seen = co_await read_once(parts, hold.write().host, target, authorization);
  if (!seen) co_return Rest::Unreadable;
  if (seen->absent()) co_return Rest::Yes;
  const arm::Progress progress = arm::progress_of_resource(seen->head, seen->body);
  if (arm::is_terminal(progress)) co_return Rest::Yes;
  if (progress == arm::Progress::Running) co_return Rest::NotYet;
  co_return Rest::Unreadable;
}

TimePoint next_look(const Pipeline::Parts& parts, const Hold& hold, TimePoint last_look) {
  return last_look + (hold.wanted() ? kBetweenLooks : parts.shared.options.poll_idle);
}

}  // namespace

Task<void> wait_for_rest(Pipeline::Parts& parts, std::shared_ptr<Hold> hold, TimePoint until) {
  std::vector<std::string> busy = hold->write().must_rest;
  int unreadable = 0;
  TimePoint last_look = parts.clock.now() - kBetweenLooks;
  while (!busy.empty() && hold->open() && parts.clock.now() < until) {
    const TimePoint due = std::min(next_look(parts, *hold, last_look), until);
    if (parts.clock.now() < due) {
      co_await wait_until(parts, hold->waiter(), due, Hold::kWake);
      continue;
    }
    last_look = parts.clock.now();
    const Rest rest = co_await look(parts, *hold, busy.front());
    const bool given_up = rest == Rest::Unreadable && ++unreadable >= kUnreadableMax;
    if (rest != Rest::Yes && !given_up) continue;
    busy.erase(busy.begin());
    unreadable = 0;
    last_look = parts.clock.now() - kBetweenLooks;
  }
}

}  // namespace armgate
