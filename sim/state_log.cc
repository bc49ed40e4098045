#include "sim/state_log.h"

#include <utility>

#include "json/tree.h"
#include "sim/machine/address.h"

namespace armgate::sim {
namespace {

// What the child was in each state of its parent, without those in which nothing became of it.
States child_states(const States& of_parent, const ChildKind& kind, std::string_view name) {
  States states;
  for (const State& whole : of_parent) {
    const nlohmann::json* child = whole.content ? find_child(*whole.content, kind, name) : nullptr;
    if (child == nullptr && (states.empty() || !states.back().content)) continue;
    State state{whole.serial, whole.since, nullptr, {}, whole.by};
    if (child != nullptr) {
      state.version = version_of(*child);
      if (!states.empty() && states.back().version == state.version) continue;
      state.content = std::make_shared<const nlohmann::json>(*child);
    }
    states.push_back(std::move(state));
  }
  return states;
}

}  // namespace

uint64_t StateLog::add(const std::string& key, TimePoint now, Content content, std::string_view by) {
  States& states = states_[key];
  std::string version = content ? version_of(*content) : std::string();
  const bool is_new = states.empty() ? content != nullptr : states.back().version != version;
  if (is_new) states.push_back({++serials_, now, std::move(content), std::move(version), std::string(by)});
  return states.empty() ? 0 : states.back().serial;
}

uint64_t StateLog::last(std::string_view key) const {
  const auto found = states_.find(key);
  return found == states_.end() || found->second.empty() ? 0 : found->second.back().serial;
}

States StateLog::of(std::string_view path) const {
  const Address address = parse_id(path);
  const auto found = states_.find(address.root_key);
  if (found == states_.end()) return {};
  if (address.child_kind == nullptr) return found->second;
  return child_states(found->second, *address.child_kind, address.child_name);
}

const State* state_with(const States& states, uint64_t serial) {
  const State* found = nullptr;
  for (const State& state : states) {
    if (state.serial <= serial) found = &state;
  }
  return found;
}

const State* state_at(const States& states, TimePoint when) {
  const State* found = nullptr;
  for (const State& state : states) {
    if (state.since <= when) found = &state;
  }
  return found;
}

const State* state_throughout(const States& states, TimePoint from, TimePoint to) {
  const State* found = state_at(states, from);
  return found == state_at(states, to) ? found : nullptr;
}

}  // namespace armgate::sim
