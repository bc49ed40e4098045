#include "proxy/state/resource_table.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace armgate {
namespace {

// The newest order that a history knows of: what is forgotten with it is not newer.
uint64_t newest_order(const policy::History& history) {
  uint64_t newest = std::max(history.forgotten(), history.deleted());
  for (const auto& entry : history.entries()) newest = std::max({newest, entry.number, entry.known.order, entry.ended});
  return newest;
}

}  // namespace

void ResourceTable::make_room(Shard& shard) {
  const size_t most = std::max<size_t>(1, options_.resources_max / kShards);
  shard.slots.make_room(most, [&](const Hash128&, Slot& slot) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (slot.history.has_write_under_way()) return false;
    shard.horizon = std::max(shard.horizon, newest_order(slot.history));
    shard.deletes_forgotten = std::max(shard.deletes_forgotten, slot.history.deleted());
    set_bytes(shard, slot, 0);
    ++shard.resources_evicted;
    return true;
  });
}

ResourceTable::Slot& ResourceTable::touch(Shard& shard, const Hash128& key) {
  if (Slot* slot = shard.slots.use(key)) {
    if (slot->bytes > 0) shard.with_bodies.splice(shard.with_bodies.end(), shard.with_bodies, slot->age_of_bodies);
    return *slot;
  }
  make_room(shard);
  Slot& slot = shard.slots.add(key);
  slot.history.forget_until(shard.horizon);
  slot.history.forget_shown_until(shard.shown_horizon);
  return slot;
}

void ResourceTable::set_bytes(Shard& shard, Slot& slot, size_t bytes) {
  if (slot.bytes == 0 && bytes > 0) slot.age_of_bodies = shard.with_bodies.insert(shard.with_bodies.end(), &slot);
  if (slot.bytes > 0 && bytes == 0) shard.with_bodies.erase(slot.age_of_bodies);
  shard.bytes = shard.bytes - slot.bytes + bytes;
  slot.bytes = bytes;
}

void ResourceTable::drop_bodies(Shard& shard, Slot& slot, size_t most) {
  slot.history.drop_bodies(most);
  set_bytes(shard, slot, slot.history.body_bytes());
  ++shard.bodies_evicted;
}

void ResourceTable::keep_within_budget(Shard& shard, const Slot& touched) {
  const size_t most = options_.body_bytes_max / kShards;
  while (shard.bytes > most) {
    Slot& oldest = *shard.with_bodies.front();
    drop_bodies(shard, oldest, &oldest == &touched ? most : 0);
  }
}

void ResourceTable::apply(const Hash128& resource, policy::Event event) {
  if (sink_ != nullptr) return sink_->tell(resource, std::move(event));
  apply_here(resource, std::move(event));
}

void ResourceTable::forget_shown_until(uint64_t order) {
  for (Shard& shard : shards_) {
    MutexLock lock(&shard.mutex);
    shard.shown_horizon = std::max(shard.shown_horizon, order);
    for (auto& [key, slot] : shard.slots) slot.history.forget_shown_until(order);
  }
}

void ResourceTable::apply_here(const Hash128& resource, policy::Event event) {
  if (std::holds_alternative<policy::ResourceDeleted>(event)) any_deleted_.store(true, std::memory_order_release);
  Shard& shard = shard_of(resource);
  MutexLock lock(&shard.mutex);
  Slot& slot = touch(shard, resource);
  slot.history.apply(options_.history, std::move(event));
  set_bytes(shard, slot, slot.history.body_bytes());
  keep_within_budget(shard, slot);
}

ResourceTable::Deletion ResourceTable::last_delete(const arm::ResourceId& resource) const {
  Deletion newest;
  if (!any_deleted_.load(std::memory_order_acquire)) return newest;
  for (const auto& id : arm::self_and_ancestors(resource)) {
    const Hash128 key = hasher_.hash(id);
    const Shard& shard = shard_of(key);
    MutexLock lock(&shard.mutex);
    const Slot* slot = shard.slots.find(key);
    const policy::History* history = slot == nullptr ? nullptr : &slot->history;
    // What was known of it before it was forgotten, if it was.
    const uint64_t lost = history ? std::min(shard.deletes_forgotten, history->forgotten()) : shard.deletes_forgotten;
    if (lost > newest.order) newest = {lost, {}};
    if (history && history->deleted() >= newest.order) newest = {history->deleted(), history->deleted_by()};
  }
  return newest;
}

ResourceTable::Counts ResourceTable::counts() const {
  Counts counts;
  for (const Shard& shard : shards_) {
    MutexLock lock(&shard.mutex);
    counts.resources += shard.slots.size();
    counts.body_bytes += shard.bytes;
    counts.bodies_evicted += shard.bodies_evicted;
    counts.resources_evicted += shard.resources_evicted;
  }
  return counts;
}

}  // namespace armgate
