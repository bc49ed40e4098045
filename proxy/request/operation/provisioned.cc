#include "proxy/request/operation/provisioned.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "arm/long_running.h"
#include "proxy/request/budget.h"
#include "proxy/request/read_again.h"
#include "proxy/request/timed_wait.h"

namespace armgate {
namespace {

constexpr Duration kBetweenLooks = std::chrono::seconds(2);
constexpr int kUnreadableMax = 3;  // a token may write a subnet and not read its network

enum class Sight { Still, Moving, Unreadable };

Task<Sight> read_state(Parts& parts, OperationLease& op_lease, const std::string& target) {
  const std::string authorization = op_lease.authorization();
  if (authorization.empty()) co_return Sight::Unreadable;
  OwnRead read{target};
  const auto seen = co_await read_once(parts, op_lease.write().host, std::move(read), authorization);
  if (!seen) co_return Sight::Unreadable;
  if (seen->head.status == 401) op_lease.distrust(authorization);
  if (seen->absent()) co_return Sight::Still;
  const arm::Progress progress = arm::progress_of_resource(seen->head, seen->body);
  if (arm::is_terminal(progress)) co_return Sight::Still;
  if (progress == arm::Progress::Running) co_return Sight::Moving;
  co_return Sight::Unreadable;
}

TimePoint next_look(const Parts& parts, const OperationLease& op_lease, TimePoint last_read) {
  return last_read + (op_lease.has_waiter() ? kBetweenLooks : parts.shared.options.poll_without_waiter);
}

}  // namespace

Task<Provisioned> wait_until_provisioned(Parts& parts, std::shared_ptr<OperationLease> op_lease, TimePoint until) {
  std::vector<std::string> busy = op_lease->write().must_be_provisioned;
  int unreadable = 0;
  TimePoint last_read = parts.clock.now() - kBetweenLooks;
  while (!busy.empty() && op_lease->is_open() && parts.clock.now() < until) {
    const TimePoint affordable = may_ask_from(parts, busy.front(), op_lease->authorization());
    const TimePoint due = std::min(std::max(next_look(parts, *op_lease, last_read), affordable), until);
    if (parts.clock.now() < due) {
      co_await wait_until(parts, op_lease->waiter(), due, OperationLease::kWake);
      continue;
    }
    last_read = parts.clock.now();
    if (op_lease->write().inherited && op_lease->authorization().empty())
      continue;  // nobody has asked yet with whose token it could look
    const Sight sight = co_await read_state(parts, *op_lease, busy.front());
    if (sight == Sight::Moving) op_lease->note_running(parts.clock.now());
    const bool given_up = sight == Sight::Unreadable && ++unreadable >= kUnreadableMax;
    if (sight != Sight::Still && !given_up) continue;
    busy.erase(busy.begin());
    unreadable = 0;
    last_read = parts.clock.now() - kBetweenLooks;
  }
  co_return busy.empty() ? Provisioned::Yes : Provisioned::NotYet;
}

}  // namespace armgate
