// Faults on request, and the endpoints that control the simulated ARM.
#include <gtest/gtest.h>

#include "sim/error_catalogue.h"
#include "tests/sim/sim_requests.h"

namespace armgate::sim {
namespace {

constexpr std::string_view kPlace = R"({"location":"westeurope"})";

TEST(SimFault, DropBeforeDoesNothingAndDropAfterHasTheEffect) {
  Bench bench;
  EXPECT_TRUE(bench.send("PUT", kGroup, kPlace, {{"x-sim-fault", "drop-before"}}).drop);
  EXPECT_EQ(bench.ask("GET", kGroup).head.status, 404);
  EXPECT_TRUE(bench.send("PUT", kGroup, kPlace, {{"x-sim-fault", "drop-after"}}).drop);
  EXPECT_EQ(bench.ask("GET", kGroup).head.status, 200);
  EXPECT_EQ(bench.arm.report().dropped_before, 1u);
  EXPECT_EQ(bench.arm.report().dropped_after, 1u);
}

TEST(SimFault, ScriptStrikesTheNextMatchingRequestsOnly) {
  Bench bench;
  bench.create(kScaleSet);
  EXPECT_EQ(bench
                .ask("POST", "/__sim/faults", R"({"faults":[{"method":"POST","path":"/RESTART","kind":"drop-after","times":2},
                                                            {"method":"DELETE","kind":"status-429"}]})")
                .head.status,
            204);
  EXPECT_FALSE(bench.send("GET", kScaleSet).drop);
  EXPECT_TRUE(bench.send("POST", kScaleSet + "/restart").drop);
  bench.pass(5000);
  EXPECT_TRUE(bench.send("POST", kScaleSet + "/restart").drop);
  bench.pass(5000);
  EXPECT_EQ(bench.ask("POST", kScaleSet + "/restart").head.status, 202);
  EXPECT_EQ(bench.arm.report().actions.at("restart"), 3u);
  const arm::Response throttled = bench.ask("DELETE", kNetwork);
  EXPECT_EQ(throttled.head.status, 429);
  EXPECT_EQ(throttled.head.fields.get("Retry-After"), "1");
  EXPECT_EQ(bench.ask("DELETE", kNetwork).head.status, 204);
}

TEST(SimFault, RefusalsAreAnsweredAsTheCatalogueSpellsThem) {
  for (const Refusal& refusal : all_refusals()) {
    Bench bench;
    const arm::Response refused = bench.ask("PUT", kGroup, kPlace, {{"x-sim-fault", "error-" + std::string(refusal.name)}});
    EXPECT_EQ(refused.head.status, refusal.status) << refusal.name;
    EXPECT_EQ(refused.body, refusal.body) << refusal.name;
    EXPECT_EQ(bench.ask("GET", kGroup).head.status, 404) << refusal.name;
  }
}

TEST(SimFault, RetryAfterMayBeANumber) {
  Bench bench;
  bench.create(kScaleSet);
  const auto script = [&](const char* value) {
    return bench.ask("POST", "/__sim/faults", R"({"faults":[{"kind":"status-503","retry_after":)" + std::string(value) + "}]}");
  };
  EXPECT_EQ(script("7").head.status, 204);
  EXPECT_EQ(bench.ask("GET", kScaleSet).head.fields.get("Retry-After"), "7");
  for (const char* wrong : {"-1", "1.5", "true", "null", "[1]"}) {
    const arm::Response refused = script(wrong);
    EXPECT_EQ(refused.head.status, 400) << wrong;
    EXPECT_NE(refused.body.find("retry_after"), std::string::npos) << refused.body;
  }
}

TEST(SimFault, ScriptSaysWhenToComeBack) {
  Bench bench;
  bench.create(kScaleSet);
  const char* script =
      R"({"faults":[{"kind":"error-busy-compute","retry_after":"7"},{"kind":"status-503","retry_after":"soon"}]})";
  EXPECT_EQ(bench.ask("POST", "/__sim/faults", script).head.status, 204);
  EXPECT_EQ(bench.ask("GET", kScaleSet).head.fields.get("Retry-After"), "7");
  EXPECT_EQ(bench.ask("GET", kScaleSet).head.fields.get("Retry-After"), "soon");
  EXPECT_FALSE(bench.ask("GET", kScaleSet).head.fields.has("Retry-After"));
}

TEST(SimFault, ChanceStrikesAShareOfWhatFitsAndNothingElse) {
  Bench bench;
  bench.create(kScaleSet);
  EXPECT_EQ(
      bench.ask("POST", "/__sim/faults", R"({"faults":[{"method":"PATCH","kind":"status-503","chance":0.25}]})").head.status,
      204);
  int struck = 0;
  for (int i = 0; i < 400; ++i) {
    EXPECT_EQ(bench.ask("GET", kScaleSet).head.status, 200);
    if (bench.ask("PATCH", kScaleSet, R"({"tags":{}})", {{"x-sim-operation-ms", "0"}}).head.status == 503) ++struck;
  }
  EXPECT_GT(struck, 60);
  EXPECT_LT(struck, 140);
  EXPECT_EQ(bench.ask("DELETE", "/__sim/faults").head.status, 204);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(bench.ask("PATCH", kScaleSet, R"({"tags":{}})", {{"x-sim-operation-ms", "0"}}).head.status, 200);
  }
}

TEST(SimFault, StaleReadsShowWhatWasThereAndWhatWasNot) {
  Bench bench;
  bench.create(kScaleSet, R"({"location":"we","tags":{"a":"1"}})");
  const auto stale = [&](std::string_view method, const std::string& path, int milliseconds) {
    return bench.ask(method, path, "", {{"x-sim-fault", "stale-" + std::to_string(milliseconds)}});
  };
  const std::string list(kScaleSet.substr(0, kScaleSet.rfind('/')));
  const std::string etag(bench.ask("GET", kScaleSet).head.fields.get("ETag"));
  bench.ask("PUT", kScaleSet, R"({"location":"we","tags":{"b":"1"}})", {{"x-sim-operation-ms", "0"}});
  bench.pass(200);
  EXPECT_EQ(bench.ask("GET", kScaleSet).head.fields.get("ETag"), R"("3")");
  EXPECT_EQ(stale("GET", kScaleSet, 300).head.fields.get("ETag"), etag);
  EXPECT_TRUE(body_of(stale("GET", kScaleSet, 300))["tags"].contains("a"));
  EXPECT_TRUE(body_of(stale("GET", kScaleSet, 100))["tags"].contains("b"));
  EXPECT_TRUE(body_of(stale("GET", list, 300))["value"][0]["tags"].contains("a"));
  // Before it was made: a lagging 404, of a group too.
  EXPECT_EQ(code_of(stale("GET", kScaleSet, 600'000)), "ResourceNotFound");
  EXPECT_EQ(stale("HEAD", kScaleSet, 600'000).head.status, 404);
  EXPECT_EQ(body_of(stale("GET", list, 600'000))["value"].size(), 0u);
  EXPECT_EQ(code_of(stale("GET", std::string(kGroup), 600'000)), "ResourceGroupNotFound");
}

TEST(SimFault, StaleReadsShowNoListOfWhatIsBelowWhatWasNotThere) {
  Bench bench;
  bench.create(kSecurityGroup);
  EXPECT_EQ(bench.ask("GET", kSecurityGroup + "/securityRules", "", {{"x-sim-fault", "stale-600000"}}).head.status, 404);
  EXPECT_EQ(bench.ask("GET", kSecurityGroup + "/securityRules").head.status, 200);
}

TEST(SimFault, StaleScriptLeavesWritesAlone) {
  Bench bench;
  bench.create(kScaleSet, R"({"location":"we","tags":{"a":"1"}})");
  bench.ask("POST", "/__sim/faults", R"({"faults":[{"path":"vmss1","kind":"stale-600000","times":1}]})");
  EXPECT_EQ(bench.ask("PUT", kScaleSet, R"({"location":"we"})").head.status, 200);
  EXPECT_EQ(bench.ask("GET", kScaleSet).head.status, 404);
  EXPECT_EQ(bench.ask("GET", kScaleSet).head.status, 200);
}

TEST(SimControl, WhatRunsEndsWhenItIsTold) {
  Bench bench;
  bench.create(kScaleSet);
  bench.pass(60'000);
  const arm::Response changed =
      bench.ask("PUT", kScaleSet, R"({"location":"we","tags":{"a":"1"}})", {{"x-sim-operation-ms", "600000"}});
  EXPECT_EQ(bench.ask("DELETE", kScaleSet).head.status, 409);
  EXPECT_EQ(bench.ask("POST", "/__sim/finish").head.status, 204);
  const nlohmann::json now = body_of(bench.ask("GET", kScaleSet));
  EXPECT_EQ(now["properties"]["provisioningState"], "Succeeded");
  EXPECT_EQ(now["tags"]["a"], "1");
  EXPECT_NE(now["etag"], body_of(changed)["etag"]);
  EXPECT_EQ(bench.ask("DELETE", kScaleSet).head.status, 202);
}

TEST(SimFault, BadScriptIsRefusedAndChangesNothing) {
  Bench bench;
  for (const char* script :
       {"", "[]", R"({"faults":7})", R"({"faults":[{"kind":"explode"}]})", R"({"faults":[1]})",
        R"({"faults":[{"kind":"drop-before"},{"kind":"status-200"}]})", R"({"faults":[{"kind":"error-unknown"}]})",
        R"({"faults":[{"kind":"drop-before","times":"x"}]})", R"({"faults":[{"kind":"stale-"}]})",
        R"({"faults":[{"kind":"stale-0"}]})", R"({"faults":[{"kind":"drop-before","chance":"often"}]})"}) {
    EXPECT_EQ(bench.ask("POST", "/__sim/faults", script).head.status, 400) << script;
  }
  EXPECT_FALSE(bench.send("PUT", kGroup, kPlace).drop);
}

TEST(SimFault, ChanceOfOneDropsEveryWriteAndNoRead) {
  SimOptions options;
  options.drop_before_chance = 1;
  Bench bench(options);
  EXPECT_TRUE(bench.send("PUT", kGroup, kPlace).drop);
  EXPECT_FALSE(bench.send("GET", kGroup).drop);
}

TEST(SimControl, ReportIsJsonAndResetForgetsEverything) {
  Bench bench;
  bench.create(kScaleSet, R"({"location":"we","tags":{"a":"1"}})");
  bench.ask("PUT", kScaleSet, R"({"location":"we"})");
  nlohmann::json report = body_of(bench.ask("GET", "/__sim/report"));
  EXPECT_EQ(report["lost_updates"], 1);
  EXPECT_EQ(report["writes"], 3);
  EXPECT_EQ(bench.ask("POST", "/__sim/reset").head.status, 204);
  report = body_of(bench.ask("GET", "/__sim/report"));
  EXPECT_EQ(report["lost_updates"], 0);
  EXPECT_EQ(report["requests"], 0);
  EXPECT_EQ(bench.arm.next_event(), std::nullopt);
  EXPECT_EQ(bench.ask("GET", kGroup).head.status, 404);
  EXPECT_EQ(bench.ask("GET", "/__sim/nothing").head.status, 404);
}

TEST(SimControl, EveryAnswerCarriesRequestIds) {
  Bench bench;
  const arm::Response answer = bench.ask(
      "GET", kGroup, "",
      {{"x-ms-correlation-request-id", "c"}, {"x-ms-client-request-id", "mine"}, {"x-ms-return-client-request-id", "true"}});
  EXPECT_EQ(answer.head.fields.get("x-ms-request-id").size(), 36u);
  EXPECT_EQ(answer.head.fields.get("x-ms-correlation-request-id"), "c");
  EXPECT_EQ(answer.head.fields.get("x-ms-client-request-id"), "mine");
}

}  // namespace
}  // namespace armgate::sim
