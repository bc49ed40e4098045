// Goal: a merge keeps its promises for any three bodies, and each deliberate defect of it is noticed. Method: random bodies, seeded.
#include <gtest/gtest.h>

#include "tests/arm/body/merge_promises.h"
#include "tests/support/active_mutant.h"

namespace armgate::arm {
namespace {

TEST(MergeProperty, ThePromisesHoldForRandomBodies) {
  std::map<std::string, int> outcomes;
  for (uint64_t seed = 1; seed <= 4'000; ++seed) {
    const auto broken = broken_promise(seed, outcomes);
    ASSERT_FALSE(broken) << *broken;
  }
  EXPECT_GT(outcomes["merged"], 1'500);
  EXPECT_GT(outcomes["conflict"], 400);
}

#ifdef ARMGATE_MUTANTS
TEST(MergeProperty, EachDefectIsNoticed) {
  const struct {
    Mutant mutant;
    const char* name;
  } defects[] = {
      {Mutant::MergeDropsRemoval, "a removal is dropped"},
      {Mutant::MergeResurrectsElement, "a removed element comes back"},
      {Mutant::MergeAgreesOnValues, "equal values agree"},
      {Mutant::MergeReordersElements, "new elements come first"},
      {Mutant::MergeSendsReadOnly, "read-only members go along"},
      {Mutant::MergeLosesSecret, "a secret is lost"},
  };
  for (const auto& defect : defects) {
    constexpr uint64_t kSeedsMax = 200;
    world::set_mutant(defect.mutant);
    std::map<std::string, int> outcomes;
    uint64_t seed = 1;
    while (seed <= kSeedsMax && !broken_promise(seed, outcomes)) ++seed;
    world::set_mutant(Mutant::None);
    EXPECT_LE(seed, kSeedsMax) << defect.name << " is not noticed";
    std::printf("%-30s noticed after %3lu seeds\n", defect.name, seed);
  }
}
#endif

}  // namespace
}  // namespace armgate::arm
