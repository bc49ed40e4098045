// replica_apply.cc – what the log tells, put into this process' tables; the same at every replica.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/mutant.h"
#include "proxy/cluster/codec.h"
#include "proxy/cluster/replica.h"
#include "proxy/cluster/told_bodies.h"
#include "proxy/state/operation/remote_operations.h"

namespace armgate::cluster {
namespace {

constexpr size_t kOrdersKept = 100'000;  // receipts come within minutes

// A moment of the log in place of the one that its author had: gives the order that it had.
uint64_t move_to(policy::StateShown& event, Moment moment) {
  const uint64_t given = event.at.order;
  // Of what was not asked for, but answered. One that was asked for may have an order beyond `given`: the last one of a row
  // that was there before (order_at), and others wrote between that and its own row.
  if (event.asked == given) event.asked = moment.order;
  event.at = moment;
  return given;
}
uint64_t move_to(policy::NotModified& event, Moment moment) {
  const uint64_t given = event.at.order;
  event.at = moment;
  return given;
}
// It counts against creates alone: rather too late than before what it found.
uint64_t move_to(policy::Found& event, Moment moment) {
  event.asked = moment.order;
  return 0;
}
uint64_t move_to(policy::Refused& event, Moment moment) { return std::exchange(event.refusal.told, moment.order); }
template <class Event>
uint64_t move_to(Event& event, Moment moment) {
  if constexpr (requires { event.at.order; }) event.at = moment;
  return 0;
}

}  // namespace

void Replica::note_order(ReplicaId author, uint64_t given, uint64_t order) {
  if (given == 0) return;
  orders_[{author, given}] = order;
  ordered_.push_back({author, given});
  if (ordered_.size() <= kOrdersKept) return;
  orders_.erase(ordered_.front());
  ordered_.pop_front();
}

uint64_t Replica::order_of(ReplicaId author, uint64_t given) const {
  const auto found = orders_.find({author, given});
  return found == orders_.end() ? 0 : found->second;
}

void Replica::begin_at(uint64_t number) {
  applied_.store(number, std::memory_order_release);
  tables_->pass(last_order_in(number));
}

bool Replica::apply(const Row& row) {
  if (row.number <= applied()) return true;
  const bool is_own = row.author == options_.id && row.batch == batch_ && !told_.empty();
  const TimePoint then = positions_.time_of(row.begun, tables_->clock.now());
  std::vector<Event> events;
  if (is_own) {
    events = std::exchange(told_, {});
  } else if (!row.events.empty()) {
    auto read = decode(row.events, then);
    if (!read) return false;
    events = *std::move(read);
  }
  uint64_t order = order_in(row.number, 0);
  for (const ReplicaId dead : row.dead) apply_tombstone(dead, row.author, {order, then});
  if (row.reads_missing) tables_->resources.forget_shown_until(order);
  const size_t count = events.size();
  for (Event& event : events) apply(row.author, std::move(event), row.number, {++order, then});
  positions_.add(row.number, row.begun);
  applied_.store(row.number, std::memory_order_release);
  tables_->pass(order);

  uint64_t oldest = row.number + 1;
  for (const auto& [id, claim] : claims_) oldest = std::min(oldest, claim.row);
  for (const auto& [id, intent] : intents_) oldest = std::min(oldest, intent.row);
  oldest_needed_.store(oldest, std::memory_order_relaxed);
  claims_count_.store(claims_.size(), std::memory_order_relaxed);
  if (is_own) {
    {
      MutexLock lock(&mutex_);
      logged_ += count;
    }
    wake_flushed(row.number);
  }
  return true;
}

void Replica::apply(ReplicaId author, Event event, uint64_t row, Moment moment) {
  std::visit([&](auto& what) { on(author, std::move(what), row, moment); }, event);
}

void Replica::on(ReplicaId author, Told event, uint64_t, Moment moment) {
  if (auto* const lost = std::get_if<policy::AnswerLost>(&event.event)) {
    lost->shown = order_of(author, lost->shown);
    if (lost->shown == 0) return;
  }
  if (auto* const shown = std::get_if<policy::StateShown>(&event.event))
    shown->rendering.body = bodies_->remember(std::move(shown->rendering.body), moment.time);
  apply_state(author, event.resource, std::move(event.event), moment);
}

void Replica::on(ReplicaId author, ShownAgain event, uint64_t, Moment moment) {
  event.shown.rendering.body = event.itself ? std::move(event.itself) : bodies_->find(event.body);
  apply_state(author, event.resource, std::move(event.shown), moment);
}

void Replica::apply_state(ReplicaId author, const Hash128& resource, policy::Event event, Moment moment) {
  const uint64_t given = std::visit([&](auto& what) { return move_to(what, moment); }, event);
  note_order(author, given, moment.order);
  if (author != options_.id) {
    if (const auto* const shown = std::get_if<policy::StateShown>(&event); shown && shown->as == policy::ShownAs::PointRead)
      tables_->turns.note_read(resource, shown->client);
  }
  const auto* const accepted = std::get_if<policy::WriteAccepted>(&event);
  const bool is_write = accepted != nullptr && accepted->certain && accepted->cause == policy::Cause::Written;
  if (is_write && has_begun({resource, accepted->client})) end_turn({resource, accepted->client});  // it is not starving
  tables_->resources.apply_here(resource, std::move(event));
}

void Replica::on(ReplicaId author, PageShown event, uint64_t, Moment moment) {
  event.page.body = bodies_->remember(std::move(event.page.body), moment.time);
  apply_page(author, event.client, std::move(event.page), moment);
}

void Replica::on(ReplicaId author, PageShownAgain event, uint64_t, Moment moment) {
  event.page.body = event.itself ? std::move(event.itself) : bodies_->find(event.body);
  apply_page(author, event.client, std::move(event.page), moment);
}

void Replica::apply_page(ReplicaId author, const Hash128& key, ListAnswer page, Moment moment) {
  const auto client = tables_->clients.find_or_add(key, moment.time);
  if (!page.body) return client->note_page_missed(moment.order);
  note_order(author, page.shown.order, moment.order);
  page.shown = moment;
  client->record_page(std::move(page));
}

void Replica::on(ReplicaId author, PageLost event, uint64_t, Moment moment) {
  const uint64_t shown = order_of(author, event.shown);
  if (shown == 0) return;
  const auto client = tables_->clients.find_or_add(event.client, moment.time);
  for (const Hash128& resource : client->page_lost(shown)) {
    tables_->resources.apply_here(resource, policy::AnswerLost{event.client, shown});
  }
}

// The keys of other replicas' writes are kept as if somebody here had them.
void Replica::on(ReplicaId author, Claimed event, uint64_t row, Moment) {
  const TurnOf turn{event.info.resource, event.info.client};
  const bool is_turn = event.info.is_turn;
  if (is_turn && turns_.contains(turn)) {  // one at a time; who begins later may not know of the first one
    if (author == options_.id) post(Released{event.claim, {}});
    return;
  }
  const bool has_turn = has_begun(turn);
  if (has_turn) event.info.priority = std::max(event.info.priority, ClaimInfo::Priority::InTurn);
  const ReservedFor itself{event.info.resource, event.info.client, event.info.bytes};
  const auto reserved = is_turn ? std::nullopt : find_reserved(itself, event.keys);
  const uint64_t number = reserved ? claims_.at(*reserved).position.number() : 0;
  const auto join = [&](Waiter* waiter) {
    return tables_->locks.join(event.keys, std::move(event.info), waiter, event.bits, number);
  };
  const auto keep = [&](Result<QueuePosition> position) -> QueuePosition& {
    GATE_CHECK(position.ok(), "the lock table of a cluster has no bounds");
    return claims_.emplace(event.claim, KeptClaim{author, row, *std::move(position), is_turn ? turn : TurnOf(), itself})
        .first->second.position;
  };
  if (author != options_.id) {
    const QueuePosition& position = keep(join(nullptr));
    if (!position.granted() && tables_->waited_for) tables_->waited_for(position.keys());
  } else {
    MutexLock lock(&asked_mutex_);
    event.asked->in_turn = has_turn;
    event.asked->was_reserved = reserved.has_value();
    event.asked->position = kept_for(event.claim, keep(join(event.asked->waiter)));
  }
  if (is_turn) turns_.emplace(turn, event.claim);
  // A replica that begins later must know why this claim goes first.
  const auto keep_row_of = [&](ClaimId former) {
    KeptClaim& taker = claims_.at(event.claim);
    taker.row = std::min(taker.row, claims_.at(former).row);
  };
  if (reserved) {
    keep_row_of(*reserved);
    end_claim(*reserved);
  }
  if (has_turn) {
    keep_row_of(turns_.at(turn));
    end_turn(turn);
  }
}

// The position that is kept for these bytes, if it is one for these keys. One for other keys is over.
std::optional<ClaimId> Replica::find_reserved(const ReservedFor& what, const std::vector<rules::LockKey>& keys) {
  const auto [oldest, end] = reserved_.equal_range(what);
  if (oldest == end || is_mutant(Mutant::ReservationIgnored)) return std::nullopt;
  const ClaimId claim = oldest->second;
  if (claims_.at(claim).position.is_for(keys)) return claim;
  end_claim(claim);
  return std::nullopt;
}

void Replica::on(ReplicaId, Reserved event, uint64_t, Moment) {
  const auto kept = claims_.find(event.claim);
  if (kept == claims_.end()) return;
  kept->second.position.set_away(true);
  reserved_.emplace(kept->second.reserved_for, event.claim);
}

// All who are away have one moment to come back in.
void Replica::on(ReplicaId author, Yielded event, uint64_t, Moment moment) {
  const auto kept = claims_.find(event.claim);
  if (kept == claims_.end()) return;
  kept->second.position.yield_here();
  auto& reservations = tables_->reservations;
  if (author != options_.id)
    reservations.let_others_by(kept->second.position.keys(), moment.time - reservations.options().claim_timeout);
}

// Until it has come others go before it, and so does its client.
bool Replica::has_begun(const TurnOf& turn) const {
  const auto found = turns_.find(turn);
  return found != turns_.end() && claims_.at(found->second).position.granted();
}

void Replica::end_turn(const TurnOf& turn) {
  end_claim(turns_.at(turn));
  if (const auto given = tables_->turns.take(turn.first, turn.second)) given->end();
}

void Replica::on(ReplicaId, Released event, uint64_t, Moment) {
  const auto kept = claims_.find(event.claim);
  if (kept == claims_.end()) return;
  if (event.some.empty()) return end_claim(event.claim);
  // A replica that began with a log that was cut may not know why this claim went before others, and may still let it wait.
  // Then nothing goes back here; end_claim() gives all of it back.
  if (kept->second.position.granted()) kept->second.position.give_back_here(event.some);
}

void Replica::end_claim(ClaimId id) {
  const auto kept = claims_.find(id);
  const auto keys = kept->second.is_adopted ? kept->second.position.keys() : std::vector<Hash128>{};
  kept->second.position.end_here();
  if (const auto turn = turns_.find(kept->second.turn); turn != turns_.end() && turn->second == id) turns_.erase(turn);
  const auto [first, last] = reserved_.equal_range(kept->second.reserved_for);
  const auto reserved = std::find_if(first, last, [id](const auto& one) { return one.second == id; });
  if (reserved != last) {
    reserved_.erase(reserved);
    tables_->reservations.end(std::get<0>(kept->second.reserved_for), id);
  }
  claims_.erase(kept);
  if (!keys.empty() && tables_->ended) tables_->ended(keys);
}

void Replica::on(ReplicaId, OwnAdmitted event, uint64_t, Moment) {
  const auto kept = claims_.find(event.claim);
  if (kept != claims_.end()) kept->second.position.admit_own_here(event.which);
}

// Each counts its own: added up over all replicas every operation counts once.
void Replica::on(ReplicaId author, ResultSeen event, uint64_t, Moment moment) {
  const auto intent = intents_.find(event.intent);
  if (event.intent != 0 && intent == intents_.end()) return;  // somebody told before
  const auto owned = intent == intents_.end() ? nullptr : tables_->owned.find(intent->second.write.owned);
  using Counted = OperationResults::Counted;
  tables_->results.note_here({.resource = event.resource,
                              .id = event.id,
                              .type = event.type,
                              .method = event.method,
                              .client = event.client,
                              .request_hash = event.request_hash,
                              .result = event.result,
                              .intent = event.intent,
                              .first = owned ? owned->stands_for(event.intent) : event.intent},
                             {event.at == TimePoint{} ? moment.time : event.at, event.when},
                             author == options_.id ? Counted::Yes : Counted::No);
}

void Replica::on(ReplicaId, StateSeen event, uint64_t, Moment moment) {
  tables_->results.note_state_here(event.resource, event.id, event.state, {moment.time, event.when});
}

void Replica::on(ReplicaId, Probing event, uint64_t, Moment moment) {
  const bool is_won = tables_->results.probe_here(event.resource, event.judged, moment);
  if (event.is_won) event.is_won->store(is_won);
}

void Replica::on(ReplicaId author, SendingEvent event, uint64_t, Moment moment) {
  using What = SendingEvent::What;
  SendingLedger& ledger = tables_->clients.find_or_add(event.client, moment.time)->sendings();
  if (author == options_.id) return ledger.note_logged(event, moment.order);
  const bool counts = ledger.follow(event, askers_at(author), moment);
  const SendingId id{event.client, event.asking.sending};
  const bool begins = event.what == What::Added || event.what == What::Again;
  if (begins && counts) running_[id] = {author, event.asking.number, event.arrival.resource};
  const auto running = running_.find(id);
  if (running == running_.end()) return;
  if (event.what == What::Sent) running->second.sent = true;
  if (event.what == What::Ended && running->second.asking == event.asking.number) running_.erase(running);
}

const std::shared_ptr<Presence>& Replica::askers_at(ReplicaId author) {
  auto& presence = askers_at_[author];
  if (!presence) presence = std::make_shared<Presence>();
  return presence;
}

void Replica::on(ReplicaId, Imported event, uint64_t, Moment moment) {
  if (tables_->imported) tables_->imported(event, moment.order);
}

void Replica::on(ReplicaId author, UnlockAsked event, uint64_t, Moment) {
  if (author != options_.id && tables_->unlock) tables_->unlock(event);
}

void Replica::on(ReplicaId author, AbortTaken event, uint64_t, Moment) {
  if (author != options_.id && tables_->abort_taken) tables_->abort_taken(event);
}

// A row marks a replica as dead. Its writes that waited are gone. What may have been sent keeps its keys, and all replicas look
// after it.
void Replica::apply_tombstone(ReplicaId dead, ReplicaId heir, Moment moment) {
  // Nobody listens there any more, and what was told may not have arrived.
  askers_at(dead)->gone.store(true, std::memory_order_release);
  std::map<ClaimId, IntentId> sent;  // the newest of each: what was sent before it is over (request/operation/send_again.h)
  std::vector<IntentId> over;
  for (auto& [id, intent] : intents_) {
    if (intent.author != dead || is_mutant(Mutant::DeadHoldNothing)) continue;
    intent.author = heir;
    const auto [newest, is_first] = sent.emplace(intent.claim, id);
    if (!is_first) over.push_back(std::exchange(newest->second, id));
    tables_->remote_operations.remove(id);
    const auto owned = tables_->owned.find(intent.write.owned);
    if (!owned) continue;
    owned->lead_elsewhere(false);
    // It may have sent the write once more, and nobody has heard what ARM said to that.
    if (!intent.write.outcome) owned->doubt(id);
  }
  for (const IntentId id : over) end_intent({id, intents_.at(id).write.begun, EndSeen::No, {}});
  std::vector<ClaimId> left;
  for (auto& [id, claim] : claims_) {
    if (claim.author != dead) continue;
    claim.author = heir;
    if (!sent.contains(id)) left.push_back(id);
  }
  std::sort(left.begin(), left.end());  // in the same order everywhere
  for (const ClaimId id : left) end_claim(id);

  std::vector<std::pair<SendingId, RunningSending>> cut_off;
  for (const auto& [id, sending] : running_) {
    if (sending.author == dead) cut_off.emplace_back(id, sending);
  }
  for (const auto& [id, sending] : cut_off) {
    const auto& [client, number] = id;
    SendingEvent ended{SendingEvent::What::Ended, client, {number, 0}, {}, {}};
    const Hash128& whose = id.first;  // clang 14 captures no structured binding
    const auto is_its_own = [&](const auto& entry) {
      return sent.contains(entry.second.claim) && entry.second.write.client == whose;
    };
    const bool may_be_sent = sending.sent || std::any_of(intents_.begin(), intents_.end(), is_its_own);
    ended.ending.kind = may_be_sent ? SendingLedger::Ending::Kind::InDoubt : SendingLedger::Ending::Kind::Expected;
    tables_->clients.find_or_add(client, moment.time)->sendings().follow(ended, nullptr, moment);
    tables_->resources.apply_here(sending.resource, policy::WriteLeft{client, number});
    running_.erase(id);
  }
  for (const auto& [claim, intent] : sent) {
    const auto kept = claims_.find(claim);
    if (kept == claims_.end()) {  // its keys were given back: it is over, or nobody looks for its end (armgate unlock)
      end_intent({intent, intents_.at(intent).write.begun, EndSeen::No, {}});
      continue;
    }
    if (!tables_->adopt || !kept->second.position.granted()) continue;  // the same: others look for its end
    if (std::exchange(kept->second.is_adopted, true)) continue;
    WriteLease lease = kept_for(claim, kept->second.position).into_lease();
    const OpenIntent& open = intents_.at(intent);
    tables_->adopt(AdoptedWrite{intent, open.write, std::move(lease), heir == options_.id && !open.is_imported});
  }
}

}  // namespace armgate::cluster
