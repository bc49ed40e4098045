// ETags: when they move, where they are shown, and what a condition that fails is answered with.
#include <gtest/gtest.h>

#include "tests/sim/sim_requests.h"

namespace armgate::sim {
namespace {

TEST(SimEtag, ComputeShowsNumbersInHeaderAndBodyAndMovesThemAgainAtTheEndOfTheOperation) {
  Bench bench;
  bench.ask("PUT", kGroup, R"({"location":"westeurope"})");
  const arm::Response created = bench.ask("PUT", kScaleSet, R"({"location":"westeurope","sku":{"capacity":1}})");
  EXPECT_EQ(created.head.status, 201);
  EXPECT_EQ(created.head.fields.get("ETag"), "\"1\"");
  EXPECT_EQ(body_of(created)["etag"], "\"1\"");
  EXPECT_EQ(body_of(created)["properties"]["provisioningState"], "Creating");
  bench.pass(5000);
  const arm::Response read = bench.ask("GET", kScaleSet);
  EXPECT_EQ(read.head.fields.get("ETag"), "\"2\"");
  EXPECT_EQ(body_of(read)["properties"]["provisioningState"], "Succeeded");
  const arm::Response updated = bench.ask("PUT", kScaleSet, R"({"location":"westeurope","sku":{"capacity":2}})");
  EXPECT_EQ(updated.head.status, 200);
  EXPECT_EQ(updated.head.fields.get("ETag"), "\"3\"");
  EXPECT_EQ(body_of(updated)["properties"]["provisioningState"], "Updating");
}

TEST(SimEtag, NetworkShowsItInEveryBodyButInTheHeaderOfAGetOnly) {
  Bench bench;
  bench.create(kNetwork);
  const arm::Response put = bench.ask("PUT", kNetwork + "/subnets/a", R"({"properties":{"addressPrefix":"10.0.0.0/24"}})");
  EXPECT_EQ(put.head.status, 201);
  EXPECT_FALSE(put.head.fields.has("ETag"));
  EXPECT_TRUE(body_of(put)["etag"].get<std::string>().starts_with("W/\""));
  const arm::Response whole = bench.ask("GET", kNetwork);
  const nlohmann::json body = body_of(whole);
  EXPECT_EQ(whole.head.fields.get("ETag"), body["etag"].get<std::string>());
  EXPECT_EQ(body["properties"]["subnets"][0]["etag"], body["etag"]);
  EXPECT_EQ(bench.ask("GET", kNetwork + "/subnets/a").head.fields.get("ETag"), body["etag"].get<std::string>());
}

TEST(SimEtag, GroupsAndStorageAccountsHaveNone) {
  Bench bench;
  bench.create(kStorage);
  for (const std::string_view path : {kGroup, std::string_view(kStorage)}) {
    const arm::Response read = bench.ask("GET", path);
    EXPECT_EQ(read.head.status, 200);
    EXPECT_FALSE(read.head.fields.has("ETag"));
    EXPECT_FALSE(body_of(read).contains("etag"));
    EXPECT_EQ(bench.ask("PUT", path, R"({"location":"westeurope"})", {{"If-Match", "\"9\""}}).head.status, 200);
  }
}

TEST(SimEtag, ConditionsFollowTheContractsTable) {
  struct Case {
    const char* method;
    arm::Headers condition;
    int missing;
    int present;
  };
  // The present resource has ETag "2".
  const Case cases[] = {
      {"PUT", {}, 201, 200},
      {"PUT", {{"If-Match", ""}}, 201, 200},
      {"PUT", {{"If-Match", "*"}}, 412, 200},
      {"PUT", {{"If-Match", "\"2\""}}, 412, 200},
      {"PUT", {{"If-Match", "\"7\""}}, 412, 412},
      {"PUT", {{"If-Match", "\"7\", \"2\""}}, 412, 200},
      {"PUT", {{"If-None-Match", "*"}}, 201, 412},
      {"PATCH", {}, 404, 200},
      {"PATCH", {{"If-Match", ""}}, 404, 200},
      {"PATCH", {{"If-Match", "*"}}, 404, 200},
      {"PATCH", {{"If-Match", "\"7\""}}, 404, 412},
      {"DELETE", {}, 204, 202},
      {"DELETE", {{"If-Match", "*"}}, 204, 202},
      {"DELETE", {{"If-Match", "\"7\""}}, 204, 412},
  };
  for (const Case& c : cases) {
    const std::string_view body = c.method == std::string_view("DELETE") ? "" : R"({"location":"westeurope"})";
    Bench missing;
    missing.ask("PUT", kGroup, R"({"location":"westeurope"})");
    EXPECT_EQ(missing.ask(c.method, kScaleSet, body, c.condition).head.status, c.missing) << c.method;
    Bench present;
    present.create(kScaleSet);
    EXPECT_EQ(present.ask(c.method, kScaleSet, body, c.condition).head.status, c.present) << c.method;
  }
}

TEST(SimEtag, Refusals412AreWordedAsObserved) {
  Bench compute;
  compute.create(kScaleSet);
  EXPECT_EQ(compute.ask("PUT", kScaleSet, "{}", {{"If-Match", "\"invalid\""}}).body,
            R"({"error":{"code":"PreconditionFailed","message":"Etag provided in if-match header \"invalid\")"
            R"( does not match etag \"2\" of resource."}})");
  Bench network;
  network.create(kNetwork);
  const std::string etag = body_of(network.ask("GET", kNetwork))["etag"];
  const nlohmann::json error = body_of(network.ask("PUT", kNetwork, "{}", {{"If-Match", "invalid"}}))["error"];
  EXPECT_EQ(error["code"], "PreconditionFailed");
  EXPECT_EQ(error["message"], "Precondition failed.");
  EXPECT_EQ(error["details"][0]["code"], "PreconditionFailedEtagMismatch");
  EXPECT_EQ(error["details"][0]["message"], "Etag provided in if-match header W/\"invalid\" does not match etag " + etag +
                                                " of resource " + kNetwork + " in NRP data store.");
}

TEST(SimEtag, NeighbourMovesEtagsWithoutChangingAnything) {
  SimOptions options;
  options.neighbour_every = std::chrono::seconds(10);
  Bench bench(options);
  bench.create(kScaleSet);
  const std::string before(bench.ask("GET", kScaleSet).head.fields.get("ETag"));
  const std::string version(bench.ask("GET", kScaleSet).head.fields.get("x-sim-version"));
  bench.pass(100'000);
  EXPECT_NE(bench.ask("GET", kScaleSet).head.fields.get("ETag"), before);
  EXPECT_EQ(bench.ask("GET", kScaleSet).head.fields.get("x-sim-version"), version);
  EXPECT_TRUE(bench.arm.is_current(kScaleSet, before));
}

TEST(SimEtag, LaggingReplicaAnswersWithAnOlderStateAndItsOwnEtag) {
  SimOptions options;
  options.stale_read_chance = 1;
  options.stale_by = std::chrono::seconds(10);
  options.operation = Duration{};
  Bench bench(options);
  bench.create(kScaleSet, R"({"location":"westeurope","tags":{"a":"1"}})");
  const std::string etag(bench.ask("GET", kScaleSet).head.fields.get("ETag"));
  bench.ask("PUT", kScaleSet, R"({"location":"westeurope","tags":{"a":"2"}})");
  bench.pass(9'000);
  EXPECT_EQ(body_of(bench.ask("GET", kScaleSet))["tags"]["a"], "1");
  EXPECT_EQ(bench.ask("GET", kScaleSet).head.fields.get("ETag"), etag);
  bench.pass(1'000);
  EXPECT_EQ(body_of(bench.ask("GET", kScaleSet))["tags"]["a"], "2");
}

}  // namespace
}  // namespace armgate::sim
