// Goal: the index finds what a look at each pattern finds. Method: all pairs of a handful of patterns, against match.h.
#include "rules/type_index.h"

#include <gtest/gtest.h>

#include "rules/match.h"

namespace armgate::rules::type_index_test {
namespace {

const std::vector<std::vector<std::string>> kPatterns = {
    {"a/b"},     {"a/*"}, {"a/b/c", "a/b"}, {"*"},        {"a/b/*"}, {"ab/b"},
    {"a/b/c/d"}, {"a/*"}, {"x/y", "a/b/c"}, {"x/*", "*"}, {"a/b"},
};
const char* const kTypes[] = {"a/b", "a/*", "a/b/c", "*", "a/b/*", "ab/b", "ab/*", "a/b/c/d", "x/y", "x/*", "z/z", "z/*"};

TypeIndex whole_index() {
  TypeIndex index;
  for (size_t i = 0; i < kPatterns.size(); ++i) index.add_all(kPatterns[i], i);
  return index;
}

TEST(TypeIndex, FindsTheFirstThatTakesAType) {
  const TypeIndex index = whole_index();
  for (const std::string type : kTypes) {
    for (size_t least = 0; least <= kPatterns.size(); ++least) {
      std::optional<size_t> expected;
      for (size_t i = least; i < kPatterns.size() && !expected; ++i) {
        for (const auto& pattern : kPatterns[i]) {
          if (takes_type(pattern, type)) expected = i;
        }
      }
      EXPECT_EQ(index.first_taker(type, [least](size_t place) { return place >= least; }), expected) << type << " " << least;
    }
  }
}

TEST(TypeIndex, FindsAllThatShareAType) {
  const TypeIndex index = whole_index();
  for (const std::string type : kTypes) {
    std::vector<size_t> expected;
    for (size_t i = 0; i < kPatterns.size(); ++i) {
      bool shared = false;
      for (const auto& pattern : kPatterns[i]) shared |= takes_type(pattern, type) || takes_type(type, pattern);
      if (shared) expected.push_back(i);
    }
    EXPECT_EQ(index.sharing(type), expected) << type;
  }
}

}  // namespace
}  // namespace armgate::rules::type_index_test
