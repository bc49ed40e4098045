#include "rules/file/body_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "base/text.h"
#include "json/select.h"

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
      {"/unique", TextList{&fact.unique, check_pointer},
       "where in an element plain values stand that no two elements may have in common, all of them together"},
  };
}

SettingTable settings_of(arm::SameFact& fact) {
  return {
      {"/pointer", Text{&fact.pointer, check_pointer}, "where the text stands", Need::Required},
      {"/as", choice(&fact.as, {{"case", SameAs::Case}, {"id", SameAs::Id}, {"location", SameAs::Location}}),
       "which spellings of it are one value"},
  };
}

// A pointer outside "read_only": the list that it is in, and its place there.
struct Said {
  std::string_view list;
  size_t index;
  const std::string* pointer;
};

std::vector<Said> beside_read_only(const arm::DeclaredFacts& body) {
  std::vector<Said> said;
  for (size_t i = 0; i < body.write_only.size(); ++i) said.push_back({"write_only", i, &body.write_only[i]});
  for (size_t i = 0; i < body.kept.size(); ++i) said.push_back({"kept", i, &body.kept[i]});
  for (size_t i = 0; i < body.maps.size(); ++i) said.push_back({"maps", i, &body.maps[i]});
  for (size_t i = 0; i < body.free_form.size(); ++i) said.push_back({"free_form", i, &body.free_form[i]});
  for (size_t i = 0; i < body.arrays.size(); ++i) said.push_back({"arrays", i, &body.arrays[i].pointer});
  for (size_t i = 0; i < body.same.size(); ++i) said.push_back({"same", i, &body.same[i].pointer});
  return said;
}

bool stands_at_or_below(std::string_view pointer, std::string_view ancestor) {
  return starts_with_ignoring_case(pointer, ancestor) && (pointer.size() == ancestor.size() || pointer[ancestor.size()] == '/');
}

bool says_the_same(const arm::ArrayFact& one, const arm::ArrayFact& other) {
  return one.kind == other.kind && one.key == other.key && one.unique == other.unique;
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

std::string words_for(const arm::ArrayFact& array) {
  std::string words = fmt::format("\"{}\"", name_of(array.kind));
  if (!array.key.empty()) words += fmt::format(" by {}", fmt::join(array.key, " + "));
  return array.unique.empty() ? words : words + fmt::format(", with one {} each", fmt::join(array.unique, " + "));
}

}  // namespace

std::optional<std::string> check_pointer(std::string& pointer) {
  constexpr size_t kTokensMax = 16;
  const size_t tokens = pointer_tokens(pointer).size();
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
      {"/body/kept", TextList{&facts.kept, check_pointer},
       "where members stand that a PUT does not remove by leaving them out"},
      {"/body/maps", TextList{&facts.maps, check_pointer},
       "where objects stand whose members have names of the client's own choice, as tags have"},
      {"/body/free_form", TextList{&facts.free_form, check_pointer},
       "where documents of the client's own stand: no name says anything in there, and the order of arrays counts"},
      {"/body/arrays", Items{[&facts](int) { return settings_of(facts.arrays.emplace_back()); }},
       "how the elements of arrays are told apart, where armgate would not know"},
      {"/body/same", Items{[&facts](int) { return settings_of(facts.same.emplace_back()); }},
       "where two texts are one value although they are spelt differently"},
  };
}

void check_body(const arm::DeclaredFacts& body, const std::string& file, const std::string& pointer,
                const JsonPositions& positions, FaultList& faults) {
  const auto fault = [&](const std::string& below, std::string message) {
    const std::string place = pointer + "/body" + below;
    faults.push_back({file, positions.line_of(place), place, std::move(message)});
  };
  std::set<std::string> arrays, texts;
  const auto check_once = [&](std::set<std::string>& seen, const std::string& list, size_t index, const std::string& what) {
    if (seen.insert(lower_text(what)).second) return;
    fault(fmt::format("/{}/{}/pointer", list, index), fmt::format("\"{}\" is in this list already; remove one", what));
  };
  for (size_t i = 0; i < body.arrays.size(); ++i) {
    const arm::ArrayFact& array = body.arrays[i];
    const bool needs_key = array.kind == ArrayKind::Keyed || array.kind == ArrayKind::Ordered;
    const std::string place = fmt::format("/arrays/{}", i);
    if (needs_key && array.key.empty()) {
      fault(place,
            fmt::format("needs \"key\": elements that are \"{}\" are told apart by it; add \"key\": [\"name\"] for example",
                        name_of(array.kind)));
    } else if (!needs_key && !array.key.empty()) {
      fault(place + "/key", fmt::format("is not used where \"kind\" is \"{}\"; remove it", name_of(array.kind)));
    }
    if (array.kind == ArrayKind::Set && !array.unique.empty()) {
      fault(place + "/unique", "is not used where \"kind\" is \"set\": plain values have no members; remove it");
    }
    check_once(arrays, "arrays", i, array.pointer);
  }
  for (size_t i = 0; i < body.same.size(); ++i) check_once(texts, "same", i, body.same[i].pointer);
  for (auto& [below, message] : contradictions(body, body)) fault(below, message + " this body");
}

std::vector<Contradiction> contradictions(const arm::DeclaredFacts& earlier, const arm::DeclaredFacts& later) {
  std::vector<Contradiction> found;
  for (const auto& [list, index, pointer] : beside_read_only(later)) {
    for (const std::string& written : earlier.read_only) {
      if (!stands_at_or_below(*pointer, written)) continue;
      found.push_back({fmt::format("/{}/{}", list, index),
                       fmt::format("says something about \"{}\", which is never compared: \"{}\" is in \"read_only\" of",
                                   *pointer, written)});
    }
  }
  for (size_t i = 0; i < later.read_only.size() && &earlier != &later; ++i) {
    for (const auto& [list, index, pointer] : beside_read_only(earlier)) {
      if (!stands_at_or_below(*pointer, later.read_only[i])) continue;
      found.push_back(
          {fmt::format("/read_only/{}", i),
           fmt::format("\"{}\" would never be compared, but \"{}\" is in \"{}\" of", later.read_only[i], *pointer, list)});
    }
  }
  if (&earlier == &later) return found;
  for (size_t i = 0; i < later.arrays.size(); ++i) {
    const arm::ArrayFact& array = later.arrays[i];
    for (const arm::ArrayFact& other : earlier.arrays) {
      if (!equal_ignoring_case(array.pointer, other.pointer) || says_the_same(array, other)) continue;
      found.push_back({fmt::format("/arrays/{}", i), fmt::format("says that \"{}\" is {}, which is {} by", array.pointer,
                                                                 words_for(array), words_for(other))});
    }
  }
  for (size_t i = 0; i < later.same.size(); ++i) {
    for (const arm::SameFact& other : earlier.same) {
      if (!equal_ignoring_case(later.same[i].pointer, other.pointer) || later.same[i].as == other.as) continue;
      found.push_back({fmt::format("/same/{}", i), fmt::format("compares \"{}\" in another way than", other.pointer)});
    }
  }
  return found;
}

}  // namespace armgate::rules
