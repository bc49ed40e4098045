// lock.cc – the step in which a write waits for its keys.
#include "proxy/request/queue/lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/mutant.h"
#include "proxy/request/answer.h"
#include "proxy/request/cluster/recorded.h"
#include "proxy/request/operation/leased_write.h"
#include "proxy/request/queue/reservation.h"

namespace armgate {
namespace {

// Some clients take no more than 8 or 16 KiB of header fields.
void tell_locks(const std::vector<rules::LockKey>& keys, Report& report) {
  constexpr size_t kToldMax = 12;
  for (size_t i = 0; i < keys.size() && i < kToldMax; ++i) {
    report.locks.push_back(keys[i].mode == rules::LockMode::Shared ? keys[i].id + " (shared)" : keys[i].id);
  }
  if (keys.size() > kToldMax) report.locks.push_back(fmt::format("{} more", keys.size() - kToldMax));
}

// Whether the guard will read the resource, which shows nothing of use while it is being changed.
bool will_read_first(const Write& write) {
  if (!write.has_bases()) return false;
  const auto& bases = write.bases.possible;
  return !write.is_guarded_by_etag() || bases.size() != 1 || bases.front().etag.empty();
}

ClaimInfo info_of(const Write& write, const std::vector<rules::LockKey>& keys) {
  ClaimInfo info;
  info.client_label = write.client.label;
  info.what = write.head().method_token + ' ' + write.plan.target.resource.id;
  info.since = write.parts.clock.now();
  info.client = write.client.key;
  info.resource = write.plan.resource_key;
  info.bytes = write.request_hash;
  info.is_reentrant = is_reentrant(write);
  if (write.parts.shared.run_leases.lets_in(write.client.key, keys)) info.priority = ClaimInfo::Priority::InRunLease;
  return info;
}

Result<QueuePosition> stand_in_line(const Write& write, const std::vector<rules::LockKey>& keys) {
  ClaimInfo info = info_of(write, keys);
  const bool is_in_run_lease = info.priority == ClaimInfo::Priority::InRunLease;  // its positions of before are behind others
  auto kept = redeem_reservation(write, keys);
  if (kept && !is_in_run_lease) return *std::move(kept);
  auto& locks = write.parts.shared.locks;
  std::optional<QueuePosition> turns;  // kept until the write stands in line, so that nobody gets in between
  if (const auto turn = write.parts.shared.turns.take(write.plan.resource_key, write.client.key)) {
    write.report().in_turn = true;
    turns = turn->take_position();
    info.priority = std::max(info.priority, ClaimInfo::Priority::InTurn);
  }
  Waiter* waiter = &write.client_wait.waiter();
  if (turns && !is_in_run_lease && turns->is_for(keys)) {
    turns->become_write(std::move(info));
    turns->set_waiter(waiter, ClientWait::kGranted);
    return *std::move(turns);
  }
  if (is_mutant(Mutant::ParentNotLocked))
    return locks.join({write.plan.keys.back()}, std::move(info), waiter, ClientWait::kGranted);
  return locks.join(keys, std::move(info), waiter, ClientWait::kGranted);
}

std::string still_running(const Parts& parts, const std::optional<ClaimInfo>& holder) {
  if (!holder) return "Other writes to this resource come first.";
  if (!holder->run_purpose.empty()) {
    return fmt::format("The resource is kept for a run of {} since {} s: {}.", holder->client_label,
                       whole_milliseconds(parts.clock.now() - holder->since) / 1000, holder->run_purpose);
  }
  return fmt::format("Another write is still running: {} of {}, since {} s.", holder->what, holder->client_label,
                     whole_milliseconds(parts.clock.now() - holder->since) / 1000);
}

}  // namespace

bool is_reentrant(const Write& write) { return may_run_beside_its_own(write.plan) && !will_read_first(write); }

Task<Step<WriteLease>> lock(const Write& write) {
  auto& parts = write.parts;
  const TimePoint asked = parts.clock.now();
  std::vector<rules::LockKey> with_references;  // most bodies refer to nothing
  if (!write.references.empty()) with_references = all_keys(write);
  const auto& all = write.references.empty() ? write.plan.keys : with_references;
  std::optional<QueuePosition> position;
  if (parts.cluster == nullptr) {
    auto found = stand_in_line(write, all);
    if (!found) {
      parts.shared.counters.queue_full.fetch_add(1, std::memory_order_relaxed);
      co_return try_later(write, found.error().context, "queue-full");
    }
    position = *std::move(found);
  } else {
    auto claimed = co_await claim_in_cluster(write, all, info_of(write, all));
    if (!claimed) co_return std::move(claimed).ended();
    position = *std::move(claimed);
    if (position->granted()) {
      if (auto elsewhere = answered_elsewhere(write)) co_return *std::move(elsewhere);
    }
  }
  tell_locks(all, write.report());
  if (position->granted()) co_return position->into_lease();

  std::vector<Hash128> keys;
  keys.reserve(all.size());
  for (const auto& key : all) keys.push_back(parts.shared.locks.key_of(key.id));
  OperationLeases::CredentialLoan loan;
  parts.shared.op_leases.lend_credentials(keys, write.authorization(), loan);
  const auto end = co_await write.client_wait.await_grant(*position);
  write.report().waited += parts.clock.now() - asked;
  switch (end) {
    case ClientWait::End::Ready: {
      if (parts.cluster != nullptr) {
        if (auto elsewhere = answered_elsewhere(write)) co_return *std::move(elsewhere);
      }
      write.report().reason = "waited-for-another-write";
      co_return position->into_lease();
    }
    case ClientWait::End::Gone: {
      reserve_position(write, *std::move(position));
      co_return client_left(write, "client-left-the-queue");
    }
    case ClientWait::End::Closing: co_return try_later(write, kClosing, "armgate-ends");
    case ClientWait::End::TimeUp: break;
  }
  const auto holder = position->holder();
  const std::string why = still_running(parts, holder);
  reserve_position(write, *std::move(position));
  parts.shared.counters.wait_timeouts.fetch_add(1, std::memory_order_relaxed);
  co_return try_later(write, why, holder && !holder->run_purpose.empty() ? "kept-for-a-run" : "waited-too-long");
}

}  // namespace armgate
