// Resources and their bodies: ids, children, tags, lists, groups, and requests that ARM refuses.
#include <gtest/gtest.h>

#include "tests/sim/sim_requests.h"

namespace armgate::sim {
namespace {

constexpr std::string_view kResourcePlace = R"({"location":"westeurope"})";

SimOptions synchronous() {
  SimOptions options;
  options.operation = Duration{};
  return options;
}

TEST(SimResource, IdsIgnoreCaseAndKeepTheirFirstSpelling) {
  Bench bench(synchronous());
  bench.create(kScaleSet);
  const arm::Response read =
      bench.ask("GET", "/SUBSCRIPTIONS/S1/resourcegroups/G1/providers/microsoft.compute/VIRTUALMACHINESCALESETS/VMSS1");
  EXPECT_EQ(read.head.status, 200);
  EXPECT_EQ(body_of(read)["id"], kScaleSet);
  EXPECT_EQ(body_of(read)["type"], "Microsoft.Compute/virtualMachineScaleSets");
}

TEST(SimResource, SubnetsWrittenInlineAndAsResourcesAreOneObject) {
  Bench bench(synchronous());
  bench.create(kNetwork, R"({"location":"we","properties":{"subnets":[{"name":"a","properties":{"addressPrefix":"1"}}]}})");
  EXPECT_EQ(body_of(bench.ask("GET", kNetwork + "/subnets/A"))["properties"]["addressPrefix"], "1");
  EXPECT_EQ(bench.ask("PUT", kNetwork + "/subnets/b", R"({"properties":{"addressPrefix":"2"}})").head.status, 201);
  EXPECT_EQ(body_of(bench.ask("GET", kNetwork))["properties"]["subnets"].size(), 2u);
  EXPECT_EQ(body_of(bench.ask("GET", kNetwork + "/subnets"))["value"][1]["id"], kNetwork + "/subnets/b");
  EXPECT_EQ(bench.ask("DELETE", kNetwork + "/subnets/a").head.status, 200);
  EXPECT_EQ(bench.ask("GET", kNetwork + "/subnets/a").head.status, 404);
  bench.ask("PUT", kNetwork, R"({"location":"we","properties":{"subnets":[]}})");
  EXPECT_EQ(bench.ask("GET", kNetwork + "/subnets/b").head.status, 404);
}

TEST(SimResource, ReadBodyCanBePutBackUnchanged) {
  Bench bench(synchronous());
  bench.create(kNetwork, R"({"location":"we","properties":{"subnets":[{"name":"a","properties":{"addressPrefix":"1"}}]}})");
  const arm::Response before = bench.ask("GET", kNetwork);
  EXPECT_EQ(bench.ask("PUT", kNetwork, before.body).head.status, 200);
  EXPECT_EQ(bench.ask("GET", kNetwork).head.fields.get("x-sim-version"), before.head.fields.get("x-sim-version"));
}

TEST(SimResource, PatchReplacesTagsAndMergesTheRest) {
  Bench bench(synchronous());
  bench.create(kScaleSet, R"({"location":"we","tags":{"a":"1"},"sku":{"name":"x","capacity":1},"properties":{"p":1}})");
  bench.ask("PATCH", kScaleSet, R"({"tags":{"b":"2"},"sku":{"capacity":5}})");
  const nlohmann::json body = body_of(bench.ask("GET", kScaleSet));
  EXPECT_EQ(body["tags"], (nlohmann::json{{"b", "2"}}));
  EXPECT_EQ(body["sku"], (nlohmann::json{{"name", "x"}, {"capacity", 5}}));
  EXPECT_EQ(body["properties"]["p"], 1);
}

TEST(SimResource, TagsResourceMergesReplacesAndDeletes) {
  Bench bench(synchronous());
  bench.create(kScaleSet, R"({"location":"we","tags":{"a":"1"}})");
  for (const std::string& scope : {kScaleSet, std::string(kGroup)}) {
    const std::string path = scope + "/providers/Microsoft.Resources/tags/default";
    const auto patch = [&](const char* operation, const char* tags) {
      bench.ask("PATCH", path, std::string(R"({"operation":")") + operation + R"(","properties":{"tags":)" + tags + "}}");
      return body_of(bench.ask("GET", path))["properties"]["tags"].dump();
    };
    EXPECT_EQ(patch("Replace", R"({"x":"1","y":"2"})"), R"({"x":"1","y":"2"})");
    EXPECT_EQ(patch("Merge", R"({"z":"3","x":"4"})"), R"({"x":"4","y":"2","z":"3"})");
    EXPECT_EQ(patch("Delete", R"({"x":"4","y":"2"})"), R"({"z":"3"})");
    EXPECT_EQ(body_of(bench.ask("GET", scope))["tags"].dump(), R"({"z":"3"})");
    EXPECT_EQ(bench.ask("DELETE", path).head.status, 200);
    EXPECT_EQ(body_of(bench.ask("GET", path))["properties"]["tags"].dump(), "{}");
    EXPECT_EQ(bench.ask("PATCH", path, R"({"operation":"Join","properties":{"tags":{}}})").head.status, 400);
  }
}

TEST(SimResource, LongListsComeInPages) {
  SimOptions options = synchronous();
  options.page_items = 2;
  Bench bench(options);
  bench.create(kNetwork);
  const std::string collection = std::string(kGroup) + "/providers/Microsoft.Network/virtualNetworks";
  for (const char* name : {"/b", "/c", "/d", "/e"}) bench.ask("PUT", collection + name, kResourcePlace);
  size_t items = 0;
  size_t pages = 0;
  arm::Response page = bench.ask("GET", collection);
  while (true) {
    ++pages;
    items += body_of(page)["value"].size();
    if (!body_of(page).contains("nextLink")) break;
    page = bench.follow(body_of(page)["nextLink"].get<std::string>());
  }
  EXPECT_EQ(items, 5u);
  EXPECT_EQ(pages, 3u);
  EXPECT_EQ(body_of(bench.ask("GET", "/subscriptions/s1/resourceGroups"))["value"].size(), 1u);
  EXPECT_EQ(body_of(bench.ask("GET", std::string(kGroup) + "/resources"))["value"].size(), 2u);
}

TEST(SimResource, YoungGroupIsUnknownToProvidersForAWhile) {
  SimOptions options;
  options.group_lag = std::chrono::seconds(8);
  Bench bench(options);
  EXPECT_EQ(bench.ask("HEAD", kGroup).head.status, 404);
  EXPECT_EQ(bench.ask("PUT", kGroup, kResourcePlace).head.status, 201);
  EXPECT_EQ(bench.ask("GET", kGroup).head.status, 200);
  EXPECT_EQ(bench.ask("HEAD", kGroup).head.status, 204);
  const arm::Response early = bench.ask("PUT", kScaleSet, kResourcePlace);
  EXPECT_EQ(early.head.status, 404);
  EXPECT_EQ(code_of(early), "ResourceGroupNotFound");
  EXPECT_EQ(early.head.fields.get("x-ms-failure-cause"), "gateway");
  bench.pass(8000);
  EXPECT_EQ(bench.ask("PUT", kScaleSet, kResourcePlace).head.status, 201);
  EXPECT_EQ(bench.arm.report().group_not_found, 1u);
}

TEST(SimResource, DeletedGroupTakesItsResourcesAlongAndTakesNoWritesMeanwhile) {
  Bench bench;
  bench.create(kScaleSet);
  const arm::Response accepted = bench.ask("DELETE", kGroup);
  EXPECT_EQ(accepted.head.fields.get("Location").find("resourceGroups"), std::string_view::npos);
  EXPECT_EQ(code_of(bench.ask("PUT", kNetwork, kResourcePlace)), "ResourceGroupBeingDeleted");
  EXPECT_EQ(code_of(bench.ask("PUT", kGroup, kResourcePlace)), "ResourceGroupBeingDeleted");
  bench.pass(5000);
  EXPECT_EQ(code_of(bench.ask("GET", kScaleSet)), "ResourceGroupNotFound");
  bench.ask("PUT", kGroup, kResourcePlace);
  EXPECT_EQ(bench.ask("GET", kScaleSet).head.status, 404);
}

TEST(SimResource, BadRequestsAreRefusedByName) {
  struct Case {
    const char* method;
    std::string target;
    std::string_view body;
    int status;
    std::string code;
  };
  const Case cases[] = {
      {"GET", kScaleSet + "?", "", 400, "MissingApiVersionParameter"},
      {"PUT", kScaleSet, "{", 400, "InvalidRequestContent"},
      {"PUT", kScaleSet, "[]", 400, "InvalidRequestContent"},
      {"PUT", kScaleSet, "", 400, "InvalidRequestContent"},
      {"PUT", kScaleSet, R"({"location":"we","tags":{"a":1}})", 400, "InvalidRequestContent"},
      {"PUT", kNetwork, R"({"location":"we","properties":{"subnets":[{}]}})", 400, "InvalidRequestContent"},
      {"PUT", kNetwork, R"({"location":"we","properties":7})", 400, "InvalidRequestContent"},
      {"PUT", kScaleSet, "{}", 400, "LocationRequired"},
      {"PUT", kNetwork + "/subnets/a", "{}", 404, "ParentResourceNotFound"},
      {"PATCH", kScaleSet, "{}", 404, "ResourceNotFound"},
      {"POST", kScaleSet + "/restart", "", 404, "ResourceNotFound"},
      {"PUT", std::string(kGroup) + "/providers/Microsoft.Network", "{}", 405, "MethodNotAllowed"},
      {"GET", "/nothing", "", 404, "NotFound"},
      {"GET", "/%zz//%", "", 404, "NotFound"},
  };
  for (const Case& c : cases) {
    Bench bench;
    bench.ask("PUT", kGroup, kResourcePlace);
    const arm::Response answer = bench.ask(c.method, c.target, c.body);
    EXPECT_EQ(answer.head.status, c.status) << c.method << " " << c.target << " " << c.body;
    EXPECT_EQ(code_of(answer), c.code) << c.method << " " << c.target << " " << c.body;
  }
}

TEST(SimResource, SameSeedGivesTheSameBytes) {
  const auto run = [] {
    Bench bench;
    bench.create(kNetwork);
    std::string trace;
    for (const char* path : {"/subnets/a", "/subnets/b", ""}) {
      const arm::Response answer = bench.ask("PUT", kNetwork + path, kResourcePlace);
      trace += answer.body;
      for (const arm::Field& field : answer.head.fields) trace.append(field.name).append(field.value);
      bench.pass(6000);
    }
    return trace;
  };
  EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace armgate::sim
