// Goal: an ETag is sent only where it may still fit, as ARM names it. Method: what ARM is sent, from the wire's point of view.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::superseded_test {
namespace {

const std::string kStateOne = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kStateTwo = R"({"etag":"\"2\"","sku":{"capacity":2},"properties":{"provisioningState":"Succeeded"}})";
const std::string kWanted = R"({"sku":{"capacity":5},"properties":{}})";

// One ETag, quoted in the header and bare in the body, where its client keeps it.
TEST(Bases, TheEtagInTheBodyMayBeSpeltInAnotherWayThanInTheHeader) {
  for (const char* in_body : {"7", "W/\\\"7\\\""}) {
    StageRig rig;
    const std::string state = fmt::format(R"({{"etag":"{}","sku":{{"capacity":1}}}})", in_body);
    rig.arm(get(kScaleSet), 200, etag("\"7\""), state);
    rig.arm(put(kScaleSet), 200, etag("\"8\""), kStateTwo);
    rig.ask("one", get(kScaleSet));
    const auto answer = rig.ask("one", put(kScaleSet), fmt::format(R"({{"etag":"{}","sku":{{"capacity":5}}}})", in_body));
    EXPECT_EQ(answer.head.status, 200) << in_body;
    EXPECT_EQ(rig.sent_field(1, "If-Match"), "\"7\"") << "as ARM names it";
  }
}

// If the type did not heed If-Match after all, the other's change would be lost.
TEST(Bases, AnEtagThatAWriteHasReplacedIsNotSent) {
  StageRig rig(unmerged());
  for (const char* client : {"one", "two"}) {
    rig.arm(get(kScaleSet), 200, etag("\"1\""), kStateOne);
    rig.ask(client, get(kScaleSet));
  }
  rig.arm(put(kScaleSet), 200, etag("\"2\""), kStateTwo);
  rig.ask("two", put(kScaleSet), R"({"sku":{"capacity":2},"properties":{}})");
  rig.arm(get(kScaleSet), 200, etag("\"2\""), kStateTwo);
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "stale");
  EXPECT_TRUE(rig.script_is_done()) << "armgate looked, and sent nothing";
}

}  // namespace
}  // namespace armgate::world::superseded_test
