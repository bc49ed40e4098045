#include "rules/body_settings.h"

#include <fmt/format.h>

#include <set>

#include "arm/json_select.h"
#include "base/text.h"

namespace armgate::rules {
namespace {

using arm::ArrayKind;
using arm::SameAs;

std::optional<std::string> check_key(std::string& member) {
  if (!member.empty() && member.find('/') == member.npos && member.size() <= 100) return std::nullopt;
  return "is not the name of a member of the array's elements";
}

SettingTable settings_of(arm::ArrayFact& fact) {
  return {
      {"/pointer", Text{&fact.pointer, check_pointer}, "where the array stands", Need::Required},
      {"/kind",
       choice(&fact.kind, {{"keyed", ArrayKind::Keyed},
                           {"ordered", ArrayKind::Ordered},
                           {"set", ArrayKind::Set},
                           {"atomic", ArrayKind::Atomic}}),
       "whether its elements are told apart by a key, whether their order counts, or whether it is one value"},
      {"/key", TextList{&fact.key, check_key}, "the members that tell elements apart; each element has at least one of them"},
  };
}

SettingTable settings_of(arm::SameFact& fact) {
  return {
      {"/pointer", Text{&fact.pointer, check_pointer}, "where the text stands", Need::Required},
      {"/as", choice(&fact.as, {{"case", SameAs::Case}, {"id", SameAs::Id}, {"location", SameAs::Location}}),
       "which spellings of it are one value"},
  };
}

std::string_view name_of(ArrayKind kind) {
  switch (kind) {
    case ArrayKind::Keyed: return "keyed";
    case ArrayKind::Ordered: return "ordered";
    case ArrayKind::Set: return "set";
    case ArrayKind::Atomic: break;
  }
  return "atomic";
}

}  // namespace

std::optional<std::string> check_pointer(std::string& pointer) {
  constexpr size_t kTokensMax = 16;
  const size_t tokens = arm::pointer_tokens(pointer).size();
  if (tokens > 0 && tokens <= kTokensMax && pointer.size() <= 400) return std::nullopt;
  return "is not a JSON pointer of at most 16 members such as \"/properties/ipConfigurations/*/properties/subnet/id\" (\"*\": "
         "every element)";
}

SettingTable body_settings(arm::DeclaredFacts& facts) {
  return {
      {"/body/read_only", TextList{&facts.read_only, check_pointer},
       "where members stand that only the service writes, besides the generic ones; they are never compared"},
      {"/body/write_only", TextList{&facts.write_only, check_pointer},
       "where members stand that the service never shows; that they are missing says nothing"},
      {"/body/arrays", Items{[&facts](int) { return settings_of(facts.arrays.emplace_back()); }},
       "how the elements of arrays are told apart, where armgate would not know"},
      {"/body/same", Items{[&facts](int) { return settings_of(facts.same.emplace_back()); }},
       "where two texts are one value although they are spelt differently"},
  };
}

void check_body(const Rule& rule, const std::string& pointer, const JsonPositions& positions, FaultList& faults) {
  const auto fault = [&](const std::string& list, size_t index, std::string_view member, std::string message) {
    const std::string place = fmt::format("{}/body/{}/{}{}", pointer, list, index, member);
    faults.push_back({rule.place.file, positions.line_of(place), place, std::move(message)});
  };
  std::set<std::string> arrays, texts;
  const auto check_once = [&](std::set<std::string>& seen, const std::string& list, size_t index, const std::string& what) {
    if (seen.insert(lower_text(what)).second) return;
    fault(list, index, "/pointer", fmt::format("\"{}\" is in this list already; remove one", what));
  };
  const arm::DeclaredFacts& facts = rule.body.declared;
  for (size_t i = 0; i < facts.arrays.size(); ++i) {
    const arm::ArrayFact& array = facts.arrays[i];
    const bool needs_key = array.kind == ArrayKind::Keyed || array.kind == ArrayKind::Ordered;
    if (needs_key && array.key.empty()) {
      fault("arrays", i, "", fmt::format("needs \"key\": elements that are \"{}\" are told apart by it", name_of(array.kind)));
    } else if (!needs_key && !array.key.empty()) {
      fault("arrays", i, "/key", fmt::format("is not used where \"kind\" is \"{}\"; remove it", name_of(array.kind)));
    }
    check_once(arrays, "arrays", i, array.pointer);
  }
  for (size_t i = 0; i < facts.same.size(); ++i) check_once(texts, "same", i, facts.same[i].pointer);
}

}  // namespace armgate::rules
