// Which state a write is guarded with, from the wire's point of view (docs/design.md, "Possible bases").
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <optional>

#include "tests/support/stage_rig.h"

namespace armgate::world::find_bases_test {
namespace {

const std::string kStateOne = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kStateTwo = R"({"etag":"\"2\"","sku":{"capacity":2},"properties":{"provisioningState":"Succeeded"}})";
const std::string kWanted = R"({"sku":{"capacity":5},"properties":{}})";

TEST(Bases, AWriteCarriesTheEtagOfItsOwnClientsReadNotTheNewest) {
  StageRig rig(unmerged());
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kStateOne);
  rig.arm(get(kScaleSet), 200, etag("\"2\""), kStateTwo);
  rig.arm(put(kScaleSet), 412, {}, R"({"error":{"code":"PreconditionFailed","message":"m"}})");
  rig.arm(get(kScaleSet), 200, etag("\"2\""), kStateTwo);
  rig.ask("one", get(kScaleSet));
  rig.ask("two", get(kScaleSet));
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(rig.sent_field(2, "If-Match"), "\"1\"");
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_EQ(answer.body, R"({"error":{"code":"PreconditionFailed","message":"m"}})") << "ARM's own bytes";
  EXPECT_EQ(answer.head.fields.get("x-armgate-guard"), "newest");
}

TEST(Bases, TheClientsOwnPreconditionIsLeftAloneAlsoOn412) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kStateOne);
  rig.arm(put(kScaleSet), 412, {}, "{}");
  rig.ask("one", get(kScaleSet));
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kWanted, {{"if-match", "\"9\""}}).head.status, 412);
  EXPECT_EQ(rig.sent_field(1, "If-Match"), "\"9\"");
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Bases, AnEmptyIfMatchCountsAsAbsent) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kStateOne);
  rig.arm(put(kScaleSet), 200, etag("\"2\""), kStateTwo);
  rig.ask("one", get(kScaleSet));
  rig.ask("one", put(kScaleSet), kWanted, {{"If-Match", ""}});
  EXPECT_EQ(rig.sent_field(1, "If-Match"), "\"1\"");
  EXPECT_EQ(rig.seen()[1].head.fields.count("If-Match"), 1u);
}

TEST(Bases, AnEtagThatWouldMatchWhateverIsThereIsNone) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("*"), kStateOne);
  rig.arm(put(kScaleSet), 200, etag("\"2\""), kStateTwo);
  rig.ask("one", get(kScaleSet));
  rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(rig.sent_field(1, "If-Match"), "\"1\"") << "the body's";
}

TEST(Bases, TheEtagInTheBodyIsTheClientsWord) {
  StageRig rig;
  rig.arm(put(kScaleSet), 200, etag("\"8\""), kStateTwo);
  rig.ask("one", put(kScaleSet), R"({"etag":"\"7\"","sku":{"capacity":5}})");
  EXPECT_EQ(rig.sent_field(0, "If-Match"), "\"7\"");
}

// Deleted around armgate, as far as anybody knows.
void arm_says_it_is_gone(StageRig& rig) {
  rig.arm(put(kScaleSet), 412, {}, R"({"error":{"code":"PreconditionFailed","message":"m"}})");
  rig.arm(get(kScaleSet), 404, {}, R"({"error":{"code":"ResourceNotFound","message":"m"}})");
}

const std::string kCopyOfOld = R"({"etag":"\"7\"","sku":{"capacity":5}})";

TEST(Bases, ACopyOfWhatIsGoneIsMadeAnewByWhoeverKnowsThatItIs) {
  StageRig rig;
  arm_says_it_is_gone(rig);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kCopyOfOld).head.status, 412);
  rig.arm(get(kScaleSet), 404, {}, R"({"error":{"code":"ResourceNotFound","message":"m"}})");
  rig.ask("one", get(kScaleSet));
  arm_says_it_is_gone(rig);
  rig.arm(put(kScaleSet), 201, etag("\"1\""), kStateOne);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kCopyOfOld).head.status, 201);
  EXPECT_FALSE(rig.seen().back().head.fields.has("If-Match"));
}

TEST(Bases, AndByWhoeverReadsNothingAndSendsItAgain) {
  StageRig rig;
  arm_says_it_is_gone(rig);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kCopyOfOld).head.status, 412);
  arm_says_it_is_gone(rig);
  rig.arm(put(kScaleSet), 201, etag("\"1\""), kStateOne);
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kCopyOfOld).head.status, 201);
}

TEST(Bases, TheOwnAnswersEtagGuardsTheNextWrite) {
  StageRig rig;
  rig.arm(put(kScaleSet), 201, etag("\"1\""), kStateOne);
  rig.arm(put(kScaleSet), 200, etag("\"2\""), kStateTwo);
  rig.ask("one", put(kScaleSet), kWanted);
  rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":6}})");
  EXPECT_EQ(rig.sent_field(1, "If-Match"), "\"1\"");
}

TEST(Bases, NetworkEtagsComeFromTheBodyOfTheAnswer) {
  StageRig rig;
  rig.arm(put(kSubnet), 200, {}, R"({"etag":"W/\"g1\"","properties":{"provisioningState":"Succeeded"}})");
  rig.arm(put(kSubnet), 200, {}, R"({"etag":"W/\"g2\"","properties":{"provisioningState":"Succeeded"}})");
  rig.ask("one", put(kSubnet), R"({"properties":{"addressPrefix":"10.0.0.0/24"}})");
  rig.ask("one", put(kSubnet), R"({"properties":{"addressPrefix":"10.0.1.0/24"}})");
  EXPECT_EQ(rig.sent_field(1, "If-Match"), "W/\"g1\"") << "verbatim, weakness and all";
}

TEST(Bases, AListItemGuardsAWrite) {
  StageRig rig;
  const std::string list =
      "GET /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets?api-version=2024-07-01";
  rig.arm(list, 200, {},
          R"({"value":[{"id":"/subscriptions/s/resourceGroups/G/providers/Microsoft.Compute/virtualMachineScaleSets/V",)"
          R"("etag":"\"4\"","sku":{"capacity":1}}]})");
  rig.arm(put(kScaleSet), 200, etag("\"5\""), kStateTwo);
  rig.ask("one", list);
  rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(rig.sent_field(1, "If-Match"), "\"4\"");
}

// A write that changes nothing leaves what lists have shown as it was: that is no sign that a list lags.
TEST(Bases, WhatAListShowsAsBeforeIsNotOldBecauseItsClientWroteTheSame) {
  const std::string at = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Storage/storageAccounts";
  const std::string plain = fmt::format(R"({{"id":"{}/a","tags":{{}},"properties":{{"provisioningState":"Succeeded"}}}})", at);
  const std::string wanted =
      fmt::format(R"({{"id":"{}/a","tags":{{"want":"1"}},"properties":{{"provisioningState":"Succeeded"}}}})", at);
  StageRig rig;
  std::string there = plain;
  rig.arm_lives([&](const arm::Request& request) {
    Step step;
    if (request.head.method == arm::Method::Put) there = request.body;
    const bool is_list = arm::path_of(request.head.target).ends_with("storageAccounts");
    step.body = is_list ? fmt::format(R"({{"value":[{}]}})", there) : there;
    return step;
  });
  const auto list = [&](const char* version) { rig.ask("one", get(fmt::format("{}?api-version={}", at, version))); };
  const std::string account = put(fmt::format("{}/a?api-version=2023-01-01", at));
  list("2023-01-01");
  list("2024-01-01");
  EXPECT_EQ(rig.ask("one", account, plain).head.status, 200);
  list("2023-01-01");
  const auto answer = rig.ask("one", account, wanted);
  EXPECT_EQ(answer.head.status, 200) << answer.head.fields.get("x-armgate-guard") << answer.body;
}

TEST(Bases, HeadDeliversNothingAnd304DeliversWhatItConfirms) {
  StageRig rig;
  rig.arm("HEAD ", 200, etag("\"1\""));
  rig.arm(put(kScaleSet), 200, {}, kStateOne);
  rig.ask("one", "HEAD " + std::string(kScaleSet));
  rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_FALSE(rig.seen()[1].head.fields.has("If-Match"));

  StageRig again;
  again.arm(get(kScaleSet), 200, etag("\"1\""), kStateOne);
  again.arm(put(kScaleSet), 200, {}, "");
  again.arm(get(kScaleSet), 304, etag("\"1\""));
  again.arm(put(kScaleSet), 200, {}, "");
  again.ask("one", get(kScaleSet));
  again.ask("one", put(kScaleSet), kWanted);
  again.pass(std::chrono::minutes(2));  // before, the old ETag would come from a replica that lags
  again.ask("one", get(kScaleSet), {}, {{"If-None-Match", "\"1\""}});
  again.ask("one", put(kScaleSet), R"({"sku":{"capacity":6}})");
  EXPECT_EQ(again.sent_field(3, "If-Match"), "\"1\"");
}

TEST(Bases, WhoIsRefusedIsRefusedUntilItReadsAgainAndThenSent) {
  StageRig rig;
  const auto refuses = [&rig] {
    rig.arm(put(kScaleSet), 412, {}, "{}");
    rig.arm(get(kScaleSet), 200, etag("\"2\""), kStateTwo);
  };
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kStateOne);
  rig.ask("one", get(kScaleSet));
  refuses();
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kWanted).head.status, 412);
  refuses();
  const auto again = rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":6}})");
  EXPECT_EQ(again.head.status, 412);
  EXPECT_FALSE(again.head.fields.has("Retry-After"));
  EXPECT_EQ(rig.sent_field(3, "If-Match"), "\"1\"") << "never newer than what it has read";
  rig.arm(get(kScaleSet), 200, etag("\"2\""), kStateTwo);
  rig.arm(put(kScaleSet), 200, etag("\"3\""), kStateOne);
  rig.ask("one", get(kScaleSet));
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kWanted).head.status, 200);
  EXPECT_EQ(rig.sent_field(6, "If-Match"), "\"2\"");
}

// A nightly file: it knows nothing but its own answer, is told once that somebody else has written, and means it.
TEST(Bases, WhoNeverReadsIsRefusedOnceAndThenSent) {
  StageRig rig;
  rig.arm(put(kScaleSet), 200, etag("\"1\""), kStateOne);
  rig.ask("one", put(kScaleSet), kWanted);
  rig.pass(std::chrono::minutes(2));
  for (int i = 0; i < 2; ++i) {
    rig.arm(put(kScaleSet), 412, {}, "{}");
    rig.arm(get(kScaleSet), 200, etag("\"2\""), kStateTwo);
  }
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kWanted).head.status, 412);
  rig.arm(put(kScaleSet), 200, etag("\"3\""), kStateOne);
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.head.fields.get("x-armgate-guard"), "newest, forced");
  EXPECT_EQ(rig.sent_field(5, "If-Match"), "\"2\"");
  EXPECT_EQ(rig.shared().counters.forced.load(), 1u);
}

// A deployment is an order and no state: also after its client has deleted it.
TEST(Bases, OfWhatIsNotRememberedThereAreNone) {
  const std::string deployment =
      "/subscriptions/s/resourceGroups/g/providers/Microsoft.Resources/deployments/d?api-version=2021-04-01";
  StageRig rig;
  rig.arm(put(deployment), 201, {}, R"({"properties":{"provisioningState":"Succeeded"}})");
  rig.arm("DELETE " + deployment, 204);
  rig.arm(put(deployment), 201, {}, R"({"properties":{"provisioningState":"Succeeded"}})");
  rig.arm(put(deployment), 200, {}, R"({"properties":{"provisioningState":"Succeeded"}})");
  rig.ask("one", put(deployment), R"({"properties":{"template":{"is":1}}})");
  rig.ask("one", "DELETE " + deployment);
  rig.ask("one", put(deployment), R"({"properties":{"template":{"is":2}}})");
  const auto answer = rig.ask("one", put(deployment), R"({"properties":{"template":{"is":3}}})");
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.head.fields.get("x-armgate-guard"), "unconditional");
}

TEST(Bases, AnEtagThatMovedWithoutAChangeIsASpurious412) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kStateOne);
  rig.arm(put(kScaleSet), 412, {}, "{}");
  rig.arm(get(kScaleSet), 200, etag("\"9\""),
          R"({"etag":"\"9\"","sku":{"capacity":1},"properties":{"provisioningState":"Updating"}})");
  rig.arm(put(kScaleSet), 200, etag("\"10\""), kStateTwo);
  rig.ask("one", get(kScaleSet));
  const auto answer = rig.ask("one", put(kScaleSet), kWanted);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(rig.sent_field(3, "If-Match"), "\"9\"");
  EXPECT_EQ(answer.head.fields.get("x-armgate-attempts"), "2");
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "etag-moved-without-a-change");
}

// One of "jvm" reads and writes at an older api-version. Whether its state is what is there can be told only at that one.
TEST(Bases, ABaseAtAnotherApiVersionIsComparedAtThatOne) {
  const std::string older =
      "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v?api-version=2024-03-01";
  const std::string in_old = R"({"oldSpelling":1,"properties":{"provisioningState":"Succeeded"}})";
  const std::string changed = R"({"oldSpelling":2,"properties":{"provisioningState":"Succeeded"}})";
  struct Row {
    std::string etag, body;
    int status;
  };
  for (const Row& row : {Row{"\"3\"", in_old, 200}, Row{"\"3\"", changed, 412}, Row{"\"4\"", in_old, 412}}) {
    StageRig rig = many_actors();
    rig.arm(get(older), 200, etag("\"1\""), in_old);
    rig.arm(get(kScaleSet), 200, etag("\"2\""), kStateOne);
    rig.arm(get(kScaleSet), 200, etag("\"3\""), kStateOne);
    rig.arm(get(older), 200, etag(row.etag), row.body);
    if (row.status == 200) rig.arm(put(kScaleSet), 200, etag("\"5\""), kStateTwo);
    rig.ask("jvm", get(older));
    rig.ask("jvm", get(kScaleSet));
    EXPECT_EQ(rig.ask("jvm", put(kScaleSet), kWanted).head.status, row.status) << row.etag << row.body;
    EXPECT_TRUE(rig.script_is_done());
    EXPECT_EQ(row.status == 200, rig.seen().size() > 4 && rig.sent_field(4, "If-Match") == "\"3\"");
  }
}

// Each of those is one more GET under the lock. What is not compared counts as changed.
TEST(Bases, NoMoreOtherApiVersionsAreComparedThanTheOptionSays) {
  const auto at = [](std::string_view version) {
    return fmt::format("/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v?api-version={}",
                       version);
  };
  const std::string older = at("2024-03-01"), newer = at("2024-11-01");
  for (const size_t most : {2, 1, 0}) {
    auto options = StageRig::default_options();
    options.clients["jvm"].actors = policy::Actors::Many;
    options.versions_compared_max = most;
    StageRig rig(options);
    int moved = 0;
    const auto shows = [&](std::string_view target) {
      rig.arm(get(target), 200, etag(fmt::format("\"{}\"", moved)), kStateOne);
    };
    for (const std::string& target : {older, newer, std::string(kScaleSet)}) {
      ++moved;
      shows(target);
      rig.ask("jvm", get(target));
    }
    ++moved;
    shows(kScaleSet);
    if (most > 0) shows(newer);
    if (most > 1) shows(older);
    if (most > 1) rig.arm(put(kScaleSet), 200, etag("\"5\""), kStateTwo);
    EXPECT_EQ(rig.ask("jvm", put(kScaleSet), kWanted).head.status, most > 1 ? 200 : 412) << most;
    EXPECT_TRUE(rig.script_is_done());
  }
}

TEST(Bases, AnAnswerWithoutAStateIsVerifiedBeforeItIsBuiltOn) {
  const std::string made = R"({"sku":{"capacity":5,"name":"S"},"properties":{"provisioningState":"Succeeded"}})";
  StageRig rig;
  rig.arm(put(kScaleSet), 202);
  rig.arm(get(kScaleSet), 200, etag("\"1\""), made);  // the watcher learns that the create is over
  rig.arm(get(kScaleSet), 200, etag("\"1\""), made);  // the state is what the first write asked for
  rig.arm(put(kScaleSet), 200, etag("\"2\""), kStateTwo);
  rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":5}})");
  EXPECT_EQ(rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":6}})").head.status, 200);
  EXPECT_EQ(rig.sent_field(3, "If-Match"), "\"1\"");
}

TEST(Bases, AnAnswerWithoutAStateThatNoLongerHoldsIsStaleAndSaysWhere) {
  const std::string changed = R"({"sku":{"capacity":7},"properties":{"provisioningState":"Succeeded"}})";
  StageRig rig;
  rig.arm(put(kScaleSet), 202);
  rig.arm(get(kScaleSet), 200, etag("\"1\""), changed);
  rig.arm(get(kScaleSet), 200, etag("\"1\""), changed);
  rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":5}})");
  const auto answer = rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":6}})");
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_NE(answer.body.find("/sku/capacity"), std::string::npos);
  EXPECT_TRUE(rig.script_is_done());
}

// A cluster shows its pools, and keeps its ETag when one of them changes (docs of AKS, "use ETags").
TEST(Bases, AParentIsComparedAfterTheWriteOfAChildWhateverItsEtagSays) {
  const std::string cluster = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c";
  const std::string version = "?api-version=2025-10-01";
  const std::string pool = cluster + "/agentPools/blue" + version;
  const auto shown = [](int count) {
    return fmt::format(
        R"({{"eTag":"e1","properties":{{"provisioningState":"Succeeded","agentPoolProfiles":[{{"name":"blue","count":{}}}]}}}})",
        count);
  };
  const std::string tagged = R"({"tags":{"a":"1"},"properties":{"agentPoolProfiles":[{"name":"blue","count":1}]}})";
  StageRig rig(unmerged());
  rig.arm(get(cluster), 200, {}, shown(1));
  rig.arm(put(pool), 200, {}, R"({"properties":{"count":9,"eTag":"p2","provisioningState":"Succeeded"}})");
  rig.arm(get(cluster), 200, {}, shown(9));  // compared
  rig.ask("one", get(cluster + version));
  EXPECT_EQ(rig.ask("two", put(pool), R"({"properties":{"count":9}})").head.status, 200);
  const auto late = rig.ask("one", put(cluster + version), tagged);
  EXPECT_EQ(late.head.status, 412);
  EXPECT_NE(late.body.find("/properties/agentPoolProfiles"), std::string::npos) << late.body;
  EXPECT_TRUE(rig.script_is_done()) << "nothing was sent";

  rig.arm(get(cluster), 200, {}, shown(9));
  rig.arm(put(pool), 200, {}, R"({"properties":{"count":9,"eTag":"p3","provisioningState":"Succeeded"}})");
  rig.arm(get(cluster), 200, {}, shown(9));
  rig.arm(put(cluster), 200, {}, shown(9));
  rig.ask("one", get(cluster + version));
  EXPECT_EQ(rig.ask("two", put(pool), R"({"properties":{"count":9}})").head.status, 200);
  const auto in_time = rig.ask("one", put(cluster + version),
                               R"({"tags":{"a":"1"},"properties":{"agentPoolProfiles":[{"name":"blue","count":9}]}})");
  EXPECT_EQ(in_time.head.status, 200) << in_time.body;
  EXPECT_EQ(rig.seen().back().head.fields.get("If-Match"), "e1");
}

}  // namespace
}  // namespace armgate::world::find_bases_test
