// Goal: one walk over any number of bodies finds each place where they differ, once. Method: the rows themselves.
#include <gtest/gtest.h>

#include "tests/arm/body/compared.h"

namespace armgate::arm {
namespace {

using WalkedPointers = std::vector<std::string>;

TEST(DifferenceWalk, KeysMustBeThereAndDifferInEveryBody) {
  constexpr std::string_view kA = R"({"s":[{"name":"a","v":1},{"name":"b","v":1}]})";
  constexpr std::string_view kB = R"({"s":[{"name":"b","v":1},{"name":"a","v":1}]})";
  constexpr std::string_view kNameless = R"({"s":[{"v":1}]})";
  EXPECT_TRUE(compared({kA, kB}).same(0, 1));
  EXPECT_FALSE(compared({kA, kB, kNameless}).same(0, 1));
  EXPECT_EQ(compared({kA, kB, kNameless}).changed(0, 2), WalkedPointers{"/s"});
}

TEST(DifferenceWalk, RowsAreThePlacesWhereNotAllAreTheSame) {
  const Difference difference = compared({R"({"properties":{"a":1,"b":1,"rules":[{"name":"x","p":1}]},"tags":{"t":"1"}})",
                                          R"({"properties":{"a":1,"b":2,"rules":[]},"tags":{"t":"2"}})",
                                          R"({"properties":{"a":1,"b":2,"rules":[{"name":"x","p":2}]},"tags":{}})"});
  ASSERT_EQ(difference.rows(), 4u);
  EXPECT_EQ(difference.pointer(0), "/properties/b");
  EXPECT_EQ(difference.kind(0), RowKind::Scalar);
  EXPECT_NE(difference.value(0, 0), difference.value(0, 1));
  EXPECT_EQ(difference.value(0, 1), difference.value(0, 2));
  EXPECT_EQ(difference.pointer(1), "/properties/rules/[name=x]");
  EXPECT_EQ(difference.kind(1), RowKind::Whole);
  EXPECT_EQ(difference.end(1), 3u);
  EXPECT_EQ(difference.value(1, 0), row_value::kFirst);
  EXPECT_EQ(difference.value(1, 1), row_value::kAbsent);
  EXPECT_EQ(difference.pointer(2), "/properties/rules/[name=x]/p");
  EXPECT_EQ(difference.pointer(3), "/tags/t");
  EXPECT_EQ(difference.kind(3), RowKind::Member);
  EXPECT_EQ(difference.value(3, 2), row_value::kAbsent);
}

TEST(DifferenceWalk, SoManyPlacesThatDifferAreNotKept) {
  std::vector<std::string> wide(3, "{");
  for (size_t body = 0; body < wide.size(); ++body) {
    for (size_t i = 0; i < 40'000; ++i)
      wide[body] += (i > 0 ? "," : "") + ("\"" + std::to_string(body) + "-" + std::to_string(i)) + "\":1";
    wide[body] += "}";
  }
  EXPECT_FALSE(compared({wide[0], wide[0], wide[1]}).same(0, 2));
  EXPECT_TRUE(compared({wide[0], wide[0], wide[1]}).readable(0));
  EXPECT_FALSE(compared({wide[0], wide[1], wide[2]}).readable(0));
  EXPECT_EQ(words_for(compared({wide[0], wide[1], wide[2]}).reconcile(0, 0, 0)), "conflict (all)");
}

TEST(DifferenceWalk, EqualBytesAreOneBody) {
  const ComparedBody bodies[] = {{R"({"a":1})"}, {R"({"a":2})"}, {R"({"a":1})"}, {R"({"a":2})", BodyKind::Partial}};
  const Difference difference(bodies, *BodyFacts::generic());
  ASSERT_EQ(difference.rows(), 1u);
  EXPECT_EQ(difference.value(0, 0), difference.value(0, 2));
  EXPECT_EQ(difference.value(0, 1), difference.value(0, 3));
}

// Which members stand in another order is found out at any place in the list.
TEST(DifferenceWalk, OrderAndNumberOfMembersDoNotMatter) {
  const std::string_view texts[] = {R"({"a":1,"b":1,"c":1})", R"({"c":1,"b":1,"a":1})", R"({"a":1,"b":1})",
                                    R"({"b":1,"a":1,"c":1,"d":1})"};
  for (const auto a : texts) {
    for (const auto b : texts) {
      const Difference difference = compared({a, b, a});
      const size_t expected = (a.find('c') != a.npos) != (b.find('c') != b.npos) ? 1 : 0;
      const size_t and_d = (a.find('d') != a.npos) != (b.find('d') != b.npos) ? 1 : 0;
      EXPECT_EQ(difference.rows(), expected + and_d) << a << b;
    }
  }
}

}  // namespace
}  // namespace armgate::arm
