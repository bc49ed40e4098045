#include "proxy/state/resource_log.h"

#include <algorithm>

namespace armgate {

ResourceLog::ResourceLog(Options options, Hasher hasher) : options_(options), hasher_(hasher) {}

ResourceLog::Entry& ResourceLog::touch(Shard& shard, const Hash128& key) const {
  const auto it = shard.entries.find(key);
  if (it != shard.entries.end()) {
    shard.by_age.splice(shard.by_age.end(), shard.by_age, it->second.age);
    return it->second;
  }
  if (shard.entries.size() >= std::max<size_t>(1, options_.resources_max / kShards)) {
    const auto oldest = shard.entries.find(shard.by_age.front());
    const Entry& lost = oldest->second;
    for (const auto& write : lost.recent) shard.horizon = std::max({shard.horizon, write.accepted, write.finished});
    shard.horizon = std::max({shard.horizon, lost.forgotten_until, lost.deletion.when.order});
    shard.entries.erase(oldest);
    shard.by_age.pop_front();
  }
  Entry& entry = shard.entries[key];
  entry.age = shard.by_age.insert(shard.by_age.end(), key);
  entry.forgotten_until = shard.horizon;
  return entry;
}

void ResourceLog::accepted(const Hash128& resource, const Hash128& client, const Hash128& bytes, Moment when,
                           const Hash128& origin, Write::Of of) {
  Shard& shard = shard_of(resource);
  MutexLock lock(&shard.mutex);
  Entry& entry = touch(shard, resource);
  if (entry.recent.size() == kRecentMax) {
    const Write& lost = entry.recent.front();
    entry.forgotten_until = std::max({entry.forgotten_until, lost.accepted, lost.finished});
    entry.recent.erase(entry.recent.begin());
  }
  entry.recent.push_back(Write{bytes, client, origin, of, when.order, 0});
}

void ResourceLog::finished(const Hash128& resource, const Hash128& bytes, Moment when) {
  Shard& shard = shard_of(resource);
  MutexLock lock(&shard.mutex);
  Entry& entry = touch(shard, resource);
  for (auto it = entry.recent.rbegin(); it != entry.recent.rend(); ++it) {
    if (it->bytes == bytes && it->finished == 0) {
      it->finished = when.order;
      return;
    }
  }
  entry.forgotten_until = std::max(entry.forgotten_until, when.order);
}

void ResourceLog::deleted(const Hash128& resource, const Hash128& client, Moment when) {
  any_deleted_.store(true, std::memory_order_release);
  Shard& shard = shard_of(resource);
  MutexLock lock(&shard.mutex);
  Entry& entry = touch(shard, resource);
  if (when.order > entry.deletion.when.order) entry.deletion = {when, client};
  entry.created.reset();
}

void ResourceLog::being_deleted(const Hash128& resource) {
  Shard& shard = shard_of(resource);
  MutexLock lock(&shard.mutex);
  const auto it = shard.entries.find(resource);
  if (it != shard.entries.end()) it->second.created.reset();
}

void ResourceLog::created(const Hash128& resource, Moment when) {
  Shard& shard = shard_of(resource);
  MutexLock lock(&shard.mutex);
  touch(shard, resource).created = when;
}

template <class Matches>
bool ResourceLog::any_since(const Hash128& resource, uint64_t since, Matches matches) const {
  Shard& shard = shard_of(resource);
  MutexLock lock(&shard.mutex);
  const auto it = shard.entries.find(resource);
  if (it == shard.entries.end()) return shard.horizon > since;
  if (it->second.forgotten_until > since) return true;
  return std::any_of(it->second.recent.begin(), it->second.recent.end(), matches);
}

namespace {
bool is_other(const ResourceLog::Write& write, const Hash128& bytes, const std::optional<Hash128>& same_client) {
  return write.bytes != bytes && !(same_client && write.client == *same_client);
}
}  // namespace

bool ResourceLog::other_finished_since(const Hash128& resource, const Hash128& bytes, uint64_t since,
                                       std::optional<Hash128> same_client) const {
  return any_since(resource, since, [&](const Write& w) { return w.finished > since && is_other(w, bytes, same_client); });
}

bool ResourceLog::other_accepted_since(const Hash128& resource, const Hash128& bytes, uint64_t since,
                                       std::optional<Hash128> same_client) const {
  return any_since(resource, since, [&](const Write& w) { return w.accepted > since && is_other(w, bytes, same_client); });
}

bool ResourceLog::others_accepted_since(const Hash128& resource, const Hash128& client, const Hash128& origin,
                                        uint64_t since) const {
  return any_since(resource, since,
                   [&](const Write& w) { return w.accepted > since && (w.client != client || w.origin != origin); });
}

bool ResourceLog::child_accepted_since(const Hash128& resource, uint64_t since) const {
  return any_since(resource, since, [&](const Write& w) { return w.accepted > since && w.of == Write::Of::Child; });
}

ResourceLog::Deletion ResourceLog::last_delete(const arm::ResourceId& resource) const {
  Deletion newest;
  if (!any_deleted_.load(std::memory_order_acquire)) return newest;
  for (const auto& id : arm::self_and_ancestors(resource)) {
    const Hash128 key = hasher_.hash(id);
    Shard& shard = shard_of(key);
    MutexLock lock(&shard.mutex);
    const auto it = shard.entries.find(key);
    if (it != shard.entries.end() && it->second.deletion.when.order > newest.when.order) newest = it->second.deletion;
  }
  return newest;
}

std::optional<TimePoint> ResourceLog::created_at(const Hash128& resource) const {
  Shard& shard = shard_of(resource);
  MutexLock lock(&shard.mutex);
  const auto it = shard.entries.find(resource);
  if (it == shard.entries.end() || !it->second.created) return std::nullopt;
  return it->second.created->time;
}

size_t ResourceLog::size() const {
  size_t total = 0;
  for (const auto& shard : shards_) {
    MutexLock lock(&shard.mutex);
    total += shard.entries.size();
  }
  return total;
}

}  // namespace armgate
