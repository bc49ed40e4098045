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
  for (auto it = shard.by_age.begin(); shard.slots.size() >= most && it != shard.by_age.end();) {
    const auto slot = shard.slots.find(*it);
    if (slot->second->history.busy()) {
      ++it;
      continue;
    }
    shard.horizon = std::max(shard.horizon, newest_order(slot->second->history));
    shard.bytes -= slot->second->bytes;
    ++shard.resources_evicted;
    shard.slots.erase(slot);
    it = shard.by_age.erase(it);
  }
}

ResourceTable::Slot& ResourceTable::touch(Shard& shard, const Hash128& key) {
  const auto it = shard.slots.find(key);
  if (it != shard.slots.end()) {
    shard.by_age.splice(shard.by_age.end(), shard.by_age, it->second->age);
    return *it->second;
  }
  make_room(shard);
  auto slot = std::make_unique<Slot>();
  slot->age = shard.by_age.insert(shard.by_age.end(), key);
  slot->history.forget_until(shard.horizon);
  return *shard.slots.emplace(key, std::move(slot)).first->second;
}

// Never the bodies of `keep`, which is being worked on, as long as others have any.
void ResourceTable::keep_within_budget(Shard& shard, const Hash128& keep) {
  const size_t most = options_.body_bytes_max / kShards;
  for (auto it = shard.by_age.begin(); shard.bytes > most && it != shard.by_age.end(); ++it) {
    Slot& slot = *shard.slots.at(*it);
    const bool is_last_resort = *it == keep;
    if (slot.bytes == 0 || (is_last_resort && slot.bytes <= most)) continue;
    shard.bytes -= slot.history.drop_bodies();
    slot.bytes = 0;
    ++shard.bodies_evicted;
  }
}

void ResourceTable::apply(const Hash128& resource, policy::Event event) {
  if (std::holds_alternative<policy::Deleted>(event)) any_deleted_.store(true, std::memory_order_release);
  Shard& shard = shard_of(resource);
  MutexLock lock(&shard.mutex);
  Slot& slot = touch(shard, resource);
  if (std::holds_alternative<policy::Deleted>(event)) slot.created.reset();
  slot.history.apply(options_.history, std::move(event));
  const size_t bytes = slot.history.body_bytes();
  shard.bytes = shard.bytes - slot.bytes + bytes;
  slot.bytes = bytes;
  keep_within_budget(shard, resource);
}

ResourceTable::Deletion ResourceTable::last_delete(const arm::ResourceId& resource) const {
  Deletion newest;
  if (!any_deleted_.load(std::memory_order_acquire)) return newest;
  for (const auto& id : arm::self_and_ancestors(resource)) {
    const Deletion one = ask(hasher_.hash(id), [](const policy::History& h) { return Deletion{h.deleted(), h.deleted_by()}; });
    if (one.order > newest.order) newest = one;
  }
  return newest;
}

void ResourceTable::created(const Hash128& resource, Moment when) {
  Shard& shard = shard_of(resource);
  MutexLock lock(&shard.mutex);
  touch(shard, resource).created = when;
}

void ResourceTable::being_deleted(const Hash128& resource) {
  Shard& shard = shard_of(resource);
  MutexLock lock(&shard.mutex);
  const auto it = shard.slots.find(resource);
  if (it != shard.slots.end()) it->second->created.reset();
}

std::optional<TimePoint> ResourceTable::created_at(const Hash128& resource) const {
  const Shard& shard = shard_of(resource);
  MutexLock lock(&shard.mutex);
  const auto it = shard.slots.find(resource);
  if (it == shard.slots.end() || !it->second->created) return std::nullopt;
  return it->second->created->time;
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
