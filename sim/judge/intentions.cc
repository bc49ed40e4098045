#include "sim/judge/intentions.h"

#include <fmt/format.h>

#include <utility>

#include "json/tree.h"
#include "sim/json_text.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

std::optional<std::string> at(const Leaves& leaves, const std::string& place) {
  const auto found = leaves.find(place);
  return found == leaves.end() ? std::nullopt : std::optional(found->second);
}

Json json_of(const std::optional<std::string>& value) { return value ? Json(*value) : Json(); }

std::optional<std::string> text_of(const Json& value) {
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

}  // namespace

Intentions intentions(const Leaves& from, const Leaves& to) {
  Intentions all;
  for (const std::string& place : differing(from, to)) all[place] = {at(from, place), at(to, place)};
  return all;
}

std::string intentions_text(const Intentions& all) {
  Json text = Json::object();
  for (const auto& [place, change] : all) text[place] = Json::array({json_of(change.from), json_of(change.to)});
  return json_text(text);
}

std::optional<Intentions> read_intentions(std::string_view field) {
  if (field.empty()) return std::nullopt;
  const Json text = json_value(field);
  if (!text.is_object()) return std::nullopt;
  Intentions all;
  for (const auto& item : text.items()) {
    const Json& change = item.value();
    if (!change.is_array() || change.size() != 2) return std::nullopt;
    all[item.key()] = {text_of(change[0]), text_of(change[1])};
  }
  return all;
}

Intentions below(const std::string& place, Intentions all) {
  Intentions result;
  for (auto& [leaf, change] : all) result[place + leaf] = std::move(change);
  return result;
}

IntentionJudge::Effect IntentionJudge::effect(const std::string& entity_key, const Json& before, const Json& after,
                                              const Intentions& meant, const std::string& client) const {
  const Leaves there = leaves_of(before), made = leaves_of(after);
  const auto known = last_by_.find(entity_key);
  const auto was_last = [&](const std::string& place) {
    if (known == last_by_.end()) return false;
    const auto found = known->second.find(place);
    return found != known->second.end() && found->second == client;
  };
  Effect effect;
  const auto note = [](std::string& what, const std::string& place) {
    if (what.empty()) what = place;
  };
  for (const auto& [place, change] : meant) {
    if (at(made, place) != change.to) note(effect.undone, place);
    const bool by_another = at(there, place) != change.from && !was_last(place);
    // Two that add or remove the same whole have agreed; that both mean "one more" is the counters' business.
    const bool agree = at(there, place) == change.to && (!change.from || !change.to);
    if (by_another && !agree) note(effect.overwritten, place);
  }
  for (const std::string& place : differing(there, made)) {
    if (!meant.contains(place)) note(effect.unintended, place);
  }
  return effect;
}

void IntentionJudge::happened(const std::string& entity_key, const Json& before, const Json& after, const std::string& client) {
  auto& last_by = last_by_[entity_key];
  for (const std::string& place : differing(leaves_of(before), leaves_of(after))) last_by[place] = client;
}

}  // namespace armgate::sim
