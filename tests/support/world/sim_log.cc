#include "tests/support/world/sim_log.h"

#include <algorithm>
#include <utility>

namespace armgate::world {

using cluster::Row;

std::shared_ptr<SimLog::Member> SimLog::join(cluster::Replica& replica, std::function<void()> end) {
  auto member = std::make_shared<Member>(*this, replica, std::move(end));
  lives_[replica.id()] = {clock_.now() + faults_.lease, clock_.now()};
  members_.push_back(member);
  member->begin();
  return member;
}

// Another clock than that of the replicas.
cluster::EngineTime SimLog::time() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(clock_.now().time_since_epoch()).count() + 123'456'789;
}

// As armgate.append() (proxy/cluster/engine/schema.h). False: the author is dead.
bool SimLog::append(cluster::ReplicaId author, const std::optional<cluster::Replica::Batch>& batch) {
  Life& own = lives_[author];
  if (own.dead) return false;  // all that it would have changed is rolled back: whom it finds dead is found by the next one
  const TimePoint now = clock_.now();
  const bool was_silent = now - last_append_ > faults_.lease / 2;
  for (auto& [id, life] : lives_) {
    if (!was_silent || life.dead || life.left) continue;
    life.alive_until = now + faults_.lease;
  }
  Row row;
  row.begun = time();
  row.author = author;
  for (auto& [id, life] : lives_) {
    if (life.dead || life.alive_until >= now || id == author) continue;
    life.dead = true;
    row.dead.push_back(id);
  }
  own.alive_until = now + faults_.lease;
  last_append_ = now;
  const auto same = [&](const Row& r) { return r.author == author && r.batch == batch->number; };
  const bool is_new = batch && std::none_of(rows_.begin(), rows_.end(), same);
  if (is_new) row.batch = batch->number;
  if (is_new) row.events = batch->events;
  if (is_new) row.reads_missing |= batch->reads_missing;
  if (!is_new && row.dead.empty()) return true;
  row.number = rows_.size() + 1;
  if (!is_new) row.batch = ~row.number;
  rows_.push_back(std::move(row));
  for (const auto& known : members_) {
    const auto member = known.lock();
    if (!member || (member->replica_ != nullptr && member->replica_->id() == author) || rng_.chance(faults_.lost_signal))
      continue;
    clock_.at(now + way(), [member] { member->hear(); });
  }
  return true;
}

void SimLog::Member::begin() {
  const TimePoint now = log_.clock_.now();
  replica_->positions().learn(now, now, log_.time());
  replica_->begin_at(0);
  read();
  log_.append(replica_->id(), std::nullopt);
  read();
  replica_->confirm(now, now);
  replica_->on_post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->wake();
  });
  beat();
}

void SimLog::Member::read() {
  while (replica_ != nullptr && replica_->applied() < log_.rows_.size()) {
    const Row row = log_.rows_[replica_->applied()];
    replica_->apply(row);
  }
}

void SimLog::Member::hear() {
  if (!busy_ && replica_ != nullptr && log_.clock_.now() >= cut_until_) read();
}

void SimLog::Member::wake() {
  if (std::exchange(busy_, true)) return;
  log_.clock_.at(log_.clock_.now(), [self = shared_from_this()] { self->turn(); });
}

void SimLog::Member::beat() {
  log_.clock_.at(log_.clock_.now() + log_.faults_.lease / 10, [self = shared_from_this()] {
    if (self->replica_ == nullptr) return;
    self->replica_->look_at_askers();
    self->wake();
    self->beat();
  });
}

// There, the commit, and back.
void SimLog::Member::turn() {
  if (replica_ == nullptr) return;
  const TimePoint asked = log_.clock_.now();
  const TimePoint reached = std::max(log_.away_until_, cut_until_);
  if (asked < reached) {
    log_.clock_.at(std::min(reached, asked + std::chrono::seconds(1)), [self = shared_from_this()] { self->turn(); });
    return;
  }
  log_.clock_.at(asked + log_.way(), [self = shared_from_this(), asked] {
    if (self->replica_ == nullptr) return;
    SimLog& log = self->log_;
    const auto batch = self->replica_->next_batch();
    const cluster::EngineTime told = log.time();
    if (!log.append(self->replica_->id(), batch)) return self->end_();
    const bool is_lost = log.rng_.chance(log.faults_.lost_reply);
    const TimePoint back = log.clock_.now() + (is_lost ? Duration(std::chrono::seconds(1)) : log.way());
    log.clock_.at(back, [self, asked, told, is_lost] {
      if (self->replica_ == nullptr) return;
      if (is_lost) return self->turn();
      self->replica_->positions().learn(asked, self->log_.clock_.now(), told);
      self->replica_->confirm(asked, self->log_.clock_.now());
      self->read();
      self->busy_ = false;
      if (self->replica_ != nullptr && self->replica_->has_posts()) self->wake();
    });
  });
}

}  // namespace armgate::world
