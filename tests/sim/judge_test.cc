// The judge: it sees each harm, and stays silent where there is none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/sim_requests.h"

namespace armgate::sim {
namespace {

SimOptions synchronous() {
  SimOptions options;
  options.operation = Duration{};
  return options;
}

std::string tags(std::string_view members) { return R"({"location":"we","tags":{)" + std::string(members) + "}}"; }

arm::Headers write(const char* id) { return {{"x-sim-write-id", id}}; }

TEST(Judge, StaleFullPutLosesTheOtherClientsTag) {
  Bench bench(synchronous());
  bench.create(kScaleSet, tags(""));
  bench.ask("PUT", kScaleSet, tags(R"("a":"1")"), write("w1"));
  bench.ask("PUT", kScaleSet, tags(R"("b":"1")"), write("w2"));
  const Report report = bench.arm.report();
  EXPECT_EQ(report.lost_updates, 1u);
  EXPECT_EQ(report.vanished, 1u);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_NE(report.findings[0].find("tags/a"), std::string::npos);
  EXPECT_NE(report.findings[0].find("write w2"), std::string::npos);
}

TEST(Judge, MemberThatComesBackIsNoLongerLostButHadVanished) {
  Bench bench(synchronous());
  bench.create(kScaleSet, tags(R"("a":"1")"));
  bench.ask("PUT", kScaleSet, tags(""), write("w1"));
  bench.ask("PUT", kScaleSet, tags(R"("a":"1")"), write("w2"));
  EXPECT_EQ(bench.arm.report().lost_updates, 0u);
  EXPECT_EQ(bench.arm.report().vanished, 1u);
}

TEST(Judge, WhatIsRemovedOnPurposeIsNotLost) {
  Bench bench(synchronous());
  const std::string rule = R"({"location":"we","properties":{"securityRules":[{"name":"Ssh","properties":{}}]}})";
  bench.create(kScaleSet, tags(R"("a":"1","B":"2")"));
  bench.create(kSecurityGroup, rule);
  bench.create(kNetwork, R"({"location":"we","properties":{"subnets":[{"name":"s","properties":{}}]}})");
  bench.ask("PUT", kScaleSet, tags(R"("a":"1")"), {{"x-sim-deletes", "x, b"}});
  bench.ask("PATCH", kScaleSet + "/providers/Microsoft.Resources/tags/default",
            R"({"operation":"Delete","properties":{"tags":{"a":"1"}}})");
  bench.ask("DELETE", kSecurityGroup + "/securityRules/ssh");
  bench.ask("DELETE", kNetwork);
  EXPECT_EQ(bench.arm.report().vanished, 0u);
  EXPECT_EQ(bench.arm.report().lost_updates, 0u);
}

TEST(Judge, InlineRulesAndSubnetsAreWatchedToo) {
  Bench bench(synchronous());
  bench.create(kNetwork);
  bench.ask("PUT", kNetwork + "/subnets/a", R"({"properties":{}})");
  bench.ask("PUT", kNetwork, R"({"location":"we","properties":{"subnets":[]}})");
  bench.create(kSecurityGroup);
  bench.ask("PUT", kSecurityGroup + "/securityRules/r", R"({"properties":{}})");
  bench.ask("PUT", kSecurityGroup, R"({"location":"we"})");
  EXPECT_EQ(bench.arm.report().lost_updates, 2u);
}

TEST(Judge, UnacknowledgedWriteMayBeLostUntilItsResendIsAcknowledged) {
  Bench bench(synchronous());
  bench.create(kScaleSet, tags(""));
  arm::Headers dropped = write("w1");
  dropped.add("x-sim-fault", "drop-after");
  EXPECT_TRUE(bench.send("PUT", kScaleSet, tags(R"("a":"1")"), dropped).drop);
  bench.ask("PUT", kScaleSet, tags(""));
  EXPECT_EQ(bench.arm.report().lost_updates, 0u);
  bench.send("PUT", kScaleSet, tags(R"("b":"1")"), {{"x-sim-write-id", "w2"}, {"x-sim-fault", "drop-after"}});
  bench.ask("PUT", kScaleSet, tags(R"("b":"1")"), write("w2"));
  bench.ask("PUT", kScaleSet, tags(""));
  EXPECT_EQ(bench.arm.report().lost_updates, 1u);
}

TEST(Judge, CountersShowLostAndDoubledIncrements) {
  const auto put = [](Bench& bench, const char* id, int capacity) {
    bench.ask("PUT", kScaleSet, R"({"location":"we","sku":{"capacity":)" + std::to_string(capacity) + "}}",
              {{"x-sim-write-id", id}, {"x-sim-increments", "/sku/capacity:1"}});
  };
  struct Case {
    const char* name;
    std::vector<std::pair<const char*, int>> writes;
    uint64_t lost;
    uint64_t over;
  };
  const Case cases[] = {
      {"each counts on the other", {{"a", 3}, {"b", 4}}, 0, 0},
      {"both start from 2", {{"a", 3}, {"b", 3}}, 1, 0},
      {"one is applied as two", {{"a", 3}, {"a", 4}}, 0, 1},
      {"the same bytes again change nothing", {{"a", 3}, {"a", 3}}, 0, 0},
  };
  for (const Case& c : cases) {
    Bench bench(synchronous());
    bench.create(kScaleSet, R"({"location":"we","sku":{"capacity":2}})");
    for (const auto& [id, capacity] : c.writes) put(bench, id, capacity);
    EXPECT_EQ(bench.arm.report().lost_increments, c.lost) << c.name;
    EXPECT_EQ(bench.arm.report().overcounted_increments, c.over) << c.name;
  }
}

TEST(Judge, WriteAppliedTwiceIsSeenByItsIdOrByItsRequestIdAndBytes) {
  struct Case {
    const char* name;
    arm::Headers first;
    arm::Headers second;
    uint64_t twice;
  };
  const Case cases[] = {
      {"no ids", {}, {}, 0},
      {"one write id", write("w"), write("w"), 1},
      {"two write ids", write("w"), write("v"), 0},
      {"one request id", {{"x-ms-client-request-id", "r"}}, {{"x-ms-client-request-id", "r"}}, 1},
      {"two request ids", {{"x-ms-client-request-id", "r"}}, {{"x-ms-client-request-id", "q"}}, 0},
  };
  for (const Case& c : cases) {
    for (const char* action : {"/restart", ""}) {
      Bench bench(synchronous());
      bench.create(kScaleSet);
      const char* method = *action == '\0' ? "PUT" : "POST";
      bench.ask(method, kScaleSet + action, *action == '\0' ? tags("") : "", c.first);
      bench.ask(method, kScaleSet + action, *action == '\0' ? tags("") : "", c.second);
      EXPECT_EQ(bench.arm.report().applied_twice, c.twice) << c.name << action;
    }
  }
}

TEST(Judge, RefusedWriteSentAgainIsNotTwice) {
  Bench bench;
  bench.create(kScaleSet);
  bench.ask("POST", kScaleSet + "/restart", "", write("w1"));
  EXPECT_EQ(bench.ask("POST", kScaleSet + "/restart", "", write("w2")).head.status, 409);
  bench.pass(5000);
  EXPECT_EQ(bench.ask("POST", kScaleSet + "/restart", "", write("w2")).head.status, 202);
  const Report report = bench.arm.report();
  EXPECT_EQ(report.applied_twice, 0u);
  EXPECT_EQ(report.actions.at("restart"), 2u);
  EXPECT_EQ(report.overlaps_attempted, 1u);
}

TEST(Judge, OverlapsOfOneClientWithItselfAreCountedApart) {
  SimOptions options;
  options.exclusivity = Exclusivity::Accept;
  Bench bench(options);
  bench.create(kScaleSet);
  bench.ask("PUT", kScaleSet, tags(""), {{"x-sim-client", "one"}});
  bench.ask("PUT", kScaleSet, tags(""), {{"x-sim-client", "one"}});
  EXPECT_EQ(bench.arm.report().overlaps_own, 1u);
  EXPECT_EQ(bench.arm.report().overlaps_accepted, 0u);
  bench.ask("PUT", kScaleSet, tags(""), {{"x-sim-client", "two"}});
  EXPECT_EQ(bench.arm.report().overlaps_accepted, 1u);
  EXPECT_EQ(bench.arm.report().overlaps_attempted, 0u);
}

TEST(Judge, WriteBuiltFromAnotherStateIsStaleEvenIfNoMemberIsLost) {
  for (const bool by_etag : {false, true}) {
    Bench bench(synchronous());
    bench.create(kScaleSet, R"({"location":"we","sku":{"capacity":1}})");
    const arm::Response read = bench.ask("GET", kScaleSet);
    const arm::Headers base = by_etag
                                  ? arm::Headers{{"x-sim-base-etag", std::string(read.head.fields.get("ETag"))}}
                                  : arm::Headers{{"x-sim-base-version", std::string(read.head.fields.get("x-sim-version"))}};
    bench.ask("PUT", kScaleSet, R"({"location":"we","sku":{"capacity":2}})", base);
    EXPECT_EQ(bench.arm.report().stale_writes_accepted, 0u);
    bench.ask("PUT", kScaleSet, R"({"location":"we","sku":{"capacity":2}})", base);
    EXPECT_EQ(bench.arm.report().stale_writes_accepted, 1u);
  }
}

TEST(Judge, WriteBuiltFromAnOlderStateIsNotStaleIfAllThatIsNewerIsItsClientsOwnWork) {
  const auto sized = [](int capacity) { return fmt::format(R"({{"location":"we","sku":{{"capacity":{}}}}})", capacity); };
  Bench bench(synchronous());
  bench.create(kScaleSet, sized(1));
  const std::string base(bench.ask("GET", kScaleSet).head.fields.get("ETag"));
  const auto put = [&](int capacity, const char* client) {
    const arm::Headers said{{"x-sim-base-etag", base}, {"x-sim-client", client}};
    return std::string(bench.ask("PUT", kScaleSet, sized(capacity), said).head.fields.get("ETag"));
  };
  put(2, "one");
  const std::string own = put(3, "one");
  EXPECT_EQ(bench.arm.report().stale_writes_accepted, 0u);
  EXPECT_FALSE(bench.arm.is_newer(kScaleSet, own, base, "one"));
  EXPECT_TRUE(bench.arm.is_newer(kScaleSet, own, base, "two"));
  EXPECT_TRUE(bench.arm.is_newer(kScaleSet, own, base, "")) << "who does not say who it is knew nothing";
  put(4, "two");
  EXPECT_EQ(bench.arm.report().stale_writes_accepted, 1u);
  const std::string after_others = put(5, "one");
  EXPECT_EQ(bench.arm.report().stale_writes_accepted, 2u);
  EXPECT_TRUE(bench.arm.is_newer(kScaleSet, after_others, base, "one")) << "another's work stands between";
}

TEST(Judge, Refusal412IsUndeservedOnlyIfNothingAClientCanWriteHadChanged) {
  Bench bench;
  bench.create(kScaleSet, tags(""));
  const std::string base(bench.ask("PUT", kScaleSet, tags("")).head.fields.get("ETag"));
  bench.pass(5000);  // the end of the operation moves the ETag
  const arm::Headers guarded{{"If-Match", base}, {"x-sim-base-etag", base}};
  EXPECT_EQ(bench.ask("PUT", kScaleSet, tags(""), guarded).head.status, 412);
  EXPECT_EQ(bench.arm.report().undeserved_412, 1u);
  EXPECT_TRUE(bench.arm.is_current(kScaleSet, base));
  bench.ask("PUT", kScaleSet, tags(R"("a":"1")"));
  bench.pass(5000);
  EXPECT_EQ(bench.ask("PUT", kScaleSet, tags(""), guarded).head.status, 412);
  EXPECT_EQ(bench.arm.report().undeserved_412, 1u);
  EXPECT_EQ(bench.arm.report().precondition_failed, 2u);
  EXPECT_FALSE(bench.arm.is_current(kScaleSet, base));
}

TEST(Judge, SafeClientsLeaveNoTrace) {
  Bench bench;
  bench.create(kScaleSet, tags(""));
  std::string members;
  for (int i = 0; i < 5; ++i) {
    const arm::Response read = bench.ask("GET", kScaleSet);
    members += (members.empty() ? "\"t" : ",\"t") + std::to_string(i) + "\":\"1\"";
    const std::string id = "w" + std::to_string(i);
    EXPECT_EQ(bench
                  .ask("PUT", kScaleSet, tags(members),
                       {{"If-Match", std::string(read.head.fields.get("ETag"))},
                        {"x-sim-write-id", id},
                        {"x-sim-base-version", std::string(read.head.fields.get("x-sim-version"))}})
                  .head.status,
              200);
    bench.pass(5000);
  }
  const Report report = bench.arm.report();
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.lost_updates + report.overlaps_attempted + report.applied_twice + report.stale_writes_accepted, 0u);
}

}  // namespace
}  // namespace armgate::sim
