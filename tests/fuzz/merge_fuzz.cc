// Merging bodies of one resource: whatever they are, it ends, and what comes of it can be read and holds together. The input is three
// JSON texts with a NUL between them.
#include "arm/body/merge.h"

#include <array>

#include "base/check.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {
namespace {

using arm::Merge;
using arm::MergeScope;
using Kind = arm::Merge::Kind;

const arm::BodyFacts& facts() {
  static const arm::BodyFacts all({.read_only = {"/a/r", "/l/*/r"},
                                   .write_only = {"/s/w", "/a/x"},
                                   .kept = {"/a/x", "/l"},
                                   .arrays = {{"/o", arm::ArrayKind::Ordered, {"k"}, {"/p"}},
                                              {"/s", arm::ArrayKind::Set, {}},
                                              {"/k", arm::ArrayKind::Keyed, {"x", "y"}}}});
  return all;
}

Merge merged(std::string_view base, std::string_view wanted, std::string_view there, MergeScope scope = MergeScope::All) {
  return arm::merge({{{{base}}}, {wanted}, {there}}, facts(), scope);
}

void check(std::string_view base, std::string_view wanted, std::string_view there) {
  const Merge result = merged(base, wanted, there), turned = merged(base, there, wanted);
  const bool both_possible = result.kind != Kind::Impossible && turned.kind != Kind::Impossible;
  GATE_CHECK(!both_possible || result.kind == turned.kind, "a conflict is symmetric");
  GATE_CHECK((result.kind == Kind::Impossible) == (result.obstacle != arm::MergeObstacle::None), "what is impossible says why");
  const Merge untouched = merged(base, base, there);
  GATE_CHECK(untouched.kind != Kind::Merged || untouched.body == there, "what nobody changes stays");
  if (result.kind != Kind::Merged) return;
  const std::array<arm::ComparedBody, 3> bodies{{{result.body}, {turned.body}, {wanted}}};
  const arm::Difference difference(bodies, facts());
  GATE_CHECK(difference.readable(0), "a result can be read");
  GATE_CHECK(turned.kind != Kind::Merged || difference.same(0, 1), "the order does not matter");
  const Merge again = merged(wanted, wanted, result.body);
  GATE_CHECK(again.kind != Kind::Merged || again.body == result.body, "sent again nothing comes of it");
  for (const MergeScope scope : {MergeScope::Maps, MergeScope::Leaves}) {
    const Merge narrow = merged(base, wanted, there, scope);
    GATE_CHECK(narrow.kind != Kind::Merged || narrow.body == result.body, "a narrower scope merges less, or the same");
  }
}

}  // namespace

void fuzz_one(std::string_view input) {
  std::array<std::string_view, 3> texts;
  for (auto& text : texts) {
    const size_t cut = input.find('\0');
    text = input.substr(0, cut);
    input.remove_prefix(cut == input.npos ? input.size() : cut + 1);
  }
  check(texts[0], texts[1], texts[2]);
  check(texts[1], texts[0], texts[2]);
  const arm::ComparedBody partial{texts[0], arm::BodyKind::Partial};
  (void)arm::merge({{{partial}, {{texts[2]}, texts[0]}}, {texts[1]}, {texts[2]}}, facts(), MergeScope::All);
}

}  // namespace armgate::fuzz
