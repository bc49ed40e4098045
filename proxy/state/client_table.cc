#include "proxy/state/client_table.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace armgate {

void ClientTable::make_room(Shard& shard, TimePoint now) {
  if (shard.clients.size() < std::max<size_t>(1, options_.clients_max / kShards)) return;
  auto oldest = shard.clients.end();
  for (auto it = shard.clients.begin(); it != shard.clients.end(); ++it) {
    const bool in_use = it->second.use_count() > 1 || it->second->busy(now);
    if (in_use) continue;
    const auto age = [](const auto& entry) { return std::pair(entry->second->last_used(), entry->first); };
    if (oldest == shard.clients.end() || age(it) < age(oldest)) oldest = it;
  }
  if (oldest == shard.clients.end()) return;
  shard.pages_forgotten = std::max(shard.pages_forgotten, oldest->second->pages_known());
  shard.clients.erase(oldest);
  budget_.clients_evicted.fetch_add(1, std::memory_order_relaxed);
}

// A quarter at once, so that it is seldom.
void ClientTable::take_pages_from_idle() {
  if (is_taking_pages_.exchange(true, std::memory_order_acquire)) return;
  std::vector<std::pair<TimePoint, std::shared_ptr<ClientState>>> clients;
  for (Shard& shard : shards_) {
    MutexLock lock(&shard.mutex);
    for (const auto& [key, state] : shard.clients) clients.emplace_back(state->last_used(), state);
  }
  std::sort(clients.begin(), clients.end());
  const size_t most = budget_.page_bytes_max - budget_.page_bytes_max / 4;
  for (const auto& [used, state] : clients) {
    if (budget_.page_bytes.load(std::memory_order_relaxed) <= most) break;
    state->drop_pages(most);
  }
  is_taking_pages_.store(false, std::memory_order_release);
}

std::shared_ptr<ClientState> ClientTable::find_or_add(const Hash128& client, TimePoint now) {
  if (budget_.is_scarce()) take_pages_from_idle();
  Shard& shard = shards_[client.high % kShards];
  MutexLock lock(&shard.mutex);
  auto it = shard.clients.find(client);
  if (it == shard.clients.end()) {
    make_room(shard, now);
    it = shard.clients.emplace(client, std::make_shared<ClientState>(options_.client, budget_, shard.pages_forgotten, client))
             .first;
  }
  it->second->touch(now);
  return it->second;
}

std::shared_ptr<ClientState> ClientTable::find(const Hash128& client) const {
  const Shard& shard = shards_[client.high % kShards];
  MutexLock lock(&shard.mutex);
  const auto it = shard.clients.find(client);
  return it == shard.clients.end() ? nullptr : it->second;
}

size_t ClientTable::size() const {
  size_t total = 0;
  for (const auto& shard : shards_) {
    MutexLock lock(&shard.mutex);
    total += shard.clients.size();
  }
  return total;
}

}  // namespace armgate
