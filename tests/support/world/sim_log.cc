#include "tests/support/world/sim_log.h"

#include <algorithm>
#include <utility>

#include "base/mutant.h"

namespace armgate::world {

using cluster::Row;

std::shared_ptr<SimLog::Member> SimLog::join(cluster::Replica& replica, GateClock& clock, std::function<void()> end) {
  auto member = std::make_shared<Member>(*this, replica, clock, std::move(end));
  lives_[replica.id()] = {clock_.now() + faults_.membership_lease, clock_.now()};
  members_.push_back(member);
  member->begin();
  return member;
}

// Another clock than that of the replicas.
cluster::EngineTime SimLog::time() const {
  const Duration since = clock_.now().time_since_epoch() + clock_error_;
  return std::chrono::duration_cast<std::chrono::microseconds>(since).count() + 123'456'789;
}

// Never goes back.
cluster::EngineTime SimLog::time_of_row() { return last_begun_ = std::max(last_begun_, time()); }

void SimLog::fail_over(Duration lag, Duration away_for) {
  if (standby_) return;
  standby_ = Standby{rows_.size(), lives_, last_append_};
  clock_.at(clock_.now() + lag, [this, away_for] { promote(away_for); });
}

void SimLog::promote(Duration away_for) {
  const Standby standby = *std::exchange(standby_, std::nullopt);
  away(away_for);
  if (rng_.chance(0.5)) return;  // the last commit reached it
  rows_.resize(standby.rows);
  for (const auto& [id, life] : standby.lives) lives_[id] = life;
  last_append_ = standby.last_append;
  const auto members = members_;
  for (const auto& known : members) {
    const auto member = known.lock();
    if (member && member->replica_ != nullptr && member->replica_->applied() > rows_.size()) member->end_();
  }
}

// Of a commit that waits for the standby nobody sees anything.
size_t SimLog::visible() const {
  const bool waits = standby_ && !is_mutant(Mutant::EngineLosesTail) && !is_mutant(Mutant::RetryWithoutWriting);
  return waits ? standby_->rows : rows_.size();
}

size_t SimLog::bytes() const {
  size_t bytes = 0;
  for (const Row& row : rows_) bytes += row.events.size();
  return bytes;
}

// As armgate.append() (proxy/cluster/engine/schema.h).
SimLog::Appended SimLog::append(cluster::ReplicaId author, const std::optional<cluster::Replica::Batch>& batch) {
  const auto same = [&](const Row& r) { return r.author == author && r.batch == batch->number; };
  const bool is_new = batch && std::none_of(rows_.begin(), rows_.end(), same);
  const bool waits = standby_ && !is_mutant(Mutant::EngineLosesTail);
  const bool is_held_up = waits && rows_.size() > standby_->rows;  // by whoever wrote first
  if (is_held_up && is_mutant(Mutant::RetryWithoutWriting) && !is_new) return Appended::Yes;
  if (is_held_up && !is_mutant(Mutant::RetryWithoutWriting)) return Appended::NotYet;
  Life& own = lives_[author];
  if (own.dead)
    return Appended::Dead;  // all that it would have changed is rolled back: whom it finds dead is found by the next one
  const TimePoint now = clock_.now();
  const bool was_silent = now - last_append_ > faults_.membership_lease / 2;
  for (auto& [id, life] : lives_) {
    if (!was_silent || life.dead || life.left) continue;
    life.alive_until = now + faults_.membership_lease;
  }
  Row row;
  row.begun = time_of_row();
  row.author = author;
  for (auto& [id, life] : lives_) {
    if (life.dead || life.alive_until >= now || id == author) continue;
    life.dead = true;
    row.dead.push_back(id);
  }
  own.alive_until = now + faults_.membership_lease;
  last_append_ = now;
  if (is_new) row.batch = batch->number;
  if (is_new) row.events = batch->events;
  if (is_new) row.reads_missing |= batch->reads_missing;
  const Appended done = waits ? Appended::NotYet : Appended::Yes;
  if (!is_new && row.dead.empty()) return done;
  row.number = rows_.size() + 1;
  if (!is_new) row.batch = ~row.number;
  rows_.push_back(std::move(row));
  for (const auto& known : members_) {
    const auto member = known.lock();
    if (!member || (member->replica_ != nullptr && member->replica_->id() == author) || rng_.chance(faults_.lost_signal))
      continue;
    member->at(now + way(rng_), [member] { member->hear(); });
  }
  return done;
}

void SimLog::Member::at(TimePoint when, std::function<void()> event) {
  log_.clock_.at(when, [self = shared_from_this(), event = std::move(event)]() mutable {
    if (self->process_ == nullptr) return event();
    self->process_->when_it_runs(std::move(event));
  });
}

void SimLog::Member::begin() {
  const TimePoint now = log_.clock_.now();
  replica_->positions().learn(now, now, log_.time());
  replica_->begin_at(log_.forgotten_);
  read();
  const bool is_one_of_them = log_.append(replica_->id(), std::nullopt) == Appended::Yes;
  read();
  if (is_one_of_them) replica_->confirm(now, now);
  replica_->on_post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->wake();
  });
  beat();
}

void SimLog::Member::read() {
  while (replica_ != nullptr && replica_->applied() < log_.visible()) {
    const Row row = log_.rows_[replica_->applied()];
    replica_->apply(row);
  }
}

void SimLog::Member::hear() {
  if (!busy_ && replica_ != nullptr && log_.clock_.now() >= cut_until_) read();
}

void SimLog::Member::wake() {
  if (std::exchange(busy_, true)) return;
  at(log_.clock_.now(), [self = shared_from_this()] { self->do_round(); });
}

void SimLog::Member::beat() {
  at(log_.clock_.now() + log_.faults_.membership_lease / 10, [self = shared_from_this()] {
    if (self->replica_ == nullptr) return;
    self->replica_->look_at_askers();
    self->wake();
    self->beat();
  });
}

// As Engine::do_round() (proxy/cluster/engine/engine.cc): the engine's time is asked for now and then, and no append tells it.
void SimLog::Member::do_round() {
  if (replica_ == nullptr) return;
  const TimePoint asked = log_.clock_.now();
  const TimePoint reached = std::max(log_.away_until_, cut_until_);
  if (asked < reached) {
    at(std::min(reached, asked + std::chrono::seconds(1)), [self = shared_from_this()] { self->do_round(); });
  } else if (replica_->positions().is_due(asked, log_.faults_.membership_lease / 10)) {
    learn();
  } else {
    append();
  }
}

void SimLog::Member::learn() {
  const TimePoint asked = log_.clock_.now();
  at(asked + log_.way(log_.questions_), [self = shared_from_this(), asked] {
    SimLog& log = self->log_;
    self->at(log.clock_.now() + log.way(log.questions_), [self, asked, told = log.time()] {
      if (self->replica_ == nullptr) return;
      self->replica_->positions().learn(asked, self->log_.clock_.now(), told);
      self->do_round();
    });
  });
}

// There, the commit, and back.
void SimLog::Member::append() {
  const TimePoint asked = log_.clock_.now();
  at(asked + log_.way(log_.rng_), [self = shared_from_this(), asked] {
    if (self->replica_ == nullptr) return;
    SimLog& log = self->log_;
    const auto batch = self->replica_->next_batch();
    const Appended done = log.append(self->replica_->id(), batch);
    if (done == Appended::Dead) return self->end_();
    const bool is_lost = done == Appended::NotYet || log.rng_.chance(log.faults_.lost_reply);
    const TimePoint back = log.clock_.now() + (is_lost ? Duration(std::chrono::seconds(1)) : log.way(log.rng_));
    self->at(back, [self, asked, is_lost] {
      if (self->replica_ == nullptr) return;
      if (is_lost) return self->do_round();
      self->replica_->confirm(asked, self->log_.clock_.now());
      self->read();
      self->busy_ = false;
      if (self->replica_ != nullptr && self->replica_->has_posts()) self->wake();
    });
  });
}

}  // namespace armgate::world
