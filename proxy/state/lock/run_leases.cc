#include "proxy/state/lock/run_leases.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace armgate {

void RunLeases::hold_if_granted(Kept& kept) {
  if (kept.coming) kept.position = kept.coming();
  if (!kept.position) return;
  kept.coming = nullptr;
  kept.number = kept.position->number();
  if (!kept.position->granted()) return;
  kept.lease = std::exchange(kept.position, std::nullopt)->into_lease();
  kept.lease.admit_own(Own::Any);
  kept.loan = nullptr;
}

RunLeases::Lease RunLeases::shown(const std::string& id, const Kept& kept, TimePoint now) {
  Lease lease{id, kept.client_label, kept.purpose, kept.lease.held(), {}, {}, now - kept.since, kept.ids, {}};
  if (lease.held) return lease;
  if (kept.coming) lease.behind = "the other armgates, which are being told";
  if (kept.coming) return lease;
  if (const auto newest = kept.position->newest_at_arm(now)) lease.behind_age = now - *newest;
  const auto holder = kept.position->holder();
  lease.behind = holder ? fmt::format("{} of {}, since {} s", holder->what, holder->client_label,
                                      whole_milliseconds(now - holder->since) / 1000)
                        : std::string("another write");
  return lease;
}

std::optional<Error> RunLeases::taken_by_another(const std::vector<std::string>& ids, const std::vector<Hash128>& wanted,
                                                 const Hash128& client, TimePoint now) const {
  const auto in_lease = [now](std::string_view id, std::string_view whose, TimePoint since, std::string_view purpose) {
    return client_error(ErrorKind::BadInput, fmt::format("{} is in a lease of {} since {} s ({})", id, whose,
                                                         whole_milliseconds(now - since) / 1000, purpose));
  };
  for (const std::string& id : ids) {
    const Hash128 resource = locks_.key_of(id);
    for (const auto& [other_id, other] : leases_) {  // also those that have no position yet
      if (std::ranges::binary_search(other.resources, resource))
        return in_lease(id, other.client_label, other.since, other.purpose);
    }
    for (const auto& other : locks_.run_leases_on(resource)) {
      const bool comes_again = other.info.client == client && other.keys == wanted;
      // One of this process' own that is not among them was given back, which the log does not say yet.
      if (other.is_elsewhere && !comes_again)
        return in_lease(id, other.info.client_label, other.info.since, other.info.run_purpose);
    }
  }
  return std::nullopt;
}

// All processes number the leases alike, in the order in which they came to the lock table.
std::optional<std::string> RunLeases::why_over(const Kept& kept) const {
  if (kept.number == 0) return std::nullopt;
  for (const Hash128& resource : kept.resources) {
    for (const auto& other : locks_.run_leases_on(resource)) {
      const bool comes_again = other.info.client == kept.client && other.keys == kept.resources;
      if (comes_again && other.number > kept.number) return "its client has come again through another armgate";
      if (!comes_again && other.number < kept.number)
        return fmt::format("{} has asked first through another armgate ({})", other.info.client_label, other.info.run_purpose);
    }
  }
  return std::nullopt;
}

void RunLeases::end_lost(TimePoint now) {
  for (auto it = leases_.begin(); it != leases_.end();) {
    const auto next = std::next(it);
    hold_if_granted(it->second);
    if (auto why = why_over(it->second)) {
      lost_.push_back(*end(it, now));
      lost_.back().over = *std::move(why);
    }
    it = next;
  }
}

Result<RunLeases::Lease> RunLeases::take(const std::vector<std::string>& resources, const Hash128& client,
                                         std::string_view client_label, std::string_view purpose, TimePoint now) {
  MutexLock lock(&mutex_);
  end_lost(now);
  std::vector<Hash128> wanted;
  std::vector<rules::LockKey> keys;
  for (const std::string& id : resources) {
    wanted.push_back(locks_.key_of(id));
    keys.push_back({id, rules::LockMode::Exclusive});
  }
  std::ranges::sort(wanted);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  const auto own = std::find_if(leases_.begin(), leases_.end(), [&](const auto& entry) {
    return entry.second.client == client && entry.second.resources == wanted;
  });
  if (own != leases_.end()) return hand_over(own, now);
  if (leases_.size() >= options_.leases_max || resources.size() > options_.resources_max) {
    return client_error(ErrorKind::TooLarge,
                        fmt::format("there are {} leases already, and this one names {} resources; the limits are {} and {}",
                                    leases_.size(), resources.size(), options_.leases_max, options_.resources_max));
  }
  if (auto taken = taken_by_another(resources, wanted, client, now)) return *std::move(taken);
  Kept kept;
  ClaimInfo info;
  info.client_label = client_label;
  info.what = fmt::format("LEASE {}", resources.front());
  info.since = now;
  info.client = client;
  info.run_purpose = purpose;
  info.priority = ClaimInfo::Priority::RunLease;
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
  end_lost(now);
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
  const auto has_it = [&](const auto& entry) { return std::ranges::binary_search(entry.second.resources, resource); };
  return end(std::find_if(leases_.begin(), leases_.end(), has_it), now);
}

std::vector<RunLeases::Lease> RunLeases::expire(TimePoint now) {
  MutexLock lock(&mutex_);
  end_lost(now);
  std::vector<Lease> over = std::exchange(lost_, {});
  for (auto it = leases_.begin(); it != leases_.end();) {
    const auto next = std::next(it);
    if (it->second.until <= now) {
      over.push_back(*end(it, now));
      over.back().over = "it was not renewed";
    }
    it = next;
  }
  return over;
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
  return std::ranges::any_of(
      keys, [&](const rules::LockKey& key) { return locks_.is_in_run_lease_of(client, locks_.key_of(key.id)); });
}

}  // namespace armgate
