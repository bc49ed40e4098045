#include "proxy/request/operation/early_end.h"

#include "proxy/cluster/replica.h"

namespace armgate {

void note_early_end(const Parts& parts, const Hash128& key) {
  note_early_end_here(parts, key);
  if (parts.cluster != nullptr) parts.cluster->post(cluster::AbortTaken{key});
}

void note_early_end_here(const Parts& parts, const Hash128& key) {
  for (const auto& op_lease : parts.shared.op_leases.on_key(key)) {
    op_lease->note_end_expected(parts.clock.now());
    const auto& owned = op_lease->write().owned;
    if (!owned) continue;
    owned->give_up();
    parts.shared.owned.tell_left(*owned);
  }
}

}  // namespace armgate
