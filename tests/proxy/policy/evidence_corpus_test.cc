// Goal: real bodies are taken for what they are (rule 6). Method: the stories of evidence_corpus.cc.
#include "tests/proxy/policy/evidence_corpus.h"

#include <gtest/gtest.h>

#include <set>

#include "proxy/policy/evidence.h"
#include "tests/proxy/policy/shown.h"

namespace armgate::policy {
namespace {

std::string chosen_for(const EvidenceStory& story) {
  Shown shown;
  std::vector<StateBody> states;
  for (const auto& state : story.shown) {
    const uint64_t id = shown.show(std::to_string(states.size() + 1));
    states.push_back({id, std::string(state.body), true, state.still != Still::Dead});
    if (state.still == Still::Dead) shown.use_up(id);
    if (state.still == Still::Refused) shown.view.refuse(id);
  }
  shown.facts.evidence = weigh(story.put, states, 0, *arm::BodyFacts::generic());
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
