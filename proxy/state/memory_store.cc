#include "proxy/state/memory_store.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "proxy/async/thread_number.h"
#include "proxy/seams/which_writes.h"

namespace armgate {
namespace {

bool is_at_or_below(std::string_view id, std::string_view resource) {
  return resource.empty() || (id.starts_with(resource) && (id.size() == resource.size() || id[resource.size()] == '/'));
}

}  // namespace

// What is open stays, as long as there may be more of it.
MemoryStore::Slot& MemoryStore::place_for(Shard& shard, IntentId id) const {
  size_t at = shard.slots.size();
  if (at >= options_.kept) {
    for (size_t looked = 0; looked < shard.slots.size() && at == shard.slots.size(); ++looked) {
      const size_t place = shard.next++ % shard.slots.size();
      if (!shard.slots[place].is_open) at = place;
    }
    if (at == shard.slots.size() && at >= options_.open_max) at = shard.next++ % shard.slots.size();
  }
  if (at == shard.slots.size()) shard.slots.emplace_back();
  Slot& slot = shard.slots[at];
  if (slot.is_open) shard.open.erase(slot.id);
  slot.id = id;
  slot.how = arm::Progress::Unknown;
  slot.is_open = true;
  slot.replays = 0;
  slot.has_outcome = slot.is_running = slot.has_ended = slot.given_up = false;
  if (slot.ending) slot.ending.reset();
  shard.open.insert_or_assign(id, at);
  return slot;
}

void MemoryStore::Slot::set(const std::array<std::string_view, kTexts>& given) {
  texts.clear();
  for (size_t i = 0; i < kTexts; ++i) {
    const std::string_view text = given[i].substr(0, UINT16_MAX);
    lengths[i] = static_cast<uint16_t>(text.size());
    texts += text;
  }
}

std::string_view MemoryStore::Slot::text(Text which) const {
  size_t begin = 0;
  for (size_t i = 0; i < which; ++i) begin += lengths[i];
  return std::string_view(texts).substr(begin, lengths[which]);
}

JournaledWrite MemoryStore::Slot::write() const {
  JournaledWrite told;
  told.id = id;
  told.begun = begun;
  told.resource = text(kResource);
  told.method = text(kMethod);
  told.client_label = text(kClient);
  told.tool = text(kTool);
  told.host = text(kHost);
  told.path = text(kPath);
  told.api_version = text(kApiVersion);
  if (has_outcome) {
    WriteOutcome& outcome = told.outcome.emplace();
    outcome.kind = kind;
    outcome.status = status;
    outcome.is_running = is_running;
    outcome.known = known;
    outcome.merged = merged;
    if (ending) outcome.tracking = ending->tracking;
  }
  if (has_ended) told.ended = ended;
  told.given_up = given_up;
  told.replays = replays;
  told.result.how = how;
  if (ending) told.result.error = ending->error;
  return told;
}

void MemoryStore::begin(IntentId id, std::string_view method, std::string_view resource, std::string_view client) {
  Shard& shard = shards_[thread_number() % kShards];
  MutexLock lock(&shard.mutex);
  place_for(shard, id).set({resource, method, client});
}

Task<Result<IntentId>> MemoryStore::record_intent(const IntentRecord& record) {
  keep(record);
  co_return record.started.order;
}

void MemoryStore::keep(const IntentRecord& record) {
  const IntentId id = record.started.order;
  Shard& shard = shards_[thread_number() % kShards];
  MutexLock lock(&shard.mutex);
  Slot& slot = place_for(shard, id);
  slot.begun = record.begun;
  if (options_.kept == 0) {
    slot.set({record.resource, record.method, record.client_label});
    return;
  }
  slot.set({record.resource, record.method, record.client_label, record.tool, record.host, record.path, record.api_version});
}

template <class Apply>
void MemoryStore::change(IntentId id, const Apply& apply) {
  const auto change_in = [&](Shard& shard) {
    MutexLock lock(&shard.mutex);
    const auto found = shard.open.find(id);
    if (found == shard.open.end()) return false;
    Slot& slot = shard.slots[found->second];
    slot.is_open = apply(shard, slot);
    if (!slot.is_open) shard.open.erase(found);
    return true;
  };
  if (!change_in(shards_[thread_number() % kShards])) std::any_of(shards_.begin(), shards_.end(), change_in);
}

MemoryStore::Change* MemoryStore::place_for_change(Shard& shard) const {
  if (options_.changes == 0) return nullptr;
  if (shard.changes.size() < options_.changes) shard.changes.emplace_back();
  shard.next_change = (shard.next_change + 1) % shard.changes.size();
  return &shard.changes[shard.next_change];
}

void MemoryStore::keep_change(Shard& shard, IntentId id, const AskedChange& change) const {
  Change* const kept = change.requested_body ? place_for_change(shard) : nullptr;
  if (kept == nullptr) return;
  *kept = {id, change.before, change.requested_body, {nullptr, nullptr, change.facts, change.asked_for_all, change.creates}};
}

void MemoryStore::keep_touched(IntentId id, std::string touched) {
  Shard& shard = shards_[thread_number() % kShards];
  MutexLock lock(&shard.mutex);
  if (Change* const kept = place_for_change(shard)) *kept = {id, {}, {}, {}, std::move(touched)};
}

void MemoryStore::record_outcome(IntentId id, const WriteOutcome& outcome) {
  change(id, [&](Shard& shard, Slot& slot) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    keep_change(shard, id, outcome.change);
    slot.has_outcome = true;
    slot.kind = outcome.kind;
    slot.status = outcome.status;
    slot.is_running = outcome.is_running;
    slot.known = outcome.known;
    slot.merged = static_cast<uint32_t>(outcome.merged);
    const bool has_more = outcome.tracking.by != arm::TrackedBy::Nothing || !outcome.result.error.empty();
    if (has_more && !slot.ending) slot.ending = std::make_unique<Ending>();
    if (has_more) slot.ending->tracking = outcome.tracking;
    if (slot.has_ended) return false;  // told before this
    slot.how = outcome.result.how;
    if (has_more) slot.ending->error = outcome.result.error;
    slot.ended = outcome.known;
    slot.has_ended = !outcome.is_running;
    return outcome.is_running;
  });
}

void MemoryStore::record_end(IntentId id, WallTime when, EndSeen seen, const OperationResult& result) {
  change(id, [&](Shard&, Slot& slot) {
    slot.has_ended = true;
    slot.ended = when;
    slot.given_up = seen == EndSeen::No;
    slot.how = result.how;
    if (!slot.ending) slot.ending = std::make_unique<Ending>();
    slot.ending->error = result.error;
    return !slot.has_outcome;
  });
}

// Seldom, and of what has ended mostly: it is looked for.
void MemoryStore::record_replay(IntentId id) {
  for (Shard& shard : shards_) {
    MutexLock lock(&shard.mutex);
    const auto slot = std::find_if(shard.slots.begin(), shard.slots.end(), [id](const Slot& s) { return s.id == id; });
    if (slot == shard.slots.end()) continue;
    ++slot->replays;
    return;
  }
}

void MemoryStore::forget(IntentId id) {
  change(id, [](Shard&, Slot&) { return false; });
}

std::vector<MemoryStore::Remembered> MemoryStore::newest(size_t most, std::string_view resource, WhichWrites which) const {
  std::vector<Remembered> all;
  std::map<IntentId, AskedChange> changes;
  std::map<IntentId, std::string> touched;
  for (const auto& shard : shards_) {
    MutexLock lock(&shard.mutex);
    for (const Change& change : shard.changes) {
      AskedChange& told = changes[change.id] = change.rest;
      told.before = change.before.lock();
      told.requested_body = change.requested_body.lock();
      if (change.touched) touched[change.id] = *change.touched;
    }
    // No more than could be told is put together: writes wait for this.
    std::vector<const Slot*> slots;
    for (const Slot& slot : shard.slots) {
      if (is_at_or_below(slot.text(kResource), resource)) slots.push_back(&slot);
    }
    std::ranges::sort(slots, std::greater<>(), [](const Slot* slot) { return slot->id; });
    size_t taken = 0;
    for (auto slot = slots.begin(); slot != slots.end() && taken < most; ++slot) {
      JournaledWrite write = (*slot)->write();
      if (!is_asked_for(which, write, resource)) continue;
      all.push_back({std::move(write), {}});
      ++taken;
    }
  }
  std::sort(all.begin(), all.end(), [](const Remembered& a, const Remembered& b) { return a.write.id > b.write.id; });
  if (all.size() > most) all.resize(most);
  for (Remembered& one : all) {
    one.change = std::move(changes[one.write.id]);
    const auto named = touched.find(one.write.id);
    if (named != touched.end()) one.write.touched = std::move(named->second);
  }
  return all;
}

std::vector<Store::Unfinished> MemoryStore::unfinished() const {
  std::vector<std::pair<IntentId, Unfinished>> all;
  for (const auto& shard : shards_) {
    MutexLock lock(&shard.mutex);
    for (const auto& [id, place] : shard.open) {
      const Slot& slot = shard.slots[place];
      if (slot.has_outcome) continue;
      all.emplace_back(
          id, Unfinished{std::string(slot.text(kMethod)), std::string(slot.text(kResource)), std::string(slot.text(kClient))});
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Unfinished> writes;
  writes.reserve(all.size());
  for (auto& [id, write] : all) writes.push_back(std::move(write));
  return writes;
}

size_t MemoryStore::unfinished_count() const {
  size_t count = 0;
  for (const auto& shard : shards_) {
    MutexLock lock(&shard.mutex);
    for (const auto& [id, place] : shard.open) count += shard.slots[place].has_outcome ? 0 : 1;
  }
  return count;
}

}  // namespace armgate
