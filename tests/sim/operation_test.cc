// Long-running operations: how they are announced, what their URLs answer, what they exclude, how they end.
#include <gtest/gtest.h>

#include "tests/sim/sim_requests.h"

namespace armgate::sim {
namespace {

constexpr std::string_view kOperationPlace = R"({"location":"westeurope"})";

TEST(SimOperation, EachKindOfWriteIsAnnouncedInItsOwnWay) {
  struct Case {
    std::string path;
    const char* method;
    std::string_view body;
    int status;
    bool status_url;
    bool location;
  };
  const Case cases[] = {
      {kScaleSet, "PUT", kOperationPlace, 200, true, false},
      {kScaleSet, "PATCH", R"({"sku":{"capacity":3}})", 200, true, false},
      {kScaleSet, "DELETE", "", 202, true, true},
      {kScaleSet + "/restart", "POST", "", 202, true, true},
      {kSecurityGroup, "PUT", kOperationPlace, 200, true, false},
      {kSecurityGroup + "/securityRules/r", "PUT", R"({"properties":{}})", 201, true, false},
      {kNetwork, "PUT", kOperationPlace, 200, true, false},
      {kNetwork + "/subnets/a", "PUT", R"({"properties":{}})", 201, true, false},
      {kNetwork, "DELETE", "", 202, true, true},
      {std::string(kGroup), "DELETE", "", 202, false, true},
      {std::string(kGroup), "PUT", kOperationPlace, 200, false, false},
  };
  for (const Case& c : cases) {
    Bench bench;
    for (const std::string& path : {kScaleSet, kSecurityGroup, kNetwork}) bench.create(path);
    const arm::Response answer = bench.ask(c.method, c.path, c.body);
    EXPECT_EQ(answer.head.status, c.status) << c.method << " " << c.path;
    EXPECT_EQ(answer.head.fields.has("Azure-AsyncOperation"), c.status_url) << c.method << " " << c.path;
    EXPECT_EQ(answer.head.fields.has("Location"), c.location) << c.method << " " << c.path;
    EXPECT_EQ(answer.head.fields.get("Retry-After"), c.status_url || c.location ? "1" : "") << c.method << " " << c.path;
  }
}

TEST(SimOperation, StatusUrlTellsProgressAndLocationUrlTheResult) {
  Bench bench;
  bench.create(kScaleSet);
  const arm::Response accepted = bench.ask("DELETE", kScaleSet);
  const std::string status(accepted.head.fields.get("Azure-AsyncOperation"));
  const std::string location(accepted.head.fields.get("Location"));
  EXPECT_EQ(body_of(bench.follow(status))["status"], "InProgress");
  EXPECT_EQ(bench.follow(location).head.status, 202);
  EXPECT_EQ(body_of(bench.ask("GET", kScaleSet))["properties"]["provisioningState"], "Deleting");
  bench.pass(5000);
  EXPECT_EQ(body_of(bench.follow(status))["status"], "Succeeded");
  EXPECT_EQ(bench.follow(location).head.status, 204);
  EXPECT_EQ(bench.ask("GET", kScaleSet).head.status, 404);
}

TEST(SimOperation, AnyOtherSpellingOfASignedUrlIsRefused) {
  Bench bench;
  bench.create(kScaleSet);
  const std::string url(bench.ask("PUT", kScaleSet, kOperationPlace).head.fields.get("Azure-AsyncOperation"));
  EXPECT_GT(url.size(), 500u);
  EXPECT_EQ(bench.follow(url).head.status, 200);
  const size_t escape = url.find("%2");
  ASSERT_NE(escape, std::string::npos);
  std::string upper = url;
  upper.replace(url.find("api-version"), 3, "Api");
  std::string decoded = url;
  decoded.replace(escape, 3, "/");
  for (const std::string& changed : {upper, decoded, url + "&x=1", url.substr(0, url.size() - 1)}) {
    EXPECT_EQ(bench.follow(changed).head.status, 403);
  }
  EXPECT_EQ(bench.arm.report().bad_signatures, 4u);
  EXPECT_EQ(bench.follow("https://management.azure.com/subscriptions/s1/operationresults/none").head.status, 404);
}

TEST(SimOperation, SecondWriteToTheSameEntityIsRefusedUntilTheFirstHasEnded) {
  struct Case {
    const char* name;
    std::string first;
    std::string second;
    std::string code;  // empty: taken
  };
  const std::string rules = kSecurityGroup + "/securityRules/";
  const Case cases[] = {
      {"scale set", kScaleSet, kScaleSet, "ConflictingConcurrentWriteNotAllowed"},
      {"network", kNetwork, kNetwork, "AnotherOperationInProgress"},
      {"subnet in network", kNetwork, kNetwork + "/subnets/a", "AnotherOperationInProgress"},
      {"network of subnet", kNetwork + "/subnets/a", kNetwork, "AnotherOperationInProgress"},
      {"two subnets", kNetwork + "/subnets/a", kNetwork + "/subnets/b", "AnotherOperationInProgress"},
      {"one rule", rules + "a", rules + "A", "AnotherOperationInProgress"},
      {"two rules", rules + "a", rules + "b", ""},
      {"rule in its group", kSecurityGroup, rules + "a", ""},
      {"unrelated", kNetwork, kScaleSet, ""},
  };
  for (const Case& c : cases) {
    Bench bench;
    for (const std::string& path : {kScaleSet, kSecurityGroup, kNetwork}) bench.create(path);
    bench.ask("PUT", c.first, kOperationPlace);
    EXPECT_EQ(code_of(bench.ask("PUT", c.second, kOperationPlace)), c.code) << c.name;
    EXPECT_EQ(bench.arm.report().overlaps_attempted, c.code.empty() ? 0u : 1u) << c.name;
    bench.pass(5000);
    EXPECT_LT(bench.ask("PUT", c.second, kOperationPlace).head.status, 300) << c.name;
    EXPECT_EQ(bench.arm.report().overlaps_accepted, 0u) << c.name;
  }
}

TEST(SimOperation, NetworksRefusalNamesTheRunningOperation) {
  Bench bench;
  bench.create(kNetwork);
  const std::string url(bench.ask("PUT", kNetwork, kOperationPlace).head.fields.get("Azure-AsyncOperation"));
  const std::string message = body_of(bench.ask("PUT", kNetwork, kOperationPlace))["error"]["message"];
  EXPECT_NE(message.find(url + "."), std::string::npos);
}

TEST(SimOperation, SupersedingCancelsTheRunningOperation) {
  SimOptions options;
  options.exclusivity = Exclusivity::Supersede;
  Bench bench(options);
  bench.create(kNetwork);
  const std::string first(bench.ask("PUT", kNetwork, kOperationPlace).head.fields.get("Azure-AsyncOperation"));
  EXPECT_EQ(bench.ask("PUT", kNetwork, kOperationPlace).head.status, 200);
  const nlohmann::json status = body_of(bench.follow(first));
  EXPECT_EQ(status["status"], "Canceled");
  EXPECT_EQ(status["error"]["details"][0]["code"], "CanceledAndSupersededDueToAnotherOperation");
  EXPECT_EQ(bench.arm.report().overlaps_accepted, 1u);
}

TEST(SimOperation, FailedOperationBringsTheOldContentBackAndNobodyIsBlamed) {
  Bench bench;
  bench.create(kScaleSet, R"({"location":"westeurope","tags":{"a":"1"}})");
  const arm::Response put = bench.ask("PUT", kScaleSet, R"({"tags":{"a":"1","b":"2"}})",
                                      {{"x-sim-operation-result", "Failed"}, {"x-sim-write-id", "w"}});
  bench.pass(5000);
  EXPECT_EQ(body_of(bench.follow(put.head.fields.get("Azure-AsyncOperation")))["status"], "Failed");
  EXPECT_FALSE(body_of(bench.ask("GET", kScaleSet))["tags"].contains("b"));
  EXPECT_EQ(bench.arm.report().lost_updates, 0u);
}

TEST(SimOperation, AnOperationFailsLaterIfTheScriptSaysSoWithOrWithoutEffect) {
  Bench bench;
  bench.create(kScaleSet, R"({"location":"westeurope","tags":{"a":"1"}})");
  const auto fail = [&](const std::string& kind, const std::string& body) {
    EXPECT_EQ(bench.ask("POST", "/__sim/faults", R"({"faults":[{"kind":")" + kind + R"("}]})").head.status, 204);
    EXPECT_EQ(bench.ask("GET", kScaleSet).head.status, 200) << "a read is not struck";
    const arm::Response put = bench.ask("PUT", kScaleSet, body);
    EXPECT_EQ(put.head.status, 200);
    bench.pass(5000);
    const nlohmann::json status = body_of(bench.follow(put.head.fields.get("Azure-AsyncOperation")));
    EXPECT_EQ(status["status"], "Failed");
    EXPECT_EQ(status["error"]["code"], "QuotaExceeded");
    return body_of(bench.ask("GET", kScaleSet));
  };
  const nlohmann::json without = fail("fail-later-QuotaExceeded", R"({"location":"westeurope","tags":{"a":"1","b":"1"}})");
  EXPECT_FALSE(without["tags"].contains("b"));
  EXPECT_EQ(without["properties"]["provisioningState"], "Succeeded");
  const nlohmann::json partly = fail("fail-partly-QuotaExceeded", R"({"location":"westeurope","tags":{"a":"1","b":"1"}})");
  EXPECT_TRUE(partly["tags"].contains("b"));
  EXPECT_EQ(partly["properties"]["provisioningState"], "Failed");
  bench.ask("PUT", kScaleSet, R"({"location":"westeurope","tags":{"a":"1","b":"2"}})");
  bench.pass(5000);
  EXPECT_EQ(body_of(bench.ask("GET", kScaleSet))["properties"]["provisioningState"], "Succeeded");
  EXPECT_EQ(bench.arm.report().lost_updates, 0u);
}

TEST(SimOperation, TrapsAreSwitchable) {
  SimOptions options;
  options.state_shown = StateShown::Succeeded;
  Bench shown(options);
  shown.create(kNetwork);
  const arm::Response put = shown.ask("PUT", kNetwork, kOperationPlace);
  EXPECT_EQ(body_of(put)["properties"]["provisioningState"], "Succeeded");
  EXPECT_EQ(body_of(shown.follow(put.head.fields.get("Azure-AsyncOperation")))["status"], "InProgress");

  options = {};
  options.update_announced = UpdateAnnounced::StateOnly;
  Bench silent(options);
  silent.create(kScaleSet);
  const arm::Response update = silent.ask("PUT", kScaleSet, kOperationPlace);
  EXPECT_EQ(body_of(update)["properties"]["provisioningState"], "Updating");
  EXPECT_FALSE(update.head.fields.has("Azure-AsyncOperation"));

  options = {};
  options.url_escapes = UrlEscapes::None;
  Bench plain(options);
  plain.create(kNetwork);
  const std::string url(plain.ask("PUT", kNetwork, kOperationPlace).head.fields.get("Azure-AsyncOperation"));
  EXPECT_EQ(url.find('%'), std::string::npos) << url;
}

TEST(SimOperation, StorageAccountsAnswer202WithAnEmptyBodyAndALocation) {
  SimOptions options;
  options.operation_by_type["microsoft.storage/storageaccounts"] = std::chrono::seconds(2);
  Bench bench(options);
  bench.ask("PUT", kGroup, kOperationPlace);
  const arm::Response put = bench.ask("PUT", kStorage, kOperationPlace);
  EXPECT_EQ(put.head.status, 202);
  EXPECT_TRUE(put.body.empty());
  EXPECT_FALSE(put.head.fields.has("Azure-AsyncOperation"));
  bench.pass(2000);
  EXPECT_EQ(body_of(bench.follow(put.head.fields.get("Location")))["name"], "store1");
}

TEST(SimOperation, NextEventIsTheNextEndAndNothingWhenNothingRuns) {
  Bench bench;
  EXPECT_EQ(bench.arm.next_event(), std::nullopt);
  bench.ask("PUT", kGroup, kOperationPlace);
  bench.ask("PUT", kScaleSet, kOperationPlace, {{"x-sim-operation-ms", "750"}});
  EXPECT_EQ(bench.arm.next_event(), bench.now + std::chrono::milliseconds(750));
  bench.pass(750);
  EXPECT_EQ(bench.arm.next_event(), std::nullopt);
}

}  // namespace
}  // namespace armgate::sim
