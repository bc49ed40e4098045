#include "sim/judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "json/tree.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

constexpr size_t kFindingsMax = 100;
constexpr size_t kStatesMax = 4096;  // per resource

template <class Use>
void for_each_listed(std::string_view list, Use use) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (const std::string_view one = trim(list.substr(0, comma)); !one.empty()) use(one);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

// What clients add by name: "tags/owner", "subnets/a".
std::set<std::string> members_of(const Json& content, const ResourceType& traits) {
  std::set<std::string> members;
  if (!content.is_object()) return members;
  if (const auto tags = content.find("tags"); tags != content.end() && tags->is_object()) {
    for (const auto& item : tags->items()) members.insert("tags/" + lower_text(item.key()));
  }
  for (const ChildKind& kind : traits.children) {
    const Json::json_pointer children("/properties/" + std::string(kind.member));
    if (!content.contains(children) || !content[children].is_array()) continue;
    for (const Json& child : content[children]) {
      if (child.is_object()) members.insert(std::string(kind.member) + "/" + lower_text(child.value("name", "")));
    }
  }
  return members;
}

// A counter is a JSON number or, in a tag, a number in a string. Absent: 0.
int64_t counter_value(const Json& content, const std::string& pointer) {
  if (!content.is_object() || !content.contains(Json::json_pointer(pointer))) return 0;
  const Json& value = content[Json::json_pointer(pointer)];
  if (value.is_number()) return value.get<int64_t>();
  int64_t number = 0;
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return number;
}

bool is_json_pointer(std::string_view text) {
  try {
    return !Json::json_pointer(std::string(text)).empty();
  } catch (const Json::exception&) {
    return false;
  }
}

bool is_deliberate(const std::string& member, const WriteFacts& facts) {
  return facts.deletes.contains(member.substr(member.find('/') + 1));
}

}  // namespace

WriteFacts read_write_facts(const arm::Request& request) {
  const arm::Headers& fields = request.head.fields;
  WriteFacts facts;
  if (const auto id = fields.get("x-sim-write-id"); !id.empty()) {
    facts.write_key = "write " + std::string(id);
  } else if (const auto client_id = fields.get("x-ms-client-request-id"); !client_id.empty()) {
    const Hash128 bytes = Hasher(HashKey{3, 4}).hash_fields(request.head.target, request.body);
    facts.write_key = fmt::format("request {} {} {}", client_id, request.head.method_token, bytes.hex().substr(0, 12));
  }
  facts.client = fields.get("x-sim-client");
  facts.base_version = fields.get("x-sim-base-version");
  facts.base_etag = fields.get("x-sim-base-etag");
  for_each_listed(fields.get("x-sim-deletes"), [&](std::string_view name) { facts.deletes.insert(lower_text(name)); });
  for_each_listed(fields.get("x-sim-increments"), [&](std::string_view item) {
    const size_t colon = item.rfind(':');
    int64_t amount = 0;
    if (colon == std::string_view::npos || !is_json_pointer(item.substr(0, colon))) return;
    std::from_chars(item.data() + colon + 1, item.data() + item.size(), amount);
    if (amount != 0) facts.increments.emplace_back(item.substr(0, colon), amount);
  });
  facts.changes = read_intentions(fields.get("x-sim-changes"));
  return facts;
}

void Judge::applied(const WriteFacts& facts) {
  ++counts_.writes_applied;
  if (facts.write_key.empty() || ++applications_[facts.write_key] == 1) return;
  ++counts_.applied_twice;
  add_finding(fmt::format("{} was applied {} times", facts.write_key, applications_[facts.write_key]));
}

void Judge::action_applied(const std::string& action, const WriteFacts& facts) {
  ++counts_.actions[action];
  applied(facts);
}

void Judge::changed(const std::string& entity_key, const ResourceType& traits, const Json& before, const Json& after,
                    const WriteFacts& facts) {
  Watched& watched = watched_[entity_key];
  watched.changed_by = facts.client;
  intentions_.happened(entity_key, before, after, facts.client);
  update_members(entity_key, watched, members_of(before, traits), members_of(after, traits), facts);
  update_counters(watched, before, after, facts);
}

void Judge::update_members(const std::string& entity_key, Watched& watched, const std::set<std::string>& before,
                           const std::set<std::string>& after, const WriteFacts& facts) {
  for (const std::string& name : after) {
    Member& member = watched.members[name];
    const bool same_write = !facts.write_key.empty() && member.write_key == facts.write_key;
    if (!before.contains(name) || same_write) {
      member.write_key = facts.write_key;
      member.acknowledged = member.acknowledged || facts.acknowledged;
    }
    member.present = true;
  }
  for (const std::string& name : before) {
    if (after.contains(name)) continue;
    Member& member = watched.members[name];
    if (is_deliberate(name, facts)) {
      watched.members.erase(name);
      continue;
    }
    if (member.acknowledged) {
      ++counts_.vanished;
      add_finding(
          fmt::format("{} of {}, added by {}, was wiped out by {}", name, entity_key, member.write_key, facts.write_key));
    }
    member.present = false;
  }
}

void Judge::update_counters(Watched& watched, const Json& before, const Json& after, const WriteFacts& facts) {
  const std::string key = facts.write_key.empty() ? fmt::format("#{}", ++anonymous_) : facts.write_key;
  for (const auto& [pointer, amount] : facts.increments) {
    const auto [it, first] = watched.counters.try_emplace(pointer);
    if (first) it->second.initial = counter_value(before, pointer);
    Increment& increment = it->second.increments[key];
    increment.amount = amount;
    increment.acknowledged = increment.acknowledged || facts.acknowledged;
  }
  for (auto& [pointer, counter] : watched.counters) counter.latest = counter_value(after, pointer);
}

void Judge::removed(const std::string& entity_key) {
  intentions_.removed(entity_key);
  const auto found = watched_.find(entity_key);
  if (found == watched_.end()) return;
  found->second.members.clear();
  found->second.counters.clear();
}

void Judge::rolled_back(const std::string& entity_key, const ResourceType& traits, const Json& content,
                        const std::string& write_key) {
  Watched& watched = watched_[entity_key];
  if (const auto applied = applications_.find(write_key); applied != applications_.end()) --applied->second;
  const auto left = members_of(content, traits);
  std::erase_if(watched.members,
                [&](const auto& entry) { return entry.second.write_key == write_key && !left.contains(entry.first); });
  for (auto& [pointer, counter] : watched.counters) {
    const int64_t value = counter_value(content, pointer);
    if (std::exchange(counter.latest, value) != value) counter.increments.erase(write_key);
  }
}

void Judge::remember(const std::string& entity_key, const std::string& etag, const std::string& version) {
  Watched& watched = watched_[entity_key];
  watched.states.push_back({etag, version, std::exchange(watched.changed_by, {})});
  if (watched.states.size() > kStatesMax) watched.states.pop_front();
}

std::string Judge::base_version(const std::string& entity_key, const WriteFacts& facts) const {
  if (!facts.base_version.empty() || facts.base_etag.empty()) return facts.base_version;
  const auto found = watched_.find(entity_key);
  if (found == watched_.end()) return {};
  for (auto it = found->second.states.rbegin(); it != found->second.states.rend(); ++it) {
    if (it->etag == facts.base_etag) return it->version;
  }
  return {};
}

bool Judge::had_version(std::string_view entity_key, std::string_view etag, std::string_view version) const {
  WriteFacts facts;
  facts.base_etag = etag;
  return base_version(std::string(entity_key), facts) == version;
}

// Whether somebody else than `client` made one of the states behind the one at `from`.
bool Judge::another_changed(States::const_iterator from, States::const_iterator end, std::string_view client) {
  for (auto state = from + 1; state < end; ++state) {
    if (state->version != std::prev(state)->version && (client.empty() || state->made_by != client)) return true;
  }
  return false;
}

// Whether all that was changed since the resource last had this content is the client's own work, as when its write comes again
// although it had its effect. Should such a write lose something that was acknowledged, that is counted by itself.
bool Judge::knew_all(const std::string& entity_key, std::string_view version, std::string_view client) const {
  const auto found = watched_.find(entity_key);
  if (client.empty() || found == watched_.end()) return false;
  const auto& states = found->second.states;
  const auto last = std::find_if(states.rbegin(), states.rend(), [&](const State& state) { return state.version == version; });
  return last != states.rend() && !another_changed(last.base() - 1, states.end(), client);
}

bool Judge::is_newer(std::string_view entity_key, std::string_view etag, std::string_view base, std::string_view client) const {
  const auto found = watched_.find(entity_key);
  if (found == watched_.end()) return false;
  const auto& states = found->second.states;
  const auto first = std::find_if(states.begin(), states.end(), [&](const State& state) { return state.etag == etag; });
  const auto last = std::find_if(states.rbegin(), states.rend(), [&](const State& state) { return state.etag == base; });
  if (first == states.end() || last == states.rend()) return false;
  if (first < last.base() || first->version == last->version) return false;
  return another_changed(last.base() - 1, first + 1, client);
}

Judge::AsMeant Judge::check_effect(const std::string& entity_key, const Json& before, const Json& after,
                                   const WriteFacts& facts) {
  if (!facts.changes) return AsMeant::Unknown;
  const auto effect = intentions_.effect(entity_key, before, after, *facts.changes, facts.client);
  const auto count = [&](const std::string& place, uint64_t& counter, std::string_view what) {
    if (place.empty()) return;
    ++counter;
    add_finding(fmt::format("{} on {} {}: {}", facts.write_key, entity_key, what, place));
  };
  count(effect.unintended, counts_.unintended_changes, "changed what its client did not mean to change");
  count(effect.undone, counts_.undone_changes, "was accepted, and what its client changed is not so");
  count(effect.overwritten, counts_.overwritten_changes, "changed what another had changed since its base");
  return effect.is_as_meant() ? AsMeant::Yes : AsMeant::No;
}

void Judge::check_base(const std::string& entity_key, const std::string& current_version, const WriteFacts& facts,
                       AsMeant effect) {
  if (effect == AsMeant::Yes) return;
  const std::string base = base_version(entity_key, facts);
  if (base.empty() || base == current_version || knew_all(entity_key, base, facts.client)) return;
  ++counts_.stale_writes_accepted;
  add_finding(fmt::format("{} on {} was accepted although it was built from an older state", facts.write_key, entity_key));
}

void Judge::refused_412(const std::string& entity_key, const std::string& current_version, const WriteFacts& facts) {
  ++counts_.precondition_failed;
  const std::string base = base_version(entity_key, facts);
  if (base.empty() || base != current_version) return;
  ++counts_.undeserved_412;
}

void Judge::overlapped(const std::string& lock_key, const std::string& running_client, const WriteFacts& facts, Taken taken) {
  if (!facts.client.empty() && facts.client == running_client) {
    ++counts_.overlaps_own;
    return;
  }
  if (taken == Taken::Yes) {
    ++counts_.overlaps_accepted;
    return;
  }
  ++counts_.overlaps_attempted;
  add_finding(fmt::format("{} arrived while an operation ran on {}", facts.write_key, lock_key));
}

void Judge::add_finding(std::string sentence) {
  if (counts_.findings.size() < kFindingsMax) counts_.findings.push_back(std::move(sentence));
}

void Judge::add_to(Report& report) const {
  report.writes_applied = counts_.writes_applied;
  report.vanished = counts_.vanished;
  report.stale_writes_accepted = counts_.stale_writes_accepted;
  report.unintended_changes = counts_.unintended_changes;
  report.undone_changes = counts_.undone_changes;
  report.overwritten_changes = counts_.overwritten_changes;
  report.overlaps_attempted = counts_.overlaps_attempted;
  report.overlaps_accepted = counts_.overlaps_accepted;
  report.overlaps_own = counts_.overlaps_own;
  report.applied_twice = counts_.applied_twice;
  report.precondition_failed = counts_.precondition_failed;
  report.undeserved_412 = counts_.undeserved_412;
  report.actions = counts_.actions;
  report.findings = counts_.findings;
  for (const auto& [key, watched] : watched_) {
    for (const auto& [name, member] : watched.members) {
      if (member.acknowledged && !member.present) ++report.lost_updates;
    }
    for (const auto& [pointer, counter] : watched.counters) {
      int64_t acknowledged = 0;
      int64_t declared = 0;
      for (const auto& [write, increment] : counter.increments) {
        declared += increment.amount;
        if (increment.acknowledged) acknowledged += increment.amount;
      }
      const int64_t grown = counter.latest - counter.initial;
      if (grown < acknowledged) report.lost_increments += static_cast<uint64_t>(acknowledged - grown);
      if (grown > declared) report.overcounted_increments += static_cast<uint64_t>(grown - declared);
    }
  }
}

}  // namespace armgate::sim
