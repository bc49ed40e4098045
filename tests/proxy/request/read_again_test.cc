// What armgate's own looks make of an answer, and how patiently they ask again.
#include "proxy/request/read_again.h"

#include <gtest/gtest.h>

#include <utility>

#include "proxy/async/spawn.h"
#include "tests/support/stage_rig.h"

namespace armgate::world {
namespace {

TEST(SeenStates, OnlyAnAnswerAboutTheResourceSaysSomethingAboutIt) {
  const struct {
    int status;
    bool exists;
    bool absent;
    bool refused_for_now;
  } rows[] = {
      {200, true, false, false},  {404, false, true, false}, {401, false, false, false}, {403, false, false, false},
      {408, false, false, true},  {429, false, false, true}, {500, false, false, true},  {501, false, false, false},
      {508, false, false, false}, {503, false, false, true}, {204, false, false, false}, {410, false, false, false},
  };
  for (const auto& row : rows) {
    SeenState state;
    state.head.status = row.status;
    EXPECT_EQ(state.exists(), row.exists) << row.status;
    EXPECT_EQ(state.absent(), row.absent) << row.status;
    EXPECT_EQ(state.is_refused_for_now(), row.refused_for_now) << row.status;
    state.is_hidden = true;
    EXPECT_FALSE(state.absent()) << row.status << ": what this reader may not see may be there";
  }
}

Task<void> look_patiently(const Parts& parts, std::optional<Result<SeenState>>& seen) {
  OwnRead read{std::string(kScaleSet)};
  seen = co_await read_again(parts, "management.azure.com", std::move(read), "Bearer x");
}

std::optional<Result<SeenState>> look_at(StageRig& rig) {
  std::optional<Result<SeenState>> seen;
  spawn(rig.parts().executor, look_patiently(rig.parts(), seen));
  rig.pass(std::chrono::minutes(2));
  return seen;
}

TEST(ReadAgain, ARefusalForNowAndABrokenConnectionAreTriedAgain) {
  StageRig rig;
  rig.arm_fails(get(kScaleSet), Sent::Maybe);
  rig.arm(get(kScaleSet), 503);
  rig.arm(get(kScaleSet), 404, {}, "{}");
  const auto seen = look_at(rig);
  ASSERT_TRUE(seen && seen->ok());
  EXPECT_TRUE((*seen)->absent());
  EXPECT_TRUE(rig.script_is_done());
  EXPECT_EQ(rig.sent_field(0, "authorization"), "Bearer x");
}

TEST(ReadAgain, WhoAsksForALongerPauseThanThereIsTimeIsNotAskedAgain) {
  StageRig rig;
  rig.arm(get(kScaleSet), 429, {{"Retry-After", "31"}}, "{}");
  const auto seen = look_at(rig);
  ASSERT_TRUE(seen && seen->ok());
  EXPECT_TRUE((*seen)->is_refused_for_now());
  EXPECT_EQ(rig.seen().size(), 1u);
}

TEST(ReadAgain, AnAnswerAboutTheReaderIsFinal) {
  StageRig rig;
  rig.arm(get(kScaleSet), 403, {}, "{}");
  const auto seen = look_at(rig);
  ASSERT_TRUE(seen && seen->ok());
  EXPECT_EQ((*seen)->head.status, 403);
  EXPECT_EQ(rig.seen().size(), 1u);
}

}  // namespace
}  // namespace armgate::world
