// Goal: mode observe tells of what would have been refused, and of nothing else. Method: a table of what passed by before a write.
#include "proxy/request/observe/would_be_stale.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::would_be_stale_test {
namespace {

using Kind = ObserveFinding::Kind;

// What a client asks for; and what ARM answers to that.
std::string wanted(int capacity, std::string_view tag = "") {
  return fmt::format(R"({{"sku":{{"capacity":{}}},"tags":{{"a":"{}"}}}})", capacity, tag);
}
std::string state(int capacity, std::string_view tag = "") {
  return fmt::format(R"({{"etag":"\"{}{}\"",)", capacity, tag) + wanted(capacity, tag).substr(1);
}

TEST(WouldBeStale, IsToldOfAWriteThatUndoesWhatAnotherWrote) {
  const struct {
    const char* why;
    int other;  // what another asks for between the read and the write; 0: nobody does
    const char* others_tag;
    bool stale;
    bool merged;
  } rows[] = {
      {"nobody else wrote", 0, "", false, false},
      {"another wrote the same member", 5, "", true, false},
      {"another has counted to the same", 2, "", true, false},
      {"another wrote another member", 1, "x", false, true},
  };
  for (const auto& row : rows) {
    auto options = StageRig::default_options();
    options.mode = rules::Mode::Observe;
    StageRig rig(options);
    for (const char* client : {"one", "two"}) {
      rig.arm(get(kScaleSet), 200, {}, state(1));
      rig.ask(client, get(kScaleSet));
    }
    if (row.other != 0) {
      rig.arm(put(kScaleSet), 200, {}, state(row.other, row.others_tag));
      rig.ask("one", put(kScaleSet), wanted(row.other, row.others_tag));
    }
    rig.arm(put(kScaleSet), 200, {}, state(9));
    EXPECT_EQ(rig.ask("two", put(kScaleSet), wanted(2)).head.status, 200) << row.why;
    size_t stale = 0;
    size_t merged = 0;
    for (const ObserveFinding& finding : rig.finding()) {
      stale += finding.kind == Kind::Stale ? 1 : 0;
      merged += finding.kind == Kind::Merged ? 1 : 0;
      EXPECT_EQ(finding.client, "two") << row.why;
    }
    EXPECT_EQ(stale, row.stale ? 1u : 0u) << row.why;
    EXPECT_EQ(merged, row.merged ? 1u : 0u) << row.why;
  }
}

}  // namespace
}  // namespace armgate::world::would_be_stale_test
