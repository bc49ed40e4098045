#include "proxy/request/operation/rest.h"

#include <algorithm>
#include <string>
#include <vector>

#include "arm/long_running.h"
#include "proxy/request/budget.h"
#include "proxy/request/read_again.h"
#include "proxy/request/wake.h"

namespace armgate {
namespace {

constexpr Duration kBetweenLooks = std::chrono::seconds(2);
constexpr int kUnreadableMax = 3;  // a token may write a subnet and not read its network

enum class Sight { Still, Moving, Unreadable };

Task<Sight> look(Parts& parts, Hold& hold, const std::string& target) {
  const std::string authorization = hold.authorization();
  if (authorization.empty()) co_return Sight::Unreadable;
  const auto seen = co_await read_once(parts, hold.write().host, target, authorization);
  if (!seen) co_return Sight::Unreadable;
  if (seen->head.status == 401) hold.distrust(authorization);
  if (seen->absent()) co_return Sight::Still;
  const arm::Progress progress = arm::progress_of_resource(seen->head, seen->body);
  if (arm::is_terminal(progress)) co_return Sight::Still;
  if (progress == arm::Progress::Running) co_return Sight::Moving;
  co_return Sight::Unreadable;
}

TimePoint next_look(const Parts& parts, const Hold& hold, TimePoint last_look) {
  return last_look + (hold.wanted() ? kBetweenLooks : parts.shared.options.poll_idle);
}

}  // namespace

Task<Rest> wait_for_rest(Parts& parts, std::shared_ptr<Hold> hold, TimePoint until) {
  std::vector<std::string> busy = hold->write().must_rest;
  int unreadable = 0;
  TimePoint last_look = parts.clock.now() - kBetweenLooks;
  while (!busy.empty() && hold->open() && parts.clock.now() < until) {
    const TimePoint affordable = may_ask_from(parts, busy.front(), hold->authorization());
    const TimePoint due = std::min(std::max(next_look(parts, *hold, last_look), affordable), until);
    if (parts.clock.now() < due) {
      co_await wait_until(parts, hold->waiter(), due, Hold::kWake);
      continue;
    }
    last_look = parts.clock.now();
    if (hold->write().inherited && hold->authorization().empty())
      continue;  // nobody has asked yet with whose token it could look
    const Sight sight = co_await look(parts, *hold, busy.front());
    if (sight == Sight::Moving) hold->note_running(parts.clock.now());
    const bool given_up = sight == Sight::Unreadable && ++unreadable >= kUnreadableMax;
    if (sight != Sight::Still && !given_up) continue;
    busy.erase(busy.begin());
    unreadable = 0;
    last_look = parts.clock.now() - kBetweenLooks;
  }
  co_return busy.empty() ? Rest::Yes : Rest::NotYet;
}

}  // namespace armgate
