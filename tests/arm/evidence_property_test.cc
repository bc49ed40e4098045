// Goal: whatever two actors do to a resource, the body that one of them wrote is found to be built on what it read, and never on
// something newer that it had not seen. Method: random states, seeded.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

#include "arm/evidence.h"
#include "base/rng.h"

namespace armgate::arm {
namespace {

const BodyFacts kGeneric;

// A resource with a few leaves, tags, and an array with keys: every value by its place.
struct Resource {
  std::map<std::string, int> leaves, tags, rules;

  // As ARM answers it, with what it adds.
  std::string answer(int etag) const {
    return fmt::format(R"({{"etag":"\"{}\"","properties":{{"provisioningState":"Succeeded","added":"by ARM",{}}}}})", etag,
                       text(1));
  }
  std::string body(Rng& rng) const { return fmt::format(R"({{"properties":{{{}}}}})", text(rng.below(2) == 0 ? 1 : -1)); }

 private:
  std::string text(int order) const {
    std::string out = R"("tags":{)";
    for (const auto& [name, value] : tags) out += fmt::format(R"("{}":"{}",)", name, value);
    if (out.back() == ',') out.pop_back();
    out += R"(},"rules":[)";
    std::string elements;
    for (const auto& [name, value] : rules) {
      const auto element = fmt::format(R"({{"name":"{}","properties":{{"access":"Allow","port":{}}}}})", name, value);
      elements = elements.empty() ? element : order > 0 ? elements + "," + element : element + "," + elements;
    }
    out += elements + "]";
    for (const auto& [name, value] : leaves) out += fmt::format(R"(,"{}":{})", name, value);
    return out;
  }
};

// Changes that no other change repeats: each sets a value, or adds a member, of its own.
class Changes {
 public:
  explicit Changes(Rng& rng) : rng_(rng) {}

  void change(Resource& resource, std::string_view actor) {
    const int fresh = ++count_;
    switch (rng_.below(4)) {
      case 0: resource.leaves[fmt::format("leaf{}", rng_.below(4))] = fresh; break;
      case 1: resource.tags[fmt::format("{}-{}", actor, fresh)] = fresh; break;
      case 2: resource.rules[fmt::format("{}-{}", actor, fresh)] = fresh; break;
      default:
        if (!resource.rules.empty()) resource.rules.begin()->second = fresh;
    }
  }
  void remove(Resource& resource) {
    auto& map = rng_.below(2) == 0 ? resource.tags : resource.rules;
    if (!map.empty()) map.erase(map.begin());
  }

 private:
  Rng& rng_;
  int count_ = 10;
};

struct Told {
  std::vector<Evidence> says;
  size_t truth = 0;
};

enum class Removals { No, Yes };

Told tell(uint64_t seed, Removals removals) {
  Rng rng(seed);
  Changes changes(rng);
  Resource state;
  for (int i = 0; i < 4; ++i) state.leaves[fmt::format("leaf{}", i)] = i;
  for (int i = 0; i < 3; ++i) state.tags[fmt::format("tag{}", i)] = i, state.rules[fmt::format("rule{}", i)] = i;
  std::vector<Resource> history{state};
  const size_t versions = 2 + rng.below(4);
  while (history.size() < versions) {
    const size_t most = 1 + rng.below(3);
    for (size_t i = 0; i < most; ++i) changes.change(state, "other");
    if (removals == Removals::Yes && rng.below(3) == 0) changes.remove(state);
    history.push_back(state);
  }
  Told told;
  told.truth = rng.below(history.size());
  Resource wanted = history[told.truth];
  changes.change(wanted, "own");
  if (removals == Removals::Yes && rng.below(3) == 0) changes.remove(wanted);

  std::vector<std::string> answers;
  for (size_t i = 0; i < history.size(); ++i) answers.push_back(history[i].answer(static_cast<int>(i)));
  std::vector<WeighedState> states;
  for (const auto& answer : answers) states.push_back({answer});
  for (const StateEvidence& one : weigh_evidence(wanted.body(rng), states, kGeneric)) told.says.push_back(one.says);
  return told;
}

TEST(EvidenceProperty, WhoOnlyAddsAndChangesIsFoundOut) {
  uint64_t found = 0;
  for (uint64_t seed = 1; seed <= 5000; ++seed) {
    const Told told = tell(seed, Removals::No);
    if (told.says[told.truth] == Evidence::Agrees) ++found;
    EXPECT_TRUE(told.says[told.truth] == Evidence::Agrees || told.says[told.truth] == Evidence::Silent) << seed;
    for (size_t i = told.truth + 1; i < told.says.size(); ++i) {
      const bool alone = told.says[i] == Evidence::Agrees && told.says[told.truth] != Evidence::Agrees;
      EXPECT_FALSE(alone) << "a newer state instead of the right one, seed " << seed;
    }
  }
  EXPECT_GT(found, 4000u);
}

TEST(EvidenceProperty, RemovalsNeverSpeakAgainstTheRightStateButByAbsence) {
  for (uint64_t seed = 1; seed <= 5000; ++seed) {
    const Told told = tell(seed, Removals::Yes);
    EXPECT_NE(told.says[told.truth], Evidence::Contradicts) << seed;
  }
}

}  // namespace
}  // namespace armgate::arm
