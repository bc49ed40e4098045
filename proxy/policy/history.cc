#include "proxy/policy/history.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/mutant.h"
#include "proxy/policy/entry_match.h"

namespace armgate::policy {
namespace {

constexpr size_t kOverlappedIdsMax = 32;

bool is_write(const Entry& entry) { return entry.cause == Cause::Written || entry.cause == Cause::Deleted; }

// The newest entry that is so; null: none.
template <class Entries, class Is>
auto newest(Entries& entries, Is is) -> decltype(&entries.front()) {
  const auto it = std::find_if(entries.rbegin(), entries.rend(), is);
  return it == entries.rend() ? nullptr : &*it;
}

// Whichever request it was shown to.
bool is_shown_alike(const Observation& one, const Observation& other) {
  return one.entry == other.entry && one.as == other.as && one.lagging == other.lagging && one.lost == other.lost &&
         one.api_version == other.api_version;
}

bool repeats(const Observation& last, const Observation& next) {
  return is_shown_alike(last, next) && !last.lost && last.request_id == next.request_id;
}

}  // namespace

const Rendering* Entry::rendered_at(std::string_view api_version) const {
  const auto it =
      std::find_if(renderings.begin(), renderings.end(), [&](const Rendering& r) { return r.api_version == api_version; });
  return it == renderings.end() ? nullptr : &*it;
}

std::shared_ptr<KeptBody> kept_body(std::string bytes, bool is_partial) {
  return std::make_shared<KeptBody>(KeptBody{.bytes = std::move(bytes), .compressed = false, .is_partial = is_partial});
}

void History::apply(const HistoryLimits& limits, Event event) {
  std::visit([&](auto& what) { on(limits, std::move(what)); }, event);
}

const Entry* History::find(uint64_t number) const {
  const auto after = std::upper_bound(entries_.begin(), entries_.end(), number,
                                      [](uint64_t wanted, const Entry& e) { return wanted < e.number; });
  if (after == entries_.begin() || std::prev(after)->number != number) return nullptr;
  return &*std::prev(after);
}

const ClientRecord* History::client(const Hash128& client) const {
  const auto it = clients_.find(client);
  return it == clients_.end() ? nullptr : &it->second;
}

bool History::child_written_since(uint64_t since) const {
  return forgotten_ > since || std::any_of(entries_.begin(), entries_.end(),
                                           [&](const Entry& e) { return e.cause == Cause::ChildWritten && e.number > since; });
}

const Entry* History::last_written_after(uint64_t number) const {
  return newest(entries_, [&](const Entry& e) { return e.number > number && is_write(e); });
}

void History::forget_until(uint64_t order) {
  forgotten_ = std::max(forgotten_, order);
  clients_forgotten_ = std::max(clients_forgotten_, order);
}

uint64_t History::absent() const {
  uint64_t last = deleted_;
  for (const Entry& entry : entries_) {
    if (entry.absent && entry.cause == Cause::Seen && entry.certain) last = std::max(last, entry.number);
  }
  return last;
}

bool History::is_overtaken(const StateShown& shown) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& e) { return is_write(e) && shown.asked < e.number && e.number < shown.at.order; });
}

// What is newer than the answer was not shown by it: items of lists are looked up when a write comes.
Entry* History::same_as(const StateShown& shown) {
  return newest(entries_, [&](const Entry& e) { return e.number <= shown.at.order && is_shown_by(e, shown); });
}

bool History::is_back(const Entry& entry, const StateShown& shown) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) {
    if (e.number <= entry.number || e.cause == Cause::ChildWritten || e.cause == Cause::Acted) return false;
    if (is_write(e)) return e.number < shown.asked;
    const bool is_another =
        !e.etag.empty() && !entry.etag.empty() && e.etag != entry.etag;  // an item of a list has none, perhaps
    return e.certain && e.known.order < shown.asked && (is_another || is_other_than(e, shown));
  });
}

bool History::was_read_since(uint64_t number) const {
  return std::any_of(clients_.begin(), clients_.end(), [&](const auto& entry) {
    const auto& shown = entry.second.shown;
    return std::any_of(shown.begin(), shown.end(), [&](const Observation& o) {
      const Entry* state = o.as == ShownAs::PointRead && !o.lagging && o.last_asked > number ? find(o.entry) : nullptr;
      return state != nullptr && !state->absent;
    });
  });
}

bool History::was_ever_read() const {
  const auto shows = [&](const Observation& o) {
    const Entry* state = o.as == ShownAs::OwnAnswer ? nullptr : find(o.entry);
    return state != nullptr && !state->absent;
  };
  return std::ranges::any_of(clients_, [&](const auto& r) { return std::ranges::any_of(r.second.shown, shows); });
}

bool History::was_seen_since(uint64_t since) const {
  return found_ > since || std::ranges::any_of(entries_, [&](const Entry& e) {
           return e.cause == Cause::Seen && e.certain && !e.absent && e.number > since;
         });
}

const Entry* History::fresh_write(const HistoryLimits& limits, const StateShown& shown) const {
  const Entry* last = last_written_after(deleted_);
  const bool counts = last != nullptr && last->cause == Cause::Written && last->certain && last->number < shown.asked;
  return counts && (last->ended == 0 || shown.at.time - last->ended_at <= limits.lag_max) ? last : nullptr;
}

bool History::lags(const HistoryLimits& limits, const StateShown& shown, const arm::BodyFacts& facts) const {
  const Entry* last = fresh_write(limits, shown);
  if (last == nullptr) return false;
  // Something was written since the last delete: nobody has read it yet, or it was deleted around armgate.
  if (shown.absent) return !was_read_since(last->number);
  const Entry* same = newest(entries_, [&](const Entry& e) { return e.certain && is_shown_by(e, shown); });
  const bool was_there_before = same != nullptr && same->number < last->number && same->known.order < last->number;
  return was_there_before &&
         !is_what_was_asked_for(*last, shown, facts, write_before(*this, *last, shown.rendering.api_version));
}

Entry& History::add(const HistoryLimits& limits, Entry entry) {
  if (entries_.size() >= limits.entries_max) {
    forgotten_ = std::max({forgotten_, entries_.front().number, entries_.front().ended});
    body_bytes_ -= bytes_of(entries_.front());
    entries_.pop_front();
  }
  body_bytes_ += bytes_of(entry);
  const auto after = std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& e) { return e.number < entry.number; });
  return *entries_.insert(after.base(), std::move(entry));
}

// The client that was told something longest ago, of those without a write under way.
void History::forget_a_client() {
  const auto last_told = [](const ClientRecord& r) {
    const uint64_t shown = r.shown.empty() ? 0 : r.shown.back().last_shown.order;
    return std::max(shown, r.refusals.empty() ? 0 : r.refusals.back().told);
  };
  auto oldest = clients_.end();
  for (auto it = clients_.begin(); it != clients_.end(); ++it) {
    const bool is_older = oldest == clients_.end() || last_told(it->second) < last_told(oldest->second);
    if (it->second.under_way.empty() && is_older) oldest = it;
  }
  if (oldest == clients_.end()) return;
  clients_forgotten_ = std::max(clients_forgotten_, last_told(oldest->second));
  clients_.erase(oldest);
  count_bodies();
}

ClientRecord& History::client_record(const HistoryLimits& limits, const Hash128& client) {
  const auto it = clients_.find(client);
  if (it != clients_.end()) return it->second;
  if (clients_.size() >= limits.clients_max) forget_a_client();
  return clients_[client];
}

// The first that was shown again in the same way since, with no refusal in between, becomes one with that. Else the oldest
// goes.
void ClientRecord::forget_one() {
  const auto is_no_newer = [](const Observation& one, const Observation& next) { return one.entry >= next.entry; };
  if (std::adjacent_find(shown.begin(), shown.end(), is_no_newer) == shown.end()) return forget_oldest();
  const auto shown_again = [&](auto one) {
    return std::find_if(std::next(one), shown.end(), [&](const Observation& later) {
      const auto is_between = [&](const Refusal& r) { return r.told > one->last_asked && r.told < later.last_asked; };
      return is_shown_alike(*one, later) && std::none_of(refusals.begin(), refusals.end(), is_between);
    });
  };
  auto first = shown.begin();
  while (first != shown.end() && shown_again(first) == shown.end()) ++first;
  if (first == shown.end()) return forget_oldest();
  // A write that came in between is built on it.
  const auto again = shown_again(first);
  if (first->first_shown.order < again->first_shown.order) again->first_shown = first->first_shown;
  std::move_backward(shown.begin(), first, std::next(first));  // it is among the first, mostly
  shown.pop_front();
}

void ClientRecord::forget_oldest() {
  const Observation& oldest = shown.front();
  if (oldest.as != ShownAs::OwnAnswer) {
    forgotten = std::max(forgotten, oldest.last_shown.order);
    forgotten_at = std::max(forgotten_at, oldest.last_shown.time);
  }
  shown.pop_front();
}

void History::observe(const HistoryLimits& limits, const Hash128& client, Observation next) {
  ClientRecord& record = client_record(limits, client);
  const TimePoint now = next.last_shown.time;
  const auto too_old = [&](const Observation& o) { return now - o.last_shown.time > limits.observation_age; };
  while (!record.shown.empty() && too_old(record.shown.front())) record.forget_oldest();
  const bool was_refused_between =
      !record.shown.empty() && std::any_of(record.refusals.begin(), record.refusals.end(), [&](const Refusal& r) {
        return r.told > record.shown.back().last_asked && r.told < next.last_asked;
      });
  if (!record.shown.empty() && !was_refused_between && repeats(record.shown.back(), next)) {
    record.shown.back().last_asked = std::max(record.shown.back().last_asked, next.last_asked);
    record.shown.back().last_shown = next.last_shown;
    return;
  }
  if (record.shown.size() >= limits.observations_max) record.forget_one();
  // An item of a list is looked up when a write comes, after what was shown later.
  const auto after =
      std::upper_bound(record.shown.begin(), record.shown.end(), next,
                       [](const Observation& a, const Observation& b) { return a.last_shown.order < b.last_shown.order; });
  record.shown.insert(after, std::move(next));
}

// A state that is back is a new entry: its old ETag may have been given out anew, and a write that was built on it before must
// not pass for one that was built on it now. A read that was under way while a write was accepted may show either side of it.
void History::on(const HistoryLimits& limits, StateShown event) {
  Observation observed;
  observed.as = event.as;
  observed.request_id = std::move(event.request_id);
  observed.api_version = event.rendering.api_version;
  observed.first_shown = event.at;
  observed.last_asked = event.asked;
  observed.last_shown = event.at;
  observed.lagging = event.as != ShownAs::OwnAnswer && lags(limits, event, *arm::BodyFacts::generic());

  Entry* entry;
  if (event.as == ShownAs::OwnAnswer && !event.absent) {
    entry =
        newest(entries_, [&](const Entry& e) { return e.cause == Cause::Written && e.is_of(event.client, event.write_key); });
    const bool is_first = entry != nullptr && entry->renderings.empty();
    if (is_first) entry->etag = event.etag;
    if (entry != nullptr && !is_first && !is_shown_by(*entry, event)) entry = same_as(event);
  } else {
    entry = same_as(event);
    // What was made anew may be as it was before its deletion: whether that, or this, was read is not known then.
    const bool may_be_back = !observed.lagging || (entry != nullptr && entry->number < absent());
    if (entry != nullptr && may_be_back && is_back(*entry, event)) entry = nullptr;
  }
  if (entry == nullptr) {
    Entry fresh;
    fresh.absent = event.absent;
    fresh.etag = std::move(event.etag);
    fresh.known = event.at;
    const bool overtaken = is_overtaken(event);
    // It may show either side of a child's write, too. But it does not lag for that: what it says of itself is up to date.
    const bool overtaken_below = std::ranges::any_of(entries_, [&](const Entry& e) {
      return e.cause == Cause::ChildWritten && event.asked < e.number && e.number < event.at.order;
    });
    fresh.number = overtaken || overtaken_below || observed.lagging ? event.asked : event.at.order;
    fresh.certain = !observed.lagging;
    observed.lagging |= overtaken;
    entry = &add(limits, std::move(fresh));
  }
  if (!event.absent) add_rendering(*entry, std::move(event.rendering));
  observed.entry = entry->number;
  observe(limits, event.client, std::move(observed));
}

void History::on(const HistoryLimits& limits, NotModified event) {
  const Entry* entry = newest(entries_, [&](const Entry& e) { return !e.etag.empty() && e.etag == event.etag; });
  if (entry == nullptr) return;
  StateShown same;
  same.client = event.client;
  same.request_id = std::move(event.request_id);
  same.asked = event.asked;
  same.at = event.at;
  same.etag = std::move(event.etag);
  if (const Rendering* known = entry->rendered_at(event.api_version)) same.rendering = *known;
  same.rendering.api_version = std::move(event.api_version);
  on(limits, std::move(same));
}

void History::on(const HistoryLimits& limits, WriteAccepted event) {
  Entry entry;
  entry.number = event.at.order;
  entry.cause = event.cause;
  entry.certain = event.certain;
  entry.known = event.at;
  entry.writer = event.client;
  entry.request_hash = event.request_hash;
  entry.write_key = event.write_key;
  entry.requested_body = std::move(event.requested_body);
  entry.asked_for_all = event.asked_for_all;
  if (!event.certain) entry.if_match = std::move(event.if_match);
  add(limits, std::move(entry));
  if (event.deletes) created_.reset();
  if (event.cause != Cause::Written) return;
  const auto record = clients_.find(event.client);
  if (record == clients_.end()) return;
  const bool was_merged = event.merged || !record->second.merged.empty();
  record->second.accept(limits, std::move(event));
  if (was_merged) count_bodies();
}

void History::on(const HistoryLimits&, OperationEnded event) {
  Entry* entry = newest(entries_, [&](const Entry& e) { return e.request_hash == event.request_hash && e.ended == 0; });
  if (entry == nullptr) {
    forgotten_ = std::max(forgotten_, event.at.order);
    return;
  }
  entry->ended = event.at.order;
  entry->ended_at = event.at.time;
  entry->certain &= event.succeeded;
  entry->failed = event.failed;
}

void History::on(const HistoryLimits& limits, ResourceDeleted event) {
  for (auto& [client, record] : clients_) record.merged.clear();
  created_.reset();
  deleted_ = event.at.order;
  deleted_by_ = event.client;
  Entry entry;
  entry.number = event.at.order;
  entry.cause = Cause::Deleted;
  entry.absent = true;
  entry.known = event.at;
  entry.writer = event.client;
  entry.ended = event.at.order;
  entry.ended_at = event.at.time;
  add(limits, std::move(entry));
  count_bodies();
}

void History::on(const HistoryLimits& limits, WriteArrived event) {
  ClientRecord& record = client_record(limits, event.client);
  for (const UnderWay& other : record.under_way) {
    if (other.request_hash != event.write.request_hash) record.several_until = event.at + limits.think_max;
    auto& ids = record.overlapped_ids;
    const bool same_id = !other.request_id.empty() && other.request_id == event.write.request_id;
    if (!same_id || std::find(ids.begin(), ids.end(), other.request_id) != ids.end()) continue;
    add_bounded(ids, other.request_id, kOverlappedIdsMax);
  }
  record.under_way.push_back(std::move(event.write));
}

void History::on(const HistoryLimits&, WriteLeft event) {
  const auto record = clients_.find(event.client);
  if (record == clients_.end()) return;
  std::erase_if(record->second.under_way, [&](const UnderWay& w) { return w.id == event.write; });
}

void History::on(const HistoryLimits& limits, Refused event) {
  ClientRecord& record = client_record(limits, event.client);
  ++record.refused_in_a_row;
  const auto read_after = [&](const Refusal& earlier) {
    return std::any_of(record.shown.begin(), record.shown.end(), [&](const Observation& o) {
      return o.as != ShownAs::OwnAnswer && !earlier.lost && earlier.told != 0 && o.last_asked > earlier.told &&
             o.first_shown.order < event.refusal.arrived;
    });
  };
  event.refusal.reread = std::any_of(record.refusals.begin(), record.refusals.end(), read_after);
  if (event.took_back) record.unmerged_until = *event.took_back + limits.observation_age;
  add_bounded(record.refusals, std::move(event.refusal), limits.refusals_max);
  count_bodies();
}

void History::on(const HistoryLimits&, AnswerLost event) {
  const auto it = clients_.find(event.client);
  if (it == clients_.end()) return;
  for (Observation& shown : it->second.shown) {
    if (shown.last_shown.order == event.shown && shown.first_shown.order == event.shown) shown.lost = true;
  }
  for (Refusal& refusal : it->second.refusals) {
    if (refusal.told == event.shown) refusal.lost = true;
  }
}

void History::on(const HistoryLimits&, RightUsed event) {
  const auto it = clients_.find(event.client);
  if (it == clients_.end()) return;
  const auto gave_it = [&](const Refusal& r) { return !r.used && !r.lost && r.told > absent(); };
  const auto unused = std::find_if(it->second.refusals.begin(), it->second.refusals.end(), gave_it);
  if (unused == it->second.refusals.end()) return;
  unused->used = true;
  it->second.right_taken = unused->told;
}

bool History::has_write_under_way() const {
  return std::any_of(clients_.begin(), clients_.end(), [](const auto& r) { return !r.second.under_way.empty(); });
}

}  // namespace armgate::policy
