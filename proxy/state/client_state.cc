#include "proxy/state/client_state.h"

#include <algorithm>
#include <utility>

#include "base/mutant.h"

namespace armgate {

ClientState::ClientState(const Options& options, SharedBudget& budget)
    : options_(options), budget_(budget), unanswered_(options.unanswered), bindings_(options.bindings) {}

ClientState::~ClientState() {
  MutexLock lock(&mutex_);
  budget_.body_bytes.fetch_sub(body_bytes_, std::memory_order_relaxed);
}

ClientState::Slot& ClientState::slot(const Hash128& resource) {
  auto& entry = slots_[resource];
  if (entry) {
    by_age_.splice(by_age_.end(), by_age_, entry->age);
    return *entry;
  }
  entry = std::make_unique<Slot>();
  entry->age = by_age_.insert(by_age_.end(), resource);
  return *entry;
}

void ClientState::adjust_bytes(size_t before, size_t after) {
  if (before == after) return;
  body_bytes_ = body_bytes_ - before + after;
  budget_.body_bytes.fetch_add(after - before, std::memory_order_relaxed);  // wraps around correctly for after < before
}

void ClientState::drop_oldest_page() {
  adjust_bytes(pages_.front().body->bytes.size(), 0);
  pages_.pop_front();
  budget_.bodies_evicted.fetch_add(1, std::memory_order_relaxed);
}

// Gives up bodies and views, the least recently used first, but never those of `keep`, which is being worked on.
void ClientState::keep_within_budget(const Hash128& keep) {
  const auto over = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return body_bytes_ > options_.body_bytes_max || budget_.body_bytes.load(std::memory_order_relaxed) > budget_.body_bytes_max;
  };
  while (over() && !pages_.empty()) drop_oldest_page();
  for (auto it = by_age_.begin(); over() && it != by_age_.end(); ++it) {
    if (*it == keep) continue;
    const size_t freed = slots_.at(*it)->view.drop_bodies();
    if (freed == 0) continue;
    adjust_bytes(freed, 0);
    budget_.bodies_evicted.fetch_add(1, std::memory_order_relaxed);
  }
  if (over()) {
    const size_t freed = slot(keep).view.drop_bodies();
    adjust_bytes(freed, 0);
    if (freed > 0) budget_.bodies_evicted.fetch_add(1, std::memory_order_relaxed);
  }

  auto it = by_age_.begin();
  while (slots_.size() > options_.views_max && it != by_age_.end()) {
    const Hash128 oldest = *it;
    Slot& candidate = *slots_.at(oldest);
    if (oldest == keep || !candidate.active.empty()) {
      ++it;
      continue;
    }
    adjust_bytes(candidate.view.body_bytes(), 0);
    it = by_age_.erase(it);
    slots_.erase(oldest);
    budget_.views_evicted.fetch_add(1, std::memory_order_relaxed);
  }
}

std::vector<policy::Version> ClientState::versions(const Hash128& resource, size_t at_least) const {
  MutexLock lock(&mutex_);
  const auto it = slots_.find(resource);
  const bool enough = it != slots_.end() && it->second->view.versions().size() >= at_least;
  return enough ? it->second->view.versions() : std::vector<policy::Version>{};
}

uint64_t ClientState::version_with_etag(const Hash128& resource, std::string_view etag) const {
  MutexLock lock(&mutex_);
  const auto it = slots_.find(resource);
  const policy::Version* version = it == slots_.end() ? nullptr : it->second->view.find_etag(etag);
  return version == nullptr ? 0 : version->id;
}

void ClientState::resolve_doubts(const Hash128& resource, Moment asked) {
  unanswered_.resolve(resource, asked);
  MutexLock lock(&mutex_);
  absl::erase_if(doubts_, [&](auto& entry) {
    Doubtful& doubt = entry.second;
    if (doubt.resource != resource || doubt.since.order >= asked.order) return false;
    doubt.is_settled = true;
    return doubt.request_id.empty();
  });
}

uint64_t ClientState::record(const Hash128& resource, policy::Observation observation, std::optional<uint64_t> same_as) {
  MutexLock lock(&mutex_);
  policy::View& view = slot(resource).view;
  const size_t before = view.body_bytes();
  view.expire(observation.delivery.at.time - options_.observation_age);
  if (observation.delivery.kind == policy::DeliveryKind::ListItem) {
    for (auto& page : pages_) {
      if (page.delivery.at.order != observation.delivery.at.order) continue;
      page.taken.push_back(resource);
      observation.delivery.confirmation = page.delivery.confirmation;
    }
  }
  const uint64_t id = view.record(std::move(observation), same_as);
  adjust_bytes(before, view.body_bytes());
  keep_within_budget(resource);
  return id;
}

void ClientState::bury(const Hash128& resource, uint64_t order) {
  MutexLock lock(&mutex_);
  const auto it = slots_.find(resource);
  if (it != slots_.end()) it->second->view.bury(order);
}

void ClientState::record_absent(const Hash128& resource, policy::Delivery delivery) {
  MutexLock lock(&mutex_);
  policy::View& view = slot(resource).view;
  const size_t before = view.body_bytes();
  view.record_absent(std::move(delivery));
  adjust_bytes(before, view.body_bytes());
  keep_within_budget(resource);
}

void ClientState::record_not_modified(const Hash128& resource, std::string_view etag, std::string_view api_version,
                                      policy::Delivery delivery) {
  MutexLock lock(&mutex_);
  const auto it = slots_.find(resource);
  if (it != slots_.end()) it->second->view.record_not_modified(etag, api_version, std::move(delivery));
}

void ClientState::record_page(KeptPage page) {
  MutexLock lock(&mutex_);
  adjust_bytes(0, page.body->bytes.size());
  pages_.push_back(std::move(page));
  while (pages_.size() > options_.pages_max) drop_oldest_page();
  while (!pages_.empty() && (body_bytes_ > options_.body_bytes_max ||
                             budget_.body_bytes.load(std::memory_order_relaxed) > budget_.body_bytes_max)) {
    drop_oldest_page();
  }
}

void ClientState::confirm(const Hash128& resource, uint64_t order) {
  MutexLock lock(&mutex_);
  const auto it = slots_.find(resource);
  if (it != slots_.end()) it->second->view.confirm(order);
}

void ClientState::confirm_page(uint64_t order) {
  MutexLock lock(&mutex_);
  for (auto& page : pages_) {
    if (page.delivery.at.order != order) continue;
    page.delivery.confirmation = policy::Confirmation::Confirmed;
    for (const auto& resource : page.taken) {
      const auto it = slots_.find(resource);
      if (it != slots_.end()) it->second->view.confirm(order);
    }
  }
}

std::vector<KeptPage> ClientState::pages_for(const arm::ResourceId& resource, const Hash128& key) const {
  MutexLock lock(&mutex_);
  const auto it = slots_.find(key);
  const auto known = [&](uint64_t order) { return it != slots_.end() && it->second->view.delivered_at(order) != nullptr; };
  const auto below = [&](const std::string& scope) {
    return resource.id.starts_with(scope) && resource.id.substr(scope.size()).starts_with('/');
  };
  std::vector<KeptPage> pages;
  for (const auto& page : pages_) {
    const bool may_show = page.index == nullptr || page.index->items.contains(key);
    const bool in_scope = page.scope.type == resource.type && below(page.scope.id);
    if (in_scope && may_show && !known(page.delivery.at.order)) pages.push_back(page);
  }
  return pages;
}

void ClientState::index_page(uint64_t order, std::shared_ptr<const policy::KeptBody> plain,
                             std::shared_ptr<const PageIndex> index) {
  MutexLock lock(&mutex_);
  for (auto& page : pages_) {
    if (page.delivery.at.order != order) continue;
    adjust_bytes(page.body->bytes.size(), plain->bytes.size());
    page.body = std::move(plain);
    page.index = std::move(index);
    return;
  }
}

Bound ClientState::bind(const ArrivingWrite& write, const policy::Liveness& liveness) {
  MutexLock lock(&mutex_);
  Slot& place = slot(write.resource);
  const size_t before = place.view.body_bytes();
  place.view.expire(liveness.now - options_.observation_age);
  adjust_bytes(before, place.view.body_bytes());
  keep_within_budget(write.resource);
  // A read that may not have arrived cannot be what the bytes were built from anew.
  const auto read_since = [&](Moment since) {
    const auto& versions = place.view.versions();
    return std::any_of(versions.begin(), versions.end(), [&](const policy::Version& v) {
      return std::any_of(v.deliveries.begin(), v.deliveries.end(), [&](const policy::Delivery& d) {
        return d.kind != policy::DeliveryKind::OwnAnswer && d.confirmation == policy::Confirmation::Confirmed &&
               d.at.order > since.order;
      });
    });
  };
  Binding* binding = is_mutant(Mutant::BaseNotBound)
                         ? nullptr
                         : bindings_.find_resend(write.bytes, write.facts.request_id, liveness.now, read_since);
  Bound bound;
  bound.resend = binding != nullptr;
  if (binding == nullptr) {
    note_overlap(place, write.facts.request_id, liveness.now);
    policy::WriteFacts facts = write.facts;
    const auto refusal = refusals_.find(write.bytes);
    if (refusal != refusals_.end()) {
      facts.refused_at = refusal->second.delivered;
      facts.refused_first = refusal->second.first;
      facts.refused_id = refusal->second.request_id;
    }
    binding = &bindings_.add(write.bytes, facts.request_id, policy::decide_base(place.view, facts, options_.base, liveness),
                             facts.arrived);
  } else if (binding->base.rule == policy::BaseRule::Blind && read_since(binding->first_arrival)) {
    // Nothing was known when the bytes first came (armgate had just started, say). Whether its client has built them anew or
    // sends them again: the state that it has been shown meanwhile loses nothing, and no precondition at all might.
    binding->base = policy::decide_base(place.view, write.facts, options_.base, liveness);
  }
  if (write.begins && !bound.resend) bound.under_way = begin_write(place, write.facts.request_id, liveness.now);
  ++binding->workers;
  binding->phase = BindingPhase::Working;
  bound.binding = binding->id;
  bound.base = binding->base;
  bound.first_arrival = binding->first_arrival;
  bound.visibility_tries = binding->visibility_tries;
  return bound;
}

uint64_t ClientState::expect_again(const Hash128& bytes, std::string_view request_id, policy::Base base, Moment when) {
  MutexLock lock(&mutex_);
  return bindings_.expect(bytes, request_id, std::move(base), when);
}

void ClientState::join_binding(uint64_t binding) {
  MutexLock lock(&mutex_);
  Binding* b = bindings_.find(binding);
  if (b == nullptr) return;
  ++b->workers;
  b->phase = BindingPhase::Working;
}

void ClientState::note_maybe_applied(uint64_t binding) {
  MutexLock lock(&mutex_);
  if (Binding* b = bindings_.find(binding)) b->maybe_applied = true;
}

void ClientState::note_visibility_try(uint64_t binding) {
  MutexLock lock(&mutex_);
  if (Binding* b = bindings_.find(binding)) ++b->visibility_tries;
}

bool ClientState::maybe_applied(uint64_t binding) const {
  MutexLock lock(&mutex_);
  const Binding* b = bindings_.find(binding);
  return b != nullptr && b->maybe_applied;
}

void ClientState::leave(uint64_t binding, BindingPhase phase, TimePoint now) {
  MutexLock lock(&mutex_);
  Binding* b = bindings_.find(binding);
  if (b == nullptr) return;
  b->workers = std::max(0, b->workers - 1);
  if (b->workers > 0) return;
  b->phase = phase;
  b->since = now;
}

void ClientState::note_undelivered(uint64_t binding, TimePoint now) {
  MutexLock lock(&mutex_);
  Binding* b = bindings_.find(binding);
  if (b == nullptr || b->workers > 0) return;
  b->phase = BindingPhase::Undelivered;
  b->since = now;
}

void ClientState::confirm_written(uint64_t binding, Final final, Moment when) {
  MutexLock lock(&mutex_);
  const Binding* b = bindings_.find(binding);
  if (b == nullptr) return;
  if (final == Final::Refused) {
    if (refusals_.size() >= options_.refusals_max && !refusals_.contains(b->bytes)) {
      const auto oldest = std::min_element(refusals_.begin(), refusals_.end(), [](const auto& x, const auto& y) {
        return x.second.delivered.order < y.second.delivered.order;
      });
      refusals_.erase(oldest);
    }
    const auto [it, fresh] = refusals_.try_emplace(b->bytes);
    if (fresh) it->second.first = when.time;
    it->second.delivered = when;
    it->second.request_id = b->request_id;
  } else {
    refusals_.erase(b->bytes);
  }
  if (b->workers == 0) bindings_.forget(binding);
}

void ClientState::consume(const Hash128& resource, const Bound& bound, const policy::Builder& write) {
  MutexLock lock(&mutex_);
  Binding* b = bindings_.find(bound.binding);
  if (b != nullptr && std::exchange(b->used_its_base, true)) return;
  const auto it = slots_.find(resource);
  if (it != slots_.end() && bound.base.version != 0) it->second->view.consume(bound.base.version, write);
}

void ClientState::refuse(const Hash128& resource, const policy::Base& base) {
  MutexLock lock(&mutex_);
  const auto it = slots_.find(resource);
  const policy::Version* version = it == slots_.end() ? nullptr : it->second->view.find(base.version);
  // Read anew while the write was on its way, the same content has an ETag that nobody has refused.
  if (version != nullptr && version->etag == base.etag) it->second->view.refuse(base.version);
  if (is_mutant(Mutant::VersionsForgottenOn412) && it != slots_.end()) it->second->view = policy::View();
}

void ClientState::note_overlap(Slot& place, std::string_view request_id, TimePoint now) {
  if (place.active.empty()) return;
  place.view.overlap_until = now + options_.base.think_max;
  const bool same_id = !request_id.empty() && std::any_of(place.active.begin(), place.active.end(),
                                                          [&](const auto& a) { return a.request_id == request_id; });
  auto& ids = place.view.overlapped_ids;
  if (!same_id || std::find(ids.begin(), ids.end(), request_id) != ids.end()) return;
  ids.emplace_back(request_id);
  if (ids.size() > policy::View::kOverlappedIdsMax) ids.erase(ids.begin());
}

uint64_t ClientState::begin_write(const Hash128& resource, std::string_view request_id, TimePoint now) {
  MutexLock lock(&mutex_);
  return begin_write(slot(resource), request_id, now);
}

uint64_t ClientState::begin_write(Slot& place, std::string_view request_id, TimePoint now) {
  note_overlap(place, request_id, now);
  place.active.push_back({next_write_, std::string(request_id)});
  return next_write_++;
}

void ClientState::end_write(const Hash128& resource, uint64_t write) {
  MutexLock lock(&mutex_);
  const auto it = slots_.find(resource);
  if (it != slots_.end()) std::erase_if(it->second->active, [&](const Slot::Active& a) { return a.write == write; });
}

void ClientState::note_in_doubt(const Hash128& bytes, std::string_view request_id, const Hash128& resource, Moment when) {
  MutexLock lock(&mutex_);
  if (doubts_.size() >= options_.refusals_max && !doubts_.contains(bytes)) {
    doubts_.erase(std::min_element(doubts_.begin(), doubts_.end(),
                                   [](const auto& x, const auto& y) { return x.second.since.order < y.second.since.order; }));
  }
  doubts_[bytes] = Doubtful{std::string(request_id), resource, when};
}

bool ClientState::has_doubts() const {
  MutexLock lock(&mutex_);
  return !doubts_.empty();
}

ClientState::Doubt ClientState::doubt_of(const Hash128& bytes, std::string_view request_id, TimePoint now) {
  MutexLock lock(&mutex_);
  const auto it = doubts_.find(bytes);
  if (it == doubts_.end()) return Doubt::None;
  // A different id is a different call by the client's own word; the same or none may be a re-send.
  const bool other_call = !request_id.empty() && !it->second.request_id.empty() && request_id != it->second.request_id;
  if (other_call || (it->second.is_settled && request_id != it->second.request_id)) return Doubt::None;
  if (now - it->second.since.time <= options_.in_doubt_max) return Doubt::InDoubt;
  doubts_.erase(it);
  return Doubt::Expired;
}

bool ClientState::busy(TimePoint now) {
  unanswered_.expire(now);
  if (unanswered_.size() > 0) return true;
  MutexLock lock(&mutex_);
  bindings_.expire(now);
  absl::erase_if(doubts_, [&](const auto& entry) { return now - entry.second.since.time > options_.in_doubt_max; });
  return bindings_.size() > 0 || !doubts_.empty();
}

ClientState::Counts ClientState::counts() const {
  MutexLock lock(&mutex_);
  return {slots_.size(), body_bytes_, pages_.size(), bindings_.size(), refusals_.size(), doubts_.size()};
}

}  // namespace armgate
