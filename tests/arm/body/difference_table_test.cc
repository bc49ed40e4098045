// What a write and others did to one place, by what stands there before, in the write, and now.
#include "arm/body/difference_table.h"

#include <gtest/gtest.h>

#include "tests/arm/body/compared.h"

namespace armgate::arm {
namespace {

// In one word each, for the first row of three bodies: what it was built from, what it asks for, what is there.
std::string changes_of(std::string_view base, std::string_view wanted, std::string_view there,
                       BodyKind base_kind = BodyKind::Whole) {
  const ComparedBody bodies[] = {{base, base_kind}, {wanted}, {there}};
  const Difference difference(bodies, *BodyFacts::generic());
  const DifferenceTable& table = difference.table();
  if (table.rows.empty()) return "none";
  const Changes changes = changes_at(table, 0, table.column_of[0], table.column_of[1], table.column_of[2]);
  std::string words;
  const auto say = [&words](bool is, const char* word) {
    if (is) words += (words.empty() ? "" : " ") + std::string(word);
  };
  say(changes.by_write, "write");
  say(changes.by_others, "others");
  say(changes.agree, "agree");
  say(changes.in_conflict, "conflict");
  say(changes.unseen, "unseen");
  say(changes.lost_if_sent, "lost");
  return words;
}

TEST(DifferenceTable, WhatTheWriteAndOthersDidToOnePlace) {
  const struct {
    const char* base;
    const char* wanted;
    const char* there;
    const char* words;
  } rows[] = {
      {R"({"a":1})", R"({"a":1})", R"({"a":1.0})", "none"},
      {R"({"a":1})", R"({"a":2})", R"({"a":1})", "write"},
      {R"({"a":1})", R"({"a":1})", R"({"a":2})", "others lost"},
      // Two that each count from 1 to 2 have not agreed.
      {R"({"a":1})", R"({"a":2})", R"({"a":2})", "write others conflict"},
      {R"({"a":1})", R"({"a":2})", R"({"a":3})", "write others conflict lost"},
      // A leaf that both add is a value as well; a member of a map is a whole that both added.
      {"{}", R"({"a":1})", R"({"a":1})", "write others conflict"},
      {R"({"tags":{"k":"1"}})", R"({"tags":{"k":"1","a":"x"}})", R"({"tags":{"k":"1","a":"x"}})", "write others agree"},
      {R"({"tags":{"k":"1"}})", R"({"tags":{"k":"1","a":"x"}})", R"({"tags":{"k":"1","a":"y"}})", "write others conflict lost"},
      {R"({"tags":{"k":"1","a":"x"}})", R"({"tags":{"k":"1"}})", R"({"tags":{"k":"1"}})", "write others agree"},
      {R"({"tags":{"k":"1","a":"x"}})", R"({"tags":{"k":"1"}})", R"({"tags":{"k":"1","a":"y"}})", "write others conflict lost"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(changes_of(row.base, row.wanted, row.there), row.words) << row.base << row.wanted << row.there;
}

// Of a base that was sent and never shown nobody knows what it leaves out.
TEST(DifferenceTable, WhatABaseDoesNotSayMayStayAndMayNotBeOverwritten) {
  const auto of_partial = [](const char* wanted, const char* there) {
    return changes_of(R"({"b":1})", wanted, there, BodyKind::Partial);
  };
  EXPECT_EQ(of_partial(R"({"b":1})", R"({"a":1,"b":1})"), "unseen");
  EXPECT_EQ(of_partial(R"({"a":2,"b":1})", R"({"a":1,"b":1})"), "write others conflict");
  EXPECT_EQ(of_partial(R"({"a":2,"b":1})", R"({"b":1})"), "write");
}

TEST(DifferenceTable, WhatOneBodyLacksAsAWholeIsOnePlace) {
  const auto difference = compared({R"({"tags":{"k":"1"},"s":[{"name":"a","x":1,"y":1}]})",
                                    R"({"tags":{"k":"2"},"s":[{"name":"a","x":2,"y":2}]})", R"({"tags":{"k":"3"},"s":[]})"});
  const DifferenceTable& table = difference.table();
  const auto seen = [&](size_t a, size_t b) {
    std::string names;
    all_rows(table, std::array<size_t, 2>{table.column_of[a], table.column_of[b]}, 0, table.rows.size(), [&](size_t row) {
      names += difference.pointer(row) + " ";
      return true;
    });
    return names;
  };
  EXPECT_EQ(seen(0, 1), "/tags/k /s/[name=a]/x /s/[name=a]/y ") << "both have the element: its leaves count";
  EXPECT_EQ(seen(0, 2), "/tags/k /s/[name=a] ") << "one lacks it";
}

TEST(DifferenceTable, ALookThatSaysNoEndsTheWalk) {
  const auto difference = compared({R"({"a":1,"b":1})", R"({"a":2,"b":2})"});
  const DifferenceTable& table = difference.table();
  size_t looked = 0;
  EXPECT_FALSE(all_rows(table, std::array<size_t, 2>{0, 1}, 0, table.rows.size(), [&](size_t) { return ++looked == 0; }));
  EXPECT_EQ(looked, 1u);
}

}  // namespace
}  // namespace armgate::arm
