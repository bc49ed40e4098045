// Goal: real bodies are taken for what they are (rule 6). Method: the stories of evidence_corpus.cc.
#include "tests/proxy/policy/evidence_corpus.h"

#include <gtest/gtest.h>

#include <set>

#include "arm/evidence.h"
#include "tests/proxy/policy/shown.h"

namespace armgate::policy {
namespace {

std::string chosen_for(const EvidenceStory& story) {
  Shown shown;
  std::vector<std::string_view> bodies;
  std::vector<uint64_t> ids;
  for (const auto& state : story.shown) {
    ids.push_back(shown.show(std::to_string(ids.size() + 1)));
    bodies.push_back(state.body);
    if (state.still == Still::Dead) shown.use_up(ids.back());
  }
  const auto says = arm::weigh_evidence(story.put, bodies, arm::ReadOnlyMembers());
  for (size_t i = 0; i < ids.size(); ++i) shown.facts.evidence.push_back({ids[i], says[i]});
  return shown.decide_text();
}

TEST(EvidenceCorpus, EveryStoryHasTheBaseThatItMustHave) {
  for (const auto& story : evidence_corpus()) EXPECT_EQ(chosen_for(story), story.chosen) << story.name;
}

TEST(EvidenceCorpus, StoriesHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const auto& story : evidence_corpus()) EXPECT_TRUE(names.insert(story.name).second) << story.name;
  EXPECT_GE(names.size(), 30u);
}

}  // namespace
}  // namespace armgate::policy
