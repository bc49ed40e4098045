// Goal: a whole answer or an error that says how far it came; and what ARM says of the budget is noted. Method: a scripted ARM.
#include "proxy/request/send_whole.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "proxy/async/spawn.h"
#include "tests/support/stage_rig.h"

namespace armgate::world::send_whole_test {
namespace {

Task<void> store(const Parts& parts, const arm::Request& request, std::optional<Result<arm::Response>>& into) {
  into = co_await send_whole(parts, Hash128{1, 1}, request, parts.clock.now() + std::chrono::minutes(1));
}

Result<arm::Response> answer_of(StageRig& rig) {
  arm::Request request;
  request.head.method = arm::Method::Put;
  request.head.method_token = "PUT";
  request.head.target = std::string(kScaleSet);
  std::optional<Result<arm::Response>> answer;
  spawn(rig.parts().executor, store(rig.parts(), request, answer));
  rig.run_until([&] { return answer.has_value(); });
  return *std::move(answer);
}

TEST(SendWhole, TellsHowFarAnAnswerCame) {
  const struct {
    const char* why;
    std::function<void(StageRig&)> script;
    Sent sent;
  } rows[] = {
      {"not reached", [](StageRig& rig) { rig.arm_fails(put(kScaleSet), Sent::No); }, Sent::No},
      {"lost", [](StageRig& rig) { rig.arm_fails(put(kScaleSet), Sent::Maybe); }, Sent::Maybe},
      {"cut", [](StageRig& rig) { rig.arm_breaks_off(put(kScaleSet), 200, "0123456789", 4); }, Sent::Answered},
      {"too long", [](StageRig& rig) { rig.arm(put(kScaleSet), 200, {}, std::string(11, 'x')); }, Sent::Answered},
  };
  for (const auto& row : rows) {
    auto options = StageRig::default_options();
    options.write_answer_bytes_max = 10;
    StageRig rig(options);
    row.script(rig);
    const auto answer = answer_of(rig);
    ASSERT_FALSE(answer.ok()) << row.why;
    EXPECT_EQ(answer.error().sent, row.sent) << row.why;
  }
}

TEST(SendWhole, NotesWhatIsLeftOfTheBudget) {
  StageRig rig;
  rig.arm(put(kScaleSet), 200, {{"x-ms-ratelimit-remaining-subscription-writes", "17"}}, "{}");
  const auto answer = answer_of(rig);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->body, "{}");
  EXPECT_EQ(rig.shared().budgets.report(rig.now()).rows.size(), 1u);
}

}  // namespace
}  // namespace armgate::world::send_whole_test
