#include "proxy/state/lock/run_leases.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace armgate {

void RunLeases::hold_if_granted(Kept& kept) {
  if (kept.coming) kept.position = kept.coming();
  if (kept.position) kept.coming = nullptr;
  if (!kept.position || !kept.position->granted()) return;
  kept.lease = std::exchange(kept.position, std::nullopt)->into_lease();
  kept.lease.admit_own(Own::Any);
  kept.lease.set_phase(WritePhase::Runs);
  kept.loan = nullptr;
}

RunLeases::Lease RunLeases::shown(const std::string& id, const Kept& kept, TimePoint now) {
  Lease lease{id, kept.client_label, kept.purpose, kept.lease.held(), {}, now - kept.since, kept.ids};
  if (lease.held) return lease;
  const auto holder = kept.position ? kept.position->holder() : std::nullopt;
  lease.behind = holder ? fmt::format("{} of {}, since {} s", holder->what, holder->client_label,
                                      whole_milliseconds(now - holder->since) / 1000)
                        : std::string("another write");
  return lease;
}

Result<RunLeases::Lease> RunLeases::take(const std::vector<std::string>& resources, const Hash128& client,
                                         std::string_view client_label, std::string_view purpose, TimePoint now) {
  MutexLock lock(&mutex_);
  std::vector<Hash128> wanted;
  wanted.reserve(resources.size());
  for (const std::string& id : resources) wanted.push_back(locks_.key_of(id));
  const auto own = std::find_if(leases_.begin(), leases_.end(), [&](const auto& entry) {
    return entry.second.client == client && entry.second.resources == wanted;
  });
  if (own != leases_.end()) return hand_over(own, now);
  if (leases_.size() >= options_.leases_max || resources.size() > options_.resources_max) {
    return client_error(ErrorKind::TooLarge,
                        fmt::format("there are {} leases already, and this one names {} resources; the limits are {} and {}",
                                    leases_.size(), resources.size(), options_.leases_max, options_.resources_max));
  }
  Kept kept;
  std::vector<rules::LockKey> keys;
  for (const std::string& id : resources) {
    const Hash128 resource = wanted[keys.size()];
    for (const auto& [other_id, other] : leases_) {
      if (std::find(other.resources.begin(), other.resources.end(), resource) == other.resources.end()) continue;
      return client_error(ErrorKind::BadInput, fmt::format("{} is in a lease of {} since {} s ({})", id, other.client_label,
                                                           whole_milliseconds(now - other.since) / 1000, other.purpose));
    }
    keys.push_back({id, rules::LockMode::Exclusive});
  }
  ClaimInfo info;
  info.client_label = client_label;
  info.what = fmt::format("LEASE {}", resources.front());
  info.since = now;
  info.client = client;
  info.run = purpose;
  info.priority = ClaimInfo::Priority::BeforeAll;
  if (claim_) {
    kept.coming = claim_(keys, std::move(info));
  } else {
    auto position = locks_.join(keys, std::move(info), nullptr, 0);
    if (!position) return std::move(position).error();
    kept.position = *std::move(position);
  }
  kept.resources = std::move(wanted);
  kept.ids = fmt::format("{}", fmt::join(resources, " "));
  kept.client = client;
  kept.client_label = client_label;
  kept.purpose = purpose;
  kept.since = now;
  kept.until = now + options_.ttl;
  hold_if_granted(kept);
  const auto added = leases_.emplace(next_id(now), std::move(kept)).first;
  count_.store(leases_.size(), std::memory_order_release);
  return shown(added->first, added->second, now);
}

// Not to be guessed: whoever has it can end the lease.
std::string RunLeases::next_id(TimePoint now) {
  return hasher_.hash_fields("run lease", std::to_string(++taken_), std::to_string(now.time_since_epoch().count())).hex();
}

RunLeases::Lease RunLeases::hand_over(Leases::iterator found, TimePoint now) {
  auto node = leases_.extract(found);
  node.key() = next_id(now);
  node.mapped().until = now + options_.ttl;
  hold_if_granted(node.mapped());
  const auto added = leases_.insert(std::move(node)).position;
  return shown(added->first, added->second, now);
}

std::optional<RunLeases::Lease> RunLeases::renew(std::string_view id, TimePoint now) {
  MutexLock lock(&mutex_);
  const auto found = leases_.find(id);
  if (found == leases_.end() || found->second.until <= now) return std::nullopt;
  found->second.until = now + options_.ttl;
  hold_if_granted(found->second);
  return shown(found->first, found->second, now);
}

std::optional<RunLeases::Lease> RunLeases::end(Leases::iterator found, TimePoint now) {
  if (found == leases_.end()) return std::nullopt;
  hold_if_granted(found->second);
  Lease ended = shown(found->first, found->second, now);
  leases_.erase(found);
  count_.store(leases_.size(), std::memory_order_release);
  return ended;
}

std::optional<RunLeases::Lease> RunLeases::release(std::string_view id, TimePoint now) {
  MutexLock lock(&mutex_);
  return end(leases_.find(id), now);
}

std::optional<RunLeases::Lease> RunLeases::release_on(const Hash128& resource, TimePoint now) {
  if (count_.load(std::memory_order_acquire) == 0) return std::nullopt;
  MutexLock lock(&mutex_);
  return end(std::find_if(leases_.begin(), leases_.end(),
                          [&](const auto& entry) {
                            const auto& resources = entry.second.resources;
                            return std::find(resources.begin(), resources.end(), resource) != resources.end();
                          }),
             now);
}

std::vector<RunLeases::Lease> RunLeases::expire(TimePoint now) {
  std::vector<Lease> expired;
  if (count_.load(std::memory_order_acquire) == 0) return expired;
  MutexLock lock(&mutex_);
  for (auto it = leases_.begin(); it != leases_.end();) {
    const auto next = std::next(it);
    if (it->second.until <= now) expired.push_back(*end(it, now));
    it = next;
  }
  return expired;
}

void RunLeases::lend_credentials(const Hash128& client, std::string_view authorization, OperationLeases& op_leases) {
  if (count_.load(std::memory_order_acquire) == 0 || authorization.empty()) return;
  MutexLock lock(&mutex_);
  for (auto& [id, kept] : leases_) {
    if (kept.client != client || !kept.position) continue;
    kept.loan = std::make_unique<OperationLeases::CredentialLoan>();
    op_leases.lend_credentials(kept.resources, authorization, *kept.loan);
  }
}

bool RunLeases::lets_in(const Hash128& client, const std::vector<rules::LockKey>& keys) const {
  if (!claim_ && count_.load(std::memory_order_acquire) == 0) return false;
  return std::ranges::any_of(keys,
                             [&](const rules::LockKey& key) { return locks_.is_in_run_of(client, locks_.key_of(key.id)); });
}

}  // namespace armgate
