#include "proxy/state/client_table.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace armgate {

void ClientTable::make_room(Shard& shard, TimePoint now) {
  const size_t most = std::max<size_t>(1, options_.clients_max / kShards);
  bool has_gone = false;  // one leaves for each that comes, also where many more than that were in use at once
  shard.clients.make_room(most, [&](const Hash128&, const auto& client) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (has_gone || client.use_count() > 1 || client->expire(now)) return false;
    has_gone = true;
    shard.pages_forgotten = std::max(shard.pages_forgotten, client->pages_known());
    shard.first_sending = std::max(shard.first_sending, client->sendings().next_id());
    budget_.clients_evicted.fetch_add(1, std::memory_order_relaxed);
    return true;
  });
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

// Of those who do not come back nobody else would: their answers may be megabytes.
void ClientTable::expire_some(TimePoint now) {
  TimePoint due = next_look_.load(std::memory_order_relaxed);
  if (now < due || !next_look_.compare_exchange_strong(due, now + kLookEvery, std::memory_order_relaxed)) return;
  Shard& shard = shards_[looks_.fetch_add(1, std::memory_order_relaxed) % kShards];
  MutexLock lock(&shard.mutex);
  for (const auto& [key, state] : shard.clients) state->expire(now);
}

std::shared_ptr<ClientState> ClientTable::find_or_add(const Hash128& client, TimePoint now) {
  expire_some(now);
  if (budget_.is_scarce()) take_pages_from_idle();
  Shard& shard = shards_[client.high % kShards];
  MutexLock lock(&shard.mutex);
  auto* known = shard.clients.use(client);
  if (known == nullptr) {
    make_room(shard, now);
    ClientState::Options options = options_.client;
    options.sendings.first_id = std::max(options.sendings.first_id, shard.first_sending);
    known = &shard.clients.add(client, std::make_shared<ClientState>(options, budget_, shard.pages_forgotten, client));
  }
  (*known)->touch(now);
  return *known;
}

std::shared_ptr<ClientState> ClientTable::find(const Hash128& client) const {
  const Shard& shard = shards_[client.high % kShards];
  MutexLock lock(&shard.mutex);
  const auto* known = shard.clients.find(client);
  return known == nullptr ? nullptr : *known;
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
