#include "arm/evidence.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "arm/json_tree.h"
#include "base/text.h"

namespace armgate::arm {
namespace {

using Kind = JsonTree::Kind;
using Keys = std::span<const std::string_view>;

// Which members tell the elements of an array apart (reference: x-ms-identifiers of the provider's specification).
// All other arrays of objects go by "name" or else "id", if every element has one of its own; lists of different texts by these.
struct KeyedArray {
  std::string_view array;  // its own name, in lower case
  std::array<std::string_view, 3> keys;
  size_t count;
};
constexpr std::array<KeyedArray, 13> kKeyedArrays{{
    {"aaaarecords", {"ipv6Address"}, 1},
    {"accesspolicies", {"tenantId", "objectId", "applicationId"}, 3},
    {"applicationsecuritygroups", {"id"}, 1},
    {"arecords", {"ipv4Address"}, 1},
    {"caarecords", {"flags", "tag", "value"}, 3},
    {"datadisks", {"lun"}, 1},
    {"iprules", {"value"}, 1},
    {"mxrecords", {"preference", "exchange"}, 2},
    {"nsrecords", {"nsdname"}, 1},
    {"ptrrecords", {"ptrdname"}, 1},
    {"resourceaccessrules", {"tenantId", "resourceId"}, 2},
    {"srvrecords", {"target", "port", "priority"}, 3},
    {"virtualnetworkrules", {"id"}, 1},
}};
constexpr std::array<std::string_view, 1> kName{"name"};
constexpr std::array<std::string_view, 1> kId{"id"};
constexpr std::array<std::string_view, 1> kItself{""};  // texts and numbers are their own keys (taints, prefixes)

// Ids come back in another case than they were sent (observed: "resourcegroups").
bool same_text(std::string_view a, std::string_view b) {
  return a == b || (starts_with_ignoring_case(a, "/subscriptions/") && equal_ignoring_case(a, b));
}

using Elements = std::map<std::string, const JsonTree*>;

// The elements of an array by key; nothing if one has none, or two have the same.
std::optional<Elements> elements_by(const JsonTree& array, Keys keys) {
  Elements elements;
  for (const JsonTree& item : array.items) {
    std::string key;
    bool any = false;
    for (const auto name : keys) {
      const JsonTree* part = item.kind == Kind::Object ? item.find(name) : nullptr;
      if (name.empty() && (item.kind == Kind::Text || item.kind == Kind::Number)) part = &item;
      any |= part != nullptr && !part->text.empty();
      if (part != nullptr) key += lower_text(part->text);
      key += '\n';
    }
    if (!any || !elements.emplace(std::move(key), &item).second) return std::nullopt;
  }
  return elements;
}

// The same keys for all of the arrays, or none.
Keys keys_of(std::string_view name, const std::vector<const JsonTree*>& arrays) {
  const auto fit = [&](Keys keys) {
    return std::all_of(arrays.begin(), arrays.end(), [&](const JsonTree* a) { return elements_by(*a, keys).has_value(); });
  };
  const std::string lower_name = lower_text(name);
  for (const auto& known : kKeyedArrays) {
    const Keys keys(known.keys.data(), known.count);
    if (known.array == lower_name) return fit(keys) ? keys : Keys();
  }
  if (fit(kName)) return kName;
  if (fit(kId)) return kId;
  return fit(kItself) ? Keys(kItself) : Keys();
}

size_t count_of(const JsonTree& object) {
  return static_cast<size_t>(std::count_if(object.members.begin(), object.members.end(),
                                           [](const auto& member) { return member.second.kind != Kind::Null; }));
}

// True if there is a value in it besides what it is called by.
bool says_something(const JsonTree& tree, Keys keys) {
  if (tree.kind == Kind::Object) {
    return std::any_of(tree.members.begin(), tree.members.end(), [&](const auto& member) {
      return std::find(keys.begin(), keys.end(), member.first) == keys.end() && says_something(member.second, {});
    });
  }
  if (tree.kind == Kind::Array) return !tree.items.empty();
  return tree.kind != Kind::Null;
}

// What may be in `state` besides what is wanted: in maps and in arrays with keys nothing, or anything.
enum class Besides { Nothing, Anything };

// True if all of `wanted` is in `state`. With Besides::Nothing: writing it over `state` leaves that as it is, for what is left
// out stays, but in maps and arrays it would go. With Besides::Anything: writing `state` over it loses nothing of it.
bool covers(const JsonTree& state, const JsonTree& wanted, std::string_view name, Place place, Besides besides);

bool covers_array(const JsonTree& state, const JsonTree& wanted, std::string_view name, Place place, Besides besides) {
  const Keys keys = keys_of(name, {&state, &wanted});
  const bool may_be_longer = besides == Besides::Anything && !keys.empty();
  if (!may_be_longer && state.items.size() != wanted.items.size()) return false;
  if (keys.empty()) {
    return std::equal(state.items.begin(), state.items.end(), wanted.items.begin(),
                      [&](const JsonTree& s, const JsonTree& w) { return covers(s, w, {}, place, besides); });
  }
  const auto there = elements_by(state, keys);
  const auto asked = elements_by(wanted, keys);
  return std::all_of(asked->begin(), asked->end(), [&](const auto& element) {
    const auto found = there->find(element.first);
    return found != there->end() && covers(*found->second, *element.second, {}, place, besides);
  });
}

// What a resource is called, which its place says as well: clients' models leave it out of what they send.
bool is_called_by(std::string_view member, const JsonTree& object, Place place) {
  const bool is_resource = place == Place::Resource && object.find("properties") != nullptr;
  return is_resource && (member == "id" || member == "name" || member == "type");
}

bool covers(const JsonTree& state, const JsonTree& wanted, std::string_view name, Place place, Besides besides) {
  if (state.kind != wanted.kind) return false;
  if (wanted.kind == Kind::Array) return covers_array(state, wanted, name, place, besides);
  if (wanted.kind != Kind::Object) {
    const bool is_name = place == Place::Resource && name == "name";  // in ARM names have no case, as ids have none
    return same_text(state.text, wanted.text) || (is_name && equal_ignoring_case(state.text, wanted.text));
  }
  if (place == Place::Tags && besides == Besides::Nothing && count_of(state) != count_of(wanted)) return false;
  return std::all_of(wanted.members.begin(), wanted.members.end(), [&](const auto& member) {
    if (member.second.kind == Kind::Null) return true;
    const JsonTree* there = state.find(member.first);
    if (there == nullptr && !says_something(member.second, {})) return true;  // empty or absent
    if (there == nullptr && besides == Besides::Anything && is_called_by(member.first, wanted, place)) return true;
    return there != nullptr && covers(*there, member.second, member.first, place_below(place, member.first), besides);
  });
}

// One of the states at the place that is being looked at.
struct Standing {
  size_t state;
  const JsonTree* value;  // null: it has nothing there
};
using Standings = std::vector<Standing>;

class Weighing {
 public:
  explicit Weighing(size_t states) : scores_(states) {}

  // All of `states` have a value here, and so has the PUT.
  void compare(const JsonTree& put, const Standings& states, std::string_view name, Place place) {
    if (states.size() < 2) return;
    const bool alike = std::all_of(states.begin(), states.end(), [&](const Standing& s) { return s.value->kind == put.kind; });
    if (alike && put.kind == Kind::Object) return compare_objects(put, states, place);
    if (alike && put.kind == Kind::Array && compare_by_key(put, states, name, place)) return;
    speak(states, [&](const Standing& s) { return covers(*s.value, put, name, place, Besides::Nothing); });
  }

  std::vector<Evidence> result() const {
    std::vector<Evidence> all;
    for (const Score& score : scores_) {
      all.push_back(score.against          ? Evidence::Contradicts
                    : score.against_weakly ? Evidence::ContradictsByAbsence
                    : score.in_favour      ? Evidence::Agrees
                                           : Evidence::Silent);
    }
    return all;
  }

 private:
  struct Score {
    bool in_favour = false;
    bool against = false;
    bool against_weakly = false;
  };

  // A place speaks if it is with some of the states and not with others.
  template <class IsWith>
  void speak(const Standings& states, IsWith is_with) {
    std::vector<bool> with;
    for (const Standing& s : states) with.push_back(is_with(s));
    const auto count = std::count(with.begin(), with.end(), true);
    if (count == 0 || count == static_cast<std::ptrdiff_t>(states.size())) return;
    for (size_t i = 0; i < states.size(); ++i) {
      Score& score = scores_[states[i].state];
      (with[i] ? score.in_favour : score.against) = true;
    }
  }

  // The PUT does not have what some of the states have.
  void speak_by_absence(const Standings& states) {
    const bool differ = std::any_of(states.begin(), states.end(), [](const Standing& s) { return s.value == nullptr; }) &&
                        std::any_of(states.begin(), states.end(), [](const Standing& s) { return s.value != nullptr; });
    if (!differ) return;
    for (const Standing& s : states) (s.value == nullptr ? scores_[s.state].in_favour : scores_[s.state].against_weakly) = true;
  }

  // The PUT has something that a state may lack.
  void compare_presence(const JsonTree& put, const Standings& states, std::string_view name, Keys keys, Place place) {
    Standings having;
    for (const Standing& s : states) {
      if (s.value != nullptr) having.push_back(s);
    }
    if (having.size() < states.size() && says_something(put, keys)) {
      Standings judged;
      const auto is_like = [&](const Standing& s) {
        return s.value != nullptr && covers(*s.value, put, name, place, Besides::Nothing);
      };
      for (const Standing& s : states) {
        if (s.value == nullptr || is_like(s)) judged.push_back(s);  // those that have another one are compared below
      }
      speak(judged, [](const Standing& s) { return s.value != nullptr; });
    }
    compare(put, having, name, place);
  }

  // A tag map or an array that a state lacks is an empty one.
  static const JsonTree* or_empty(const JsonTree* value, const JsonTree& put, Place place) {
    static const JsonTree no_members(Kind::Object);
    static const JsonTree no_items(Kind::Array);
    if (value != nullptr) return value;
    if (put.kind == Kind::Array) return &no_items;
    return put.kind == Kind::Object && place == Place::Tags ? &no_members : nullptr;
  }

  void compare_objects(const JsonTree& put, const Standings& states, Place place) {
    for (const auto& [name, value] : put.members) {
      if (value.kind == Kind::Null) continue;
      const Place below = place_below(place, name);
      Standings there;
      for (const Standing& s : states) there.push_back({s.state, or_empty(s.value->find(name), value, below)});
      compare_presence(value, there, name, {}, below);
    }
    if (place != Place::Tags) return;
    std::map<std::string_view, Standings> left_out;
    for (const Standing& s : states) {
      for (const auto& [name, value] : s.value->members) {
        if (value.kind != Kind::Null && put.find(name) == nullptr) left_out.try_emplace(name);
      }
    }
    for (auto& [name, there] : left_out) {
      for (const Standing& s : states) there.push_back({s.state, s.value->find(name)});
      speak_by_absence(there);
    }
  }

  // False if the arrays have no keys.
  bool compare_by_key(const JsonTree& put, const Standings& states, std::string_view name, Place place) {
    std::vector<const JsonTree*> arrays{&put};
    for (const Standing& s : states) arrays.push_back(s.value);
    const Keys keys = keys_of(name, arrays);
    if (keys.empty()) return false;
    const Elements asked = *elements_by(put, keys);
    std::map<std::string, Standings> by_key;
    std::vector<Elements> there;
    for (const Standing& s : states) there.push_back(*elements_by(*s.value, keys));
    for (const auto& elements : there) {
      for (const auto& [key, element] : elements) by_key.try_emplace(key);
    }
    for (auto& [key, standings] : by_key) {
      for (size_t i = 0; i < states.size(); ++i) {
        const auto found = there[i].find(key);
        standings.push_back({states[i].state, found == there[i].end() ? nullptr : found->second});
      }
      const auto wanted = asked.find(key);
      if (wanted == asked.end()) {
        speak_by_absence(standings);
      } else {
        compare_presence(*wanted->second, standings, {}, keys, place);
      }
    }
    return true;
  }

  std::vector<Score> scores_;
};

}  // namespace

std::vector<StateEvidence> weigh_evidence(std::string_view put, const std::vector<WeighedState>& states,
                                          const BodyFacts& facts) {
  std::vector<StateEvidence> evidence(states.size());
  if (states.size() < 2 || states.size() > kEvidenceStatesMax) return evidence;
  const auto asked = read_tree(put, facts, kEvidenceNodesMax);
  if (!asked || asked->kind != Kind::Object) return evidence;
  std::vector<JsonTree> trees;
  trees.reserve(states.size());
  Standings standings;
  for (size_t i = 0; i < states.size(); ++i) {
    auto tree = read_tree(states[i].body, facts, kEvidenceNodesMax);
    if (!tree || tree->kind != Kind::Object) continue;
    trees.push_back(*std::move(tree));
    if (covers(trees.back(), *asked, {}, Place::Resource, Besides::Nothing)) return evidence;
    standings.push_back({i, &trees.back()});
  }
  const auto weigh = [&](Evidence StateEvidence::*says) {
    Weighing weighing(states.size());
    weighing.compare(*asked, standings, {}, Place::Resource);
    const auto result = weighing.result();
    const bool any = std::find(result.begin(), result.end(), Evidence::Agrees) != result.end();
    for (size_t i = 0; any && i < result.size(); ++i) evidence[i].*says = result[i];
    return any;
  };
  if (weigh(&StateEvidence::says)) return evidence;
  const size_t used_up = std::erase_if(standings, [&](const Standing& s) { return !states[s.state].in_hand; });
  if (used_up > 0) weigh(&StateEvidence::says_in_hand);
  return evidence;
}

bool carries(std::string_view put, std::string_view state, const BodyFacts& facts) {
  const auto asked = read_tree(put, facts, kEvidenceNodesMax);
  const auto there = read_tree(state, facts, kEvidenceNodesMax);
  return asked && there && covers(*asked, *there, {}, Place::Resource, Besides::Anything);
}

}  // namespace armgate::arm
