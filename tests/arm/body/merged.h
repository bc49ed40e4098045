// merged.h – what came of a merge, in words.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "arm/body/merge.h"
#include "tests/arm/body/compared.h"

namespace armgate::arm {

// The body, "412 at /tags/a" or "412, not merged: secret".
inline std::string words_for(const Merge& merge) {
  if (merge.kind == Merge::Kind::Merged) return merge.body;
  if (merge.kind == Merge::Kind::Impossible) return "412, not merged: " + std::string(to_text(merge.obstacle));
  std::string words = "412 at";
  for (const auto& pointer : merge.in_the_way.pointers) words += " " + pointer;
  return words;
}

struct Story {
  const char* name;
  std::string_view base, wanted, there;
  std::string_view leads_to;
};

inline void expect_stories(const std::vector<Story>& stories, const BodyFacts& facts = *BodyFacts::generic(),
                           MergeScope scope = MergeScope::All) {
  for (const Story& story : stories) {
    EXPECT_EQ(words_for(merge({{{{story.base}}}, {story.wanted}, {story.there}}, facts, scope)), story.leads_to) << story.name;
  }
}

}  // namespace armgate::arm
