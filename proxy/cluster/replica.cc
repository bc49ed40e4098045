#include "proxy/cluster/replica.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <utility>

#include "base/mutant.h"
#include "proxy/async/waiter.h"
#include "proxy/cluster/codec.h"
#include "proxy/cluster/told_bodies.h"

namespace armgate::cluster {
namespace {

constexpr size_t kBatchEvents = 1'000;
constexpr size_t kBatchBytes = 4u << 20;  // of bodies; a single event may have more
constexpr unsigned kClaimBits = 32;       // of a replica's own numbers in a claim's id
constexpr uint32_t kLogged = 1;
constexpr uint32_t kTooLate = 2;

// There may be too much of it: then the others are told that reads are missing.
bool may_be_left_out(const Event& event) {
  const auto* const told = std::get_if<Told>(&event);
  const bool shows = told != nullptr && (std::holds_alternative<policy::StateShown>(told->event) ||
                                         std::holds_alternative<policy::NotModified>(told->event));
  return shows || std::holds_alternative<PageShown>(event);
}

// Of operations that clients poll: whoever follows one sees its end with a look of its own, and is polled again.
bool is_told_again(const Event& event) {
  return std::holds_alternative<EndTold>(event) || std::holds_alternative<OwnedPolled>(event);
}

size_t bytes_of(const policy::SharedBody& body) { return body ? body->bytes.size() : 0; }

size_t bytes_of(const policy::Event& event) {
  if (const auto* shown = std::get_if<policy::StateShown>(&event)) return bytes_of(shown->rendering.body);
  if (const auto* accepted = std::get_if<policy::WriteAccepted>(&event)) return bytes_of(accepted->requested_body);
  const auto* refused = std::get_if<policy::Refused>(&event);
  return refused == nullptr ? 0 : bytes_of(refused->refusal.requested_body) + bytes_of(refused->refusal.found);
}

// The bytes of the large parts of an event.
size_t bytes_of(const Event& event) {
  if (const auto* told = std::get_if<Told>(&event)) return bytes_of(told->event);
  if (const auto* page = std::get_if<PageShown>(&event)) return bytes_of(page->page.body);
  if (const auto* end = std::get_if<EndTold>(&event)) return end->body.size();
  const auto* sending = std::get_if<SendingEvent>(&event);
  return sending == nullptr || !sending->ending.answer ? 0 : sending->ending.answer->body.size();
}

}  // namespace

// Waits until something is logged.
struct Replica::Pending {
  Pending(const Executor& executor, uint64_t upto_) : waiter(executor), upto(upto_) {}
  Waiter waiter;
  const uint64_t upto;
  uint64_t row = 0;  // in which it stands; set before the signal
};

// Of a claim of this replica's: what its owner gives back is told first.
class Replica::Keeper final : public ClaimKeeper {
 public:
  Keeper(Replica& replica, ClaimId claim) : replica_(replica), claim_(claim) {}
  uint64_t claim() const override { return claim_; }
  void give_back(const std::vector<Hash128>& some) override { replica_.post(Released{claim_, some}); }
  void admit_own(Own which) override { replica_.post(OwnAdmitted{claim_, which}); }
  void yield() override { replica_.post(Yielded{claim_}); }

 private:
  Replica& replica_;
  const ClaimId claim_;
};

Replica::Replica(Options options)
    : options_(options), bodies_(std::make_unique<ToldBodies>(options.hash_key, options.hashed_least)) {}
Replica::~Replica() = default;

QueuePosition Replica::kept_for(ClaimId claim, QueuePosition& position) {
  return position.keep(std::make_shared<Keeper>(*this, claim));
}

void Replica::post(Event event) {
  {
    MutexLock lock(&mutex_);
    const bool is_full = queue_.size() >= options_.queue_max || queue_bytes_ >= options_.queue_bytes_max;
    if (is_full && may_be_left_out(event)) {
      reads_missing_ = true;
      return;
    }
    if (is_full && is_told_again(event)) return;
    queue_bytes_ += bytes_of(event);
    queue_.push_back(std::move(event));
    ++posted_;
  }
  if (wake_) wake_();
}

bool Replica::takes_more() const {
  MutexLock lock(&mutex_);
  return queue_.size() < 2 * options_.queue_max && queue_bytes_ < 2 * options_.queue_bytes_max;
}

void Replica::tell(SendingEvent event) {
  using What = SendingEvent::What;
  const bool asks = event.what == What::Added || event.what == What::Again || event.what == What::Asked;
  if (asks && event.arrival.asker) {
    MutexLock lock(&mutex_);
    askers_.push_back({event.asking, event.client, event.arrival.asker});
  }
  event.arrival.asker = nullptr;
  post(std::move(event));
}

void Replica::look_at_askers() {
  std::vector<Asker> gone;
  {
    MutexLock lock(&mutex_);
    std::erase_if(askers_, [&](const Asker& asker) {
      if (asker.presence.use_count() == 1) return true;  // its exchange is over, and told how
      if (!asker.presence->gone.load(std::memory_order_acquire)) return false;
      gone.push_back(asker);
      return true;
    });
  }
  for (const Asker& asker : gone) post(SendingEvent{SendingEvent::What::AskerGone, asker.client, asker.asking, {}, {}});
}

Task<std::optional<uint64_t>> Replica::flush(const Executor& executor, TimePoint until) {
  std::shared_ptr<Pending> pending;
  {
    MutexLock lock(&mutex_);
    if (given_up_.load()) co_return std::nullopt;
    if (logged_ == posted_) co_return tables_->clock.next_moment().order;
    pending = std::make_shared<Pending>(executor, posted_);
    pending_.push_back(pending);
  }
  const auto timer = tables_->clock.call_at(executor, until, [late = pending.get()] { late->waiter.signal(kTooLate); });
  const uint32_t what = co_await pending->waiter.wait();
  if ((what & kLogged) != 0) co_return order_in(pending->row, 0);
  MutexLock lock(&mutex_);
  pending_.remove(pending);
  co_return std::nullopt;
}

void Replica::give_up() {
  sends_until_.store(TimePoint::min(), std::memory_order_relaxed);
  apart_from_.store(TimePoint::min(), std::memory_order_relaxed);
  std::list<std::shared_ptr<Pending>> waiting;
  {
    MutexLock lock(&mutex_);
    given_up_.store(true);
    waiting = pending_;
  }
  for (const auto& pending : waiting) pending->waiter.signal(kTooLate);
}

void Replica::wake_flushed(uint64_t row) {
  std::vector<std::shared_ptr<Pending>> over;
  {
    MutexLock lock(&mutex_);
    for (auto it = pending_.begin(); it != pending_.end();) {
      const auto next = std::next(it);
      if ((*it)->upto <= logged_) {
        over.push_back(*it);
        pending_.erase(it);
      }
      it = next;
    }
  }
  for (const auto& pending : over) {
    pending->row = row;
    pending->waiter.signal(kLogged);
  }
}

Claimed Replica::new_claim(const std::vector<rules::LockKey>& keys, ClaimInfo info) {
  Claimed claimed;
  claimed.claim = (uint64_t{options_.id} << kClaimBits) | next_claim_.fetch_add(1);
  claimed.keys = keys;
  claimed.info = std::move(info);
  return claimed;
}

ComingPosition Replica::claim_to_poll(const std::vector<rules::LockKey>& keys, ClaimInfo info) {
  Claimed claimed = new_claim(keys, std::move(info));
  claimed.asked = std::make_shared<Claimed::Asked>();
  auto asked = claimed.asked;
  post(std::move(claimed));
  return [this, asked = std::move(asked)]() -> std::optional<QueuePosition> {
    MutexLock lock(&asked_mutex_);
    return std::exchange(asked->position, std::nullopt);
  };
}

Task<std::optional<Replica::ClaimAnswer>> Replica::claim(const std::vector<rules::LockKey>& keys, ClaimInfo info,
                                                         Waiter* waiter, uint32_t bits, const Executor& executor,
                                                         TimePoint until) {
  Claimed claimed = new_claim(keys, std::move(info));
  claimed.asked = std::make_shared<Claimed::Asked>(Claimed::Asked{waiter});
  const auto asked = claimed.asked;
  claimed.bits = bits;
  post(std::move(claimed));
  co_await flush(executor, until);
  MutexLock lock(&asked_mutex_);
  asked->waiter = nullptr;  // nobody waits any more: it is given back as soon as it is there
  if (!asked->position) co_return std::nullopt;
  co_return ClaimAnswer{*std::exchange(asked->position, std::nullopt), asked->in_turn, asked->was_reserved};
}

Task<std::optional<IntentId>> Replica::intend(Intended intended, const Executor& executor, TimePoint until) {
  if (is_mutant(Mutant::IntentUnfenced)) co_return tables_->clock.next_moment().order;
  const auto id = intended.id = std::make_shared<std::atomic<IntentId>>(0);
  post(std::move(intended));
  if ((co_await flush(executor, until)).has_value()) co_return id->load();
  IntentId none = 0;
  // It stands in the log by now, or is told as not sent when it does.
  if (!id->compare_exchange_strong(none, kNotSent)) co_return none;
  co_return std::nullopt;
}

Task<std::optional<bool>> Replica::probe(const Hash128& resource, uint64_t judged, const Executor& executor, TimePoint until) {
  const auto is_won = std::make_shared<std::atomic<bool>>(false);
  post(Probing{resource, judged, is_won});
  const auto recorded = co_await flush(executor, until);
  if (!recorded) co_return std::nullopt;
  co_return is_won->load();
}

void Replica::confirm(TimePoint asked, TimePoint answered) {
  sends_until_.store(asked + options_.membership_lease - options_.membership_lease / 5, std::memory_order_relaxed);
  apart_from_.store(answered + options_.membership_lease, std::memory_order_relaxed);
}

SendLimits Replica::limits_of_one(TimePoint deadline) const {
  SendLimits limits(deadline);
  // The other half is for what the system has taken and not brought there yet (upstream.unacknowledged_max).
  if (options_.quiet > Duration::zero()) limits.write_max = options_.quiet / 2;
  return limits;
}

uint64_t Replica::surely_before(TimePoint when, uint64_t order) const {
  return std::max(order, last_order_in(positions_.surely_before(when)));
}

// The bodies stay here.
void Replica::name_changes() {
  for (Event& event : told_) {
    auto* const settled = std::get_if<Settled>(&event);
    if (settled == nullptr) continue;
    const AskedChange change = std::exchange(settled->outcome.change, {});
    if (tables_->name_members) settled->touched = tables_->name_members(change);
  }
}

// In place of bodies that stand in the log. What the first of a batch tells as a whole the next ones of it need not.
void Replica::tell_hashes() {
  absl::flat_hash_set<Hash128> told;
  const auto hash_for = [&](const policy::SharedBody& body) -> std::optional<Hash128> {
    if (!bodies_->is_worth_it(body)) return std::nullopt;
    const Hash128 hash = bodies_->hash_of(*body);
    if (!bodies_->is_told(hash, tables_->clock.now()) && told.insert(hash).second) return std::nullopt;
    return hash;
  };
  for (Event& event : told_) {
    if (auto* const page = std::get_if<PageShown>(&event)) {
      const auto hash = hash_for(page->page.body);
      if (!hash) continue;
      policy::SharedBody body = std::exchange(page->page.body, nullptr);
      event = PageShownAgain{page->client, std::move(page->page), *hash, std::move(body)};
    } else if (auto* const one = std::get_if<Told>(&event)) {
      auto* const shown = std::get_if<policy::StateShown>(&one->event);
      if (shown == nullptr) continue;
      const auto hash = hash_for(shown->rendering.body);
      if (!hash) continue;
      policy::SharedBody body = std::exchange(shown->rendering.body, nullptr);
      event = ShownAgain{one->resource, std::move(*shown), *hash, std::move(body)};
    }
  }
}

std::optional<Replica::Batch> Replica::next_batch() {
  if (told_.empty()) {
    {
      MutexLock lock(&mutex_);
      if (queue_.empty()) return std::nullopt;
      told_missing_ = std::exchange(reads_missing_, false);
      for (size_t bytes = 0; !queue_.empty() && told_.size() < kBatchEvents && bytes < kBatchBytes;) {
        const size_t more = bytes_of(queue_.front());
        bytes += more;
        queue_bytes_ -= more;
        told_.push_back(std::move(queue_.front()));
        queue_.pop_front();
      }
    }
    name_changes();
    tell_hashes();
    ++batch_;
  }
  return Batch{batch_, encode(told_, tables_->clock.now()), told_missing_};
}

std::vector<ReplicaId> Replica::claimants() const {
  std::vector<ReplicaId> all;
  for (const auto& [id, claim] : claims_) all.push_back(static_cast<ReplicaId>(id >> kClaimBits));
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool Replica::has_posts() const {
  MutexLock lock(&mutex_);
  return !queue_.empty() || posted_ != logged_;
}

Replica::Counts Replica::counts() const {
  MutexLock lock(&mutex_);
  return {claims_count_.load(std::memory_order_relaxed), queue_.size()};
}

}  // namespace armgate::cluster
