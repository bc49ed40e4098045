#include "proxy/request/operation/unlock.h"

#include <fmt/format.h>

#include "proxy/cluster/replica.h"
#include "proxy/request/operation/watch.h"

namespace armgate {

Unlocked unlock(const Parts& parts, const Hash128& key, std::string_view who) {
  const bool is_elsewhere = parts.cluster != nullptr && parts.shared.locks.is_kept_elsewhere(key);
  std::string lease_of;
  if (is_elsewhere) {
    for (const auto& lease : parts.shared.locks.run_leases_on(key)) {
      if (lease.is_elsewhere) lease_of = lease.info.client_label;
    }
  }
  Unlocked unlocked = unlock_here(parts, key, who);
  if (!is_elsewhere) return unlocked;
  unlocked.lease_of = std::move(lease_of);
  // Whether ARM has answered it is not known here.
  parts.cluster->post(cluster::UnlockAsked{key, std::string(who)});
  unlocked.on_its_way = false;
  unlocked.others_told = true;
  return unlocked;
}

Unlocked unlock_here(const Parts& parts, const Hash128& key, std::string_view who) {
  Unlocked unlocked;
  const TimePoint now = parts.clock.now();
  const auto op_leases = parts.shared.op_leases.on_key(key);
  const size_t holders = parts.shared.locks.holders(key);
  size_t released = op_leases.size();
  if (const auto lease = parts.shared.run_leases.release_on(key, now)) {
    released += lease->held ? 1 : 0;
    unlocked.released.push_back({fmt::format("lease ({})", lease->purpose), lease->client, lease->age});
    if (parts.alert) {
      parts.alert(fmt::format("lease of {} on {} released after {} s, because {} asked for it: {}", lease->client,
                              lease->resources, whole_milliseconds(lease->age) / 1000, who, lease->purpose));
    }
  }
  unlocked.on_its_way = holders > released;
  for (const auto& op_lease : op_leases) {
    const LeasedWrite& write = op_lease->write();
    const auto ended = op_lease->operation_end();
    const EndSeen seen = ended ? EndSeen::Yes : EndSeen::No;
    if (!conclude(parts, op_lease, ended.value_or(arm::Progress::Unknown), seen)) continue;  // it has ended meanwhile
    parts.shared.counters.leases_released.fetch_add(1, std::memory_order_relaxed);
    const Duration held = now - write.opened + write.ran_before;
    unlocked.released.push_back(
        {fmt::format("{} {}", arm::to_text(write.method), write.resource().id), write.client_label, held, write.inherited});
    if (!parts.alert) continue;
    parts.alert(fmt::format("lease released: {} by {} after {} s, because {} asked for it; its operation was not seen to end",
                            unlocked.released.back().what, write.client_label, whole_milliseconds(held) / 1000, who));
  }
  return unlocked;
}

}  // namespace armgate
