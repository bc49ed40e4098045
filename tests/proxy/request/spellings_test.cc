// Every spelling of a refusal that the simulated ARM knows, met by a guarded write under the shipped rules.
#include <gtest/gtest.h>

#include "sim/error_catalogue.h"
#include "tests/support/stage_rig.h"

namespace armgate::world {
namespace {

// An ARM that refuses the first PUT in the given spelling and takes the next one.
struct Once {
  const sim::Refusal& refusal;
  int puts = 0;

  Step answer(const arm::Request& request) {
    Step step;
    step.body = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
    if (request.head.method == arm::Method::Get) return step;
    if (++puts > 1) {
      step.body = R"({"etag":"\"2\"","sku":{"capacity":2},"properties":{"provisioningState":"Succeeded"}})";
      return step;
    }
    arm::Response refused = sim::refusal_answer(refusal);
    step.status = refused.head.status;
    step.fields = std::move(refused.head.fields);
    step.body = std::move(refused.body);
    return step;
  }
};

TEST(Spellings, ARefusalThatPassesIsWaitedOutAndAnyOtherPassesThroughAtOnce) {
  for (const sim::Refusal& refusal : sim::all_refusals()) {
    SCOPED_TRACE(refusal.name);
    StageRig rig;
    Once arm{refusal};
    rig.arm_lives([&arm](const arm::Request& request) { return arm.answer(request); });
    rig.ask("one", get(kScaleSet));
    const TimePoint asked = rig.now();
    const arm::Response answer = rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":2}})");
    if (refusal.means == sim::RefusalMeans::Again) {
      EXPECT_EQ(answer.head.status, 200) << answer.body;
      EXPECT_EQ(arm.puts, 2);
      EXPECT_EQ(rig.sent_field(rig.seen().size() - 1, "If-Match"), "\"1\"") << "with the base's guard";
    } else {
      EXPECT_EQ(answer.head.status, refusal.status);
      EXPECT_EQ(answer.body, refusal.body);
      EXPECT_EQ(arm.puts, 1);
      EXPECT_EQ(rig.now(), asked);
    }
  }
}

}  // namespace
}  // namespace armgate::world
