// Who is sent before whom (promise P3): first come, first served, and who was sent away from the queue comes back to its place.
#include <fmt/format.h>

#include <algorithm>

#include "proxy/state/lock/reservations.h"
#include "tests/support/checkers/checkers.h"

namespace armgate::world {

namespace {

// Its keys are free, and its answer is not there yet: several processes record first what it tells.
bool is_refused_by_now(std::string_view reason) {
  return reason == "stale" || reason == "conflict" || reason == "created-meanwhile";
}

}  // namespace

// Its place stays for as long as its TTL at least, which only runs while it could go on.
void Checkers::reserve_position(Record& record, const Report& report) {
  const bool from_the_queue =
      record.sends == 0 && (report.reason == "waited-too-long" || report.reason == "client-left-the-queue");
  if (!from_the_queue) return;
  const TimePoint since = record.served + report.waited;
  // Who came back before the answer was written down has the place already.
  const bool may_be_taken = std::ranges::any_of(
      by_bytes_.at(record.same_bytes), [&](const Record* other) { return other->id != record.id && other->served >= since; });
  record.reserved_until = may_be_taken ? since : since + Reservations::Options().ttl;
}

// Finds out whether the record surely stands on an earlier one's place again: not if another sending of the same bytes may have
// taken it, and not if rules were replaced, because a place is one for certain keys.
void Checkers::redeem_reservation(Record& record) {
  record.place = ++last_place_;
  if (!record.is_write) return;
  std::vector<Record*> kept;
  bool surely = true;
  for (Record* other : by_bytes_[record.same_bytes]) {
    if (other->life != life_) continue;
    const bool may_be_its_double = !record.has_id && other->sent_by != record.sent_by;
    if (other->link != nullptr || may_be_its_double) surely = false;
    if (!other->reserved_until) continue;
    if (*other->reserved_until <= clock_.now() || rules_replaced_) surely = false;
    kept.push_back(other);
  }
  if (kept.empty()) return;
  // Of several places the one that was kept first is taken, which need not be the first place: then nothing is sure of any.
  surely = surely && kept.size() == 1;
  record.came_back = surely;
  if (surely) record.place = kept.front()->place;
  for (Record* one : kept) one->reserved_until = surely ? std::nullopt : std::optional(clock_.now());
}

// Of a write that is sent now. It may have got back a place that it was not sure to get.
uint64_t Checkers::place_of(const Record& record) const {
  uint64_t place = record.place;
  if (record.link == nullptr || !record.link->exchange.report.claimed_reservation) return place;
  for (const Record* other : by_bytes_.at(record.same_bytes)) {
    if (other->life == life_) place = std::min(place, other->place);
  }
  return place;
}

// Whether it waits for the answer of an earlier sending of the same write instead of its grant, or did until that one's client
// was found gone: it stands in the queue itself from then on. Without request ids the same bytes are the same write to armgate.
bool Checkers::waits_for_own(const Record& record) const {
  return std::any_of(records_.begin(), records_.end(), [&](const auto& entry) {
    const Record& other = entry.second;
    const bool same = other.write_id == record.write_id || (!record.has_id && other.asked == record.asked);
    return same && other.id < record.id && (other.sends > 0 || other.left_undecided);
  });
}

// Whether it came while an earlier sending of the same write was granted already, and goes on with that.
bool Checkers::goes_on_for_its_own(const Record& record) const {
  return std::ranges::any_of(by_bytes_.at(record.same_bytes), [&](const Record* other) {
    const bool same = other->id < record.id && other->life == life_;
    return same && other->sends > 0 && (!other->answered || *other->answered >= record.served);
  });
}

void Checkers::check_order(const Record& record) {
  if (record.sends > 0) return;
  if (record.left && *record.left < clock_.now()) violated("P3", record.what + " was sent although its client had left");
  // Where clients share a budget a write stands in line once it has its share; when that was is not known here.
  if (promised_.budgets.fair) return;
  // Whoever was refused twice in a row on a resource goes before others there, once. Of a name with several actors the order in which
  // their answers were taken in is not known here.
  const bool shared_name = record.sent_as != record.sent_by;
  const bool may_have_a_turn = std::any_of(refusals_.begin(), refusals_.end(), [&](const auto& entry) {
    const auto& [name, entity] = entry.first;
    return name == record.sent_as && (shared_name || (entity == record.entity && entry.second >= 2));
  });
  // It has it as soon as the second is decided, whenever its client takes that in.
  const bool is_refused_now = std::ranges::any_of(records_, [&](const auto& entry) {
    const Record& other = entry.second;
    return other.link != nullptr && other.sent_as == record.sent_as && other.entity == record.entity &&
           is_refused_by_now(other.link->exchange.report.reason);
  });
  if (may_have_a_turn || is_refused_now || goes_on_for_its_own(record)) return;
  const uint64_t place = place_of(record);
  // Nothing but its grant is waited for before the first sending, but the guard's look at the resource, which does not count.
  // A position that was reserved for it was granted before.
  TimePoint granted = clock_.now();
  if (record.link != nullptr) {
    const Report& report = record.link->exchange.report;
    const bool was_reserved = report.claimed_reservation && report.waited == Duration{};
    granted = was_reserved ? TimePoint{} : record.served + report.waited;
  }
  for (const auto& key : record.keys) {
    for (const uint64_t id : queues_[key]) {
      const Record& before = records_.at(id);
      const bool came_in_time = !before.came_back || before.served < granted;
      // A crowd behind one name has more writes away than places are kept for a name.
      const bool may_be_dropped = before.came_back && before.sent_as != before.sent_by;
      if (id == record.id || before.place > place || !came_in_time || may_be_dropped) continue;
      const bool is_decided = before.link != nullptr && is_refused_by_now(before.link->exchange.report.reason);
      const bool being_answered = before.link != nullptr && (before.link->heads_written() > 0 || is_decided);
      // A place that was reserved is older than the request that came back for it; several processes reserve none.
      const bool is_alone = promised_.joining == Duration{};
      const bool stood_before = is_alone || before.served + promised_.joining <= record.served;
      if (stood_before && before.sends == 0 && !before.left && !being_answered && !waits_for_own(before)) {
        violated("P3", fmt::format("{} overtook {} on {}", record.what, before.what, key));
      }
    }
  }
}

}  // namespace armgate::world
