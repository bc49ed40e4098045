// Comparing bodies of one resource: whatever they are, the answers agree with each other. The input is up to four JSON texts with a NUL
// between them.
#include "arm/body/difference.h"
#include "base/check.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {
namespace {

const arm::BodyFacts& facts() {
  static const arm::BodyFacts all({.read_only = {"/a/r", "/l/*/r"},
                                   .write_only = {"/a/w"},
                                   .arrays = {{"/o", arm::ArrayKind::Ordered, {"k"}},
                                              {"/s", arm::ArrayKind::Set, {}},
                                              {"/k", arm::ArrayKind::Keyed, {"x", "y"}}},
                                   .same = {{"/i", arm::SameAs::Id}, {"/w", arm::SameAs::Location}}});
  return all;
}

void check_pair(const arm::Difference& difference, size_t a, size_t b) {
  const bool same = difference.same(a, b);
  const bool readable = difference.readable(a) && difference.readable(b);
  GATE_CHECK(same == difference.same(b, a), "sameness is symmetric");
  GATE_CHECK(same == difference.changed(a, b).empty(), "what is the same differs nowhere");
  GATE_CHECK(!same || readable, "what cannot be read is the same as nothing");
  if (!readable) return;
  GATE_CHECK(difference.reconcile(a, b, a).resolution == arm::Resolution::Send, "nothing moved");
  const auto unchanged = difference.reconcile(a, a, b);
  GATE_CHECK(unchanged.changes_nothing, "a write of what was there changes nothing");
  GATE_CHECK(unchanged.resolution == (same ? arm::Resolution::Send : arm::Resolution::Conflict),
             "it is not sent over what moved");
  GATE_CHECK(difference.satisfied(a, a), "a state is what a PUT of it asks for");
  (void)difference.looks_stale(a, std::vector<size_t>{b}, a);
}

void check_triple(const arm::Difference& difference, size_t base, size_t a, size_t b) {
  const auto one = difference.reconcile(base, a, b), other = difference.reconcile(base, b, a);
  const bool moved = !difference.same(base, a) && !difference.same(base, b);
  if (!moved || !difference.readable(base) || !difference.readable(a) || !difference.readable(b)) return;
  GATE_CHECK((one.resolution == arm::Resolution::Conflict) == (other.resolution == arm::Resolution::Conflict),
             "a conflict is symmetric");
  GATE_CHECK(one.pointers.size() <= arm::Difference::kPointersMax, "pointers are bounded");
}

}  // namespace

void fuzz_one(std::string_view input) {
  std::vector<arm::ComparedBody> bodies;
  while (bodies.size() < 4) {
    const size_t cut = input.find('\0');
    bodies.push_back({input.substr(0, cut)});
    if (cut == std::string_view::npos) break;
    input.remove_prefix(cut + 1);
  }
  const arm::Difference difference(bodies, facts());
  for (size_t a = 0; a < bodies.size(); ++a) {
    for (size_t b = 0; b < bodies.size(); ++b) {
      check_pair(difference, a, b);
      for (size_t base = 0; base < bodies.size(); ++base) check_triple(difference, base, a, b);
    }
  }
  for (size_t row = 0; row < difference.rows(); ++row) {
    GATE_CHECK(difference.end(row) > row && difference.end(row) <= difference.rows(), "rows stand within rows");
    (void)difference.pointer(row);
  }
  bodies[0].kind = arm::BodyKind::Partial;
  const arm::OwnWrite own[] = {{0, bodies.size() - 1}};
  const arm::Difference partial(bodies, facts(), own);
  for (size_t b = 0; b < bodies.size(); ++b) {
    (void)partial.reconcile(0, b, bodies.size() - 1);
    (void)partial.looks_stale(b, std::vector<size_t>{0}, bodies.size() - 1);
  }
}

}  // namespace armgate::fuzz
