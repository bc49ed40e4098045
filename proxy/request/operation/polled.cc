#include "proxy/request/operation/polled.h"

#include <utility>

#include "arm/throttle.h"
#include "arm/url.h"
#include "proxy/cluster/replica.h"
#include "proxy/request/operation/progress.h"
#include "proxy/request/operation/watch.h"

namespace armgate {
namespace {

constexpr size_t kToldBytesMax = 64u << 10;  // of an answer; what is longer its follower asks for itself

void learn(const Parts& parts, const std::vector<OperationLeases::Match>& here, TimePoint asked, const arm::ResponseHead& head,
           std::string_view body) {
  for (const auto& match : here) {
    match.op_lease->note_asked(parts.clock.now());
    const arm::Progress progress = progress_of(match.by, head, body);
    learn_more(parts, *match.op_lease, match.by, progress, body);
    if (progress != arm::Progress::Running && asked < may_come_to_more_until(*match.op_lease, match.by)) continue;
    if (arm::is_terminal(progress)) operation_ended(parts, match.op_lease, progress);
    // Of a deletion the resource tells only the end: as long as it is there, it may be running or have failed.
    const bool told_to_wait = progress == arm::Progress::Running && match.by == match.op_lease->write().tracking.by &&
                              match.by != arm::TrackedBy::ResourceGone;
    if (!told_to_wait) continue;
    match.op_lease->note_running(parts.clock.now());
    if (const auto pause = arm::retry_after(head.fields, parts.clock.wall())) match.op_lease->note_named(*pause);
  }
}

}  // namespace

PolledOperations operations_at(const Parts& parts, std::string_view host, std::string_view target, const Hash128& resource) {
  PolledOperations polled{parts.shared.op_leases.find(host, target, resource)};
  if (parts.cluster == nullptr || !polled.here.empty()) return polled;
  const arm::TrackedBy by = parts.shared.remote_operations.find(host, target);
  if (by != arm::TrackedBy::Nothing) polled.elsewhere = {std::string(host), std::string(target), by};
  return polled;
}

void learn_from_poll(const Parts& parts, const PolledOperations& operations, TimePoint asked, const arm::ResponseHead& head,
                     std::string_view body) {
  learn(parts, operations.here, asked, head, body);
  const auto& elsewhere = operations.elsewhere;
  if (!elsewhere || body.size() > kToldBytesMax) return;
  if (!arm::is_terminal(progress_of(elsewhere->by, head, body))) return;
  parts.cluster->post(cluster::EndTold{elsewhere->host, elsewhere->target, head.status, std::string(body)});
}

void learn_from_another(const Parts& parts, const cluster::EndTold& told) {
  arm::ResponseHead head;
  head.status = told.status;
  learn(parts, parts.shared.op_leases.find(told.host, told.target, Hash128{}), parts.clock.now(), head, told.body);
}

void note_poll_elsewhere(const Parts& parts, const cluster::OwnedPolled& polled) {
  const auto operation = parts.shared.owned.find(polled.operation);
  if (!operation || !operation->note_poll_elsewhere(polled.principal, parts.clock.now())) return;
  const arm::Tracking tracking = operation->snapshot().tracking;
  const auto url = arm::parse_url(tracking.status_url.empty() ? tracking.location_url : tracking.status_url);
  if (!url) return;
  for (const auto& match : parts.shared.op_leases.find(url->host, url->target, Hash128{}))
    match.op_lease->waiter().signal(OperationLease::kWake);
}

}  // namespace armgate
