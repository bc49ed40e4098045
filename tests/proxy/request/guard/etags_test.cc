// ETags of families that give them in other ways than Compute and Network: in the header alone, among the properties, and in a body
// that the service itself judges.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::etags_test {
namespace {

const std::string kProviders = "/subscriptions/s/resourceGroups/g/providers/";

std::string guard_of(const arm::Response& answer) { return std::string(answer.head.fields.get("x-armgate-guard")); }

TEST(Etags, OfAPIManagementStandInTheHeaderAlone) {
  const std::string value = kProviders + "Microsoft.ApiManagement/service/a/namedValues/v?api-version=2022-08-01";
  StageRig rig;
  rig.arm(get(value), 200, {{"ETag", "\"AAAAAAAAS8U=\""}}, R"({"properties":{"displayName":"v","value":"1"}})");
  rig.arm(put(value), 200, {{"ETag", "\"AAAAAAAAS8Y=\""}}, R"({"properties":{"displayName":"v","value":"2"}})");
  rig.arm(put(value), 200, {{"ETag", "\"AAAAAAAAS8Z=\""}}, R"({"properties":{"displayName":"v","value":"3"}})");
  rig.ask("one", get(value));
  EXPECT_EQ(guard_of(rig.ask("one", put(value), R"({"properties":{"displayName":"v","value":"2"}})")), "newest");
  rig.pass(std::chrono::minutes(10));
  EXPECT_EQ(guard_of(rig.ask("one", put(value), R"({"properties":{"displayName":"v","value":"3"}})")), "newest");
  EXPECT_EQ(rig.sent_field(1, "If-Match"), "\"AAAAAAAAS8U=\"");
  EXPECT_EQ(rig.sent_field(2, "If-Match"), "\"AAAAAAAAS8Y=\"") << "its own answer's";
}

// An update without If-Match is refused by the service, and that is its client's to know: armgate has shown it nothing.
TEST(Etags, WhoWasShownNothingGetsAPIManagementsOwnRefusal) {
  const std::string value = kProviders + "Microsoft.ApiManagement/service/a/namedValues/v?api-version=2022-08-01";
  const std::string refusal =
      R"({"error":{"code":"PreconditionFailed","message":"Resource was modified since last retrieval."}})";
  StageRig rig;
  rig.arm(put(value), 412, {}, refusal);
  const auto answer = rig.ask("one", put(value), R"({"properties":{}})");
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_EQ(answer.body, refusal);
  EXPECT_TRUE(rig.script_is_done());
}

// One ETag, quoted in the header and bare in the body, where its client keeps it.
TEST(Etags, MayBeSpeltInAnotherWayInTheBodyThanInTheHeader) {
  for (const char* in_body : {"7", "W/\\\"7\\\""}) {
    StageRig rig;
    const std::string state = fmt::format(R"({{"etag":"{}","sku":{{"capacity":1}}}})", in_body);
    rig.arm(get(kScaleSet), 200, etag("\"7\""), state);
    rig.arm(put(kScaleSet), 200, etag("\"8\""), "{}");
    rig.ask("one", get(kScaleSet));
    const auto answer = rig.ask("one", put(kScaleSet), fmt::format(R"({{"etag":"{}","sku":{{"capacity":5}}}})", in_body));
    EXPECT_EQ(answer.head.status, 200) << in_body;
    EXPECT_EQ(rig.sent_field(1, "If-Match"), "\"7\"") << "as ARM names it";
  }
}

// Whether the ETag of a job moves with its inputs is not known: what is there is compared as well.
TEST(Etags, OfStreamAnalyticsStandAmongTheProperties) {
  const std::string job = kProviders + "Microsoft.StreamAnalytics/streamingjobs/j?api-version=2020-03-01";
  const std::string state = R"({"properties":{"etag":"9f7d","jobState":"Created","outputErrorPolicy":"Stop"}})";
  StageRig rig;
  rig.arm(get(job), 200, {}, state);
  rig.arm(get(job), 200, {}, state);
  rig.arm(put(job), 200, {}, state);
  rig.ask("one", get(job));
  const auto answer = rig.ask("one", put(job), R"({"properties":{"outputErrorPolicy":"Drop"}})");
  EXPECT_EQ(guard_of(answer), "newest, verified");
  EXPECT_EQ(rig.sent_field(2, "If-Match"), "9f7d");
}

// Of types that nobody has seen heed it the ETag goes along, and nothing depends on it.
TEST(Etags, ThatMayNotBeHeededGoAlongWithAComparison) {
  const std::string pipeline = kProviders + "Microsoft.DataFactory/factories/f/pipelines/p?api-version=2018-06-01";
  StageRig rig;
  rig.arm(get(pipeline), 200, {}, R"({"etag":"a1","properties":{"concurrency":1}})");
  rig.arm(get(pipeline), 200, {}, R"({"etag":"a2","properties":{"concurrency":1}})");
  rig.arm(put(pipeline), 200, {}, R"({"etag":"a3","properties":{"concurrency":2}})");
  rig.ask("one", get(pipeline));
  EXPECT_EQ(rig.ask("one", put(pipeline), R"({"properties":{"concurrency":2}})").head.status, 200);
  EXPECT_EQ(rig.sent_field(2, "If-Match"), "a2") << "moved without a change";
  rig.arm(get(pipeline), 200, {}, R"({"etag":"a9","properties":{"concurrency":7}})");
  EXPECT_EQ(rig.ask("one", put(pipeline), R"({"properties":{"concurrency":3}})").head.status, 412);
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Etags, InABodyThatTheServiceJudgesAreLeftAlone) {
  const std::string budget = kProviders + "Microsoft.Consumption/budgets/b?api-version=2023-11-01";
  const std::string state = R"({"eTag":"\"1d34d0\"","properties":{"amount":100}})";
  const std::string wanted = R"({"eTag":"\"1d34d0\"","properties":{"amount":200}})";
  StageRig rig;
  rig.arm(get(budget), 200, {}, state);
  rig.arm(get(budget), 200, {}, state);
  rig.arm(put(budget), 200, {}, R"({"eTag":"\"1d34d1\"","properties":{"amount":200}})");
  rig.ask("one", get(budget));
  EXPECT_EQ(guard_of(rig.ask("one", put(budget), wanted)), "newest, verified");
  EXPECT_EQ(rig.seen()[2].body, wanted);
  EXPECT_FALSE(rig.seen()[2].head.fields.has("If-Match"));
  // Whoever was shown nothing is judged by the service alone.
  const std::string refusal = R"({"error":{"code":"400","message":"The eTag in the request does not match."}})";
  rig.arm(put(budget), 400, {}, refusal);
  const auto answer = rig.ask("two", put(budget), wanted);
  EXPECT_EQ(answer.head.status, 400);
  EXPECT_EQ(answer.body, refusal);
}

// A cluster keeps its ETag while its pools change. Of a body that was let go of nobody knows whether they did.
TEST(Etags, OneThatDoesNotTellEverythingProvesNothingWithoutTheBody) {
  const std::string cluster = kProviders + "Microsoft.ContainerService/managedClusters/c?api-version=2024-05-01";
  const auto with_pool = [](const char* count) {
    return R"({"etag":"e1","properties":{"provisioningState":"Succeeded","agentPoolProfiles":[{"name":"p","count":)" +
           std::string(count) + "}]}}";
  };
  PipelineOptions options = StageRig::default_options();
  options.body_keep_max = 16;
  StageRig rig(options);
  rig.arm(get(cluster), 200, {}, with_pool("1"));
  rig.arm(get(cluster), 200, {}, with_pool("3"));
  rig.ask("one", get(cluster));
  const auto answer =
      rig.ask("one", put(cluster), R"({"tags":{"a":"1"},"properties":{"agentPoolProfiles":[{"name":"p","count":1}]}})");
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_TRUE(rig.script_is_done()) << "nothing was sent";
}

}  // namespace
}  // namespace armgate::world::etags_test
