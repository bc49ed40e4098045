// The corpus of paths through the whole pipeline: what reached ARM, and what its client was told, by each line's own words.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/support/paths.h"
#include "tests/support/stage_rig.h"

namespace armgate::world::pipeline_test {
namespace {

using Becomes = AskedPath::Becomes;

const std::string kBody = R"({"location":"westeurope","properties":{"a":1}})";

bool says_anything(const arm::Response& answer) {
  return std::any_of(answer.head.fields.begin(), answer.head.fields.end(),
                     [](const arm::Field& field) { return lower_text(field.name).starts_with("x-armgate"); });
}

TEST(Paths, EachGoesToARMAsItCameAndIsAnsweredAsItsLineSays) {
  for (const AskedPath& path : asked_paths()) {
    SCOPED_TRACE(path.line);
    StageRig rig;
    rig.arm_lives([](const arm::Request& request) {
      Step step;
      step.body = request.body.empty() ? kBody : request.body;
      return step;
    });
    const bool has_body = path.method == arm::Method::Put || path.method == arm::Method::Patch;
    const auto answer = rig.ask("one", path.method_token + " " + path.target, has_body ? kBody : "");
    if (path.becomes == Becomes::Refused) {
      EXPECT_EQ(answer.head.status, 400);
      EXPECT_TRUE(rig.seen().empty());
      continue;
    }
    ASSERT_EQ(rig.seen().size(), 1u);
    EXPECT_EQ(rig.seen()[0].head.target, path.target);
    EXPECT_EQ(rig.seen()[0].body, has_body ? kBody : "");
    EXPECT_FALSE(rig.seen()[0].head.fields.has("If-Match"));
    EXPECT_EQ(answer.head.status, 200);
    EXPECT_EQ(says_anything(answer), path.becomes == Becomes::Write);
  }
}

// A second client's write in between is found out for every type that is guarded, whatever its path is like, and for no other.
TEST(Paths, AStaleCopyIsRefusedWhereverAGuardIs) {
  for (const AskedPath& path : asked_paths()) {
    if (path.method != arm::Method::Put || path.becomes != Becomes::Write) continue;
    SCOPED_TRACE(path.line);
    StageRig rig;
    std::string state = kBody;
    rig.arm_lives([&state](const arm::Request& request) {
      if (request.head.method == arm::Method::Put) state = request.body;
      Step step;
      step.body = state;
      return step;
    });
    rig.ask("one", "GET " + path.target);
    rig.ask("two", "GET " + path.target);
    EXPECT_EQ(rig.ask("two", "PUT " + path.target, R"({"location":"westeurope","properties":{"a":2}})").head.status, 200);
    rig.pass(std::chrono::minutes(20));
    const auto stale = rig.ask("one", "PUT " + path.target, R"({"location":"westeurope","properties":{"a":3}})");
    EXPECT_EQ(stale.head.status, path.guard == "none" ? 200 : 412);
  }
}

}  // namespace
}  // namespace armgate::world::pipeline_test
