// `armgate explain`, as it is called.
#include "cli/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/fixture.h"

namespace armgate {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST_F(Cli, ExplainSaysWhatWouldBeDoneAndWhoSaysSo) {
  const std::string path =
      "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n?api-version=2023-09-01";
  EXPECT_EQ(run({"explain", "PUT", "https://management.azure.com" + path}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("etag: carries the ETag"));
  EXPECT_THAT(out.str(), HasSubstr("conf/rules/network.json:"));
  EXPECT_THAT(out.str(), HasSubstr("50s at most   [the configuration]"));
  EXPECT_THAT(out.str(), HasSubstr("/properties/bgpCommunities/regionalCommunity,\n   ")) << "a long list is no long line";
  EXPECT_THAT(err.str(), IsEmpty());

  const auto body = directory.path() / "body.json";
  std::ofstream(body) << R"({"etag": "W/\"7\"", "properties": {}})";
  EXPECT_EQ(run({"explain", "PUT", path, "--body", body.string(), "--client", "nightly", "--output", "json"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr(R"("value": "W/\"7\": goes along as If-Match")"));
  EXPECT_THAT(out.str(), HasSubstr(R"("value": "nightly, one actor, unless a write looks stale")"));
  EXPECT_THAT(out.str(), StartsWith("{\n  \"resource\": {\n    \"value\": \"/subscriptions/s/resourcegroups/g/"));

  const std::string subnet = path.substr(0, path.find('?')) + "/subnets/a?api-version=2023-09-01";
  const std::string group = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkSecurityGroups/nsg";
  std::ofstream(body) << R"({"properties": {"networkSecurityGroup": {"id": ")" << group << "\"}}}";
  EXPECT_EQ(run({"explain", "PUT", subnet, "--body", body.string()}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("/networksecuritygroups/nsg (shared, until the "));
  EXPECT_EQ(run({"explain", "PUT", subnet}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("give it with --body to see"));

  const std::string in_capitals = (run({"explain", "PATCH", path}), out.str());
  EXPECT_EQ(run({"explain", "patch", path}), kExitDone);
  EXPECT_EQ(out.str(), in_capitals) << "a server may take it for that";

  EXPECT_EQ(run({"explain", "GET", "https://login.microsoftonline.com/x"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("tunnelled untouched"));
}

TEST_F(Cli, ExplainSaysWhatAPutWasBuiltFromAndWhy) {
  const std::string path =
      "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n?api-version=2023-09-01";
  const auto write = [&](const char* name, std::string_view text) { return directory.write(name, text).string(); };
  const auto first = write("first.json", R"({"etag":"W/\"1\"","location":"w","tags":{"a":"1"},"properties":{}})");
  const auto second = write("second.json", R"({"etag":"W/\"2\"","location":"w","tags":{"a":"1","b":"1"},"properties":{}})");
  const auto body = write("put.json", R"({"location":"w","tags":{"a":"1","b":"1","mine":"1"},"properties":{}})");
  EXPECT_EQ(run({"explain", "PUT", path, "--body", body, "--shown", first, "--shown", second}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("first.json: they differ at /tags/b, /tags/mine"));
  EXPECT_THAT(out.str(), HasSubstr("second.json: they differ at /tags/mine"));
  EXPECT_THAT(out.str(), HasSubstr("shown 2 (newest): it is sent with If-Match W/\"2\""));

  const auto without_b = write("without_b.json", R"({"location":"w","tags":{"a":"1","mine":"1"},"properties":{}})");
  EXPECT_EQ(run({"explain", "PUT", path, "--body", without_b, "--shown", first, "--shown", second}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("shown 1 or shown 2 (any-shown): what is there is compared with each of them"));
  const auto single = directory.write("single.json", R"({"clients": {"nightly": {"actor": "single"}}})");
  EXPECT_EQ(run({"explain", "PUT", path, "--config", single.string(), "--client", "nightly", "--body", without_b, "--shown",
                 first, "--shown", second}),
            kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("shown 2 (newest): it is sent with If-Match W/\"2\""));
  EXPECT_THAT(out.str(), HasSubstr("nightly, one actor "));

  EXPECT_EQ(run({"explain", "PUT", path, "--body", body, "--shown", "404", "--shown", first}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("404: there was none\n"));
  EXPECT_THAT(out.str(), HasSubstr("shown 2 (newest)"));
  EXPECT_EQ(run({"explain", "PUT", path, "--body", body, "--shown", "404"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("shown 1 (create): it is sent as a create"));

  EXPECT_EQ(run({"explain", "PATCH", path, "--body", body, "--shown", first}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("does not matter: only a full PUT"));
  const std::string with_head = write("with_head", "HTTP/1.1 200 OK\r\n\r\n{}");
  EXPECT_EQ(run({"explain", "PUT", path, "--body", with_head, "--shown", with_head}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("no JSON object, so nothing is known of it"));
  EXPECT_THAT(out.str(), HasSubstr("no JSON object, so nothing in it tells"));
  EXPECT_EQ(run({"explain", "PUT", path, "--body", body, "--shown", "/no/such/file"}), kExitBadInput);
}

TEST_F(Cli, ExplainSaysWhatAPutLeadsToBesideWhatIsThere) {
  const std::string path =
      "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n?api-version=2023-09-01";
  const auto write = [&](const char* name, std::string_view text) { return directory.write(name, text).string(); };
  const auto shown = write("shown.json", R"({"etag":"W/\"1\"","location":"w","tags":{"a":"1"},"properties":{}})");
  const auto body = write("put.json", R"({"location":"w","tags":{"a":"1","mine":"1"},"properties":{}})");
  const auto explain = [&](const std::string& there, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"explain", "PUT", path, "--body", body, "--shown", shown, "--there", there};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(run(words), kExitDone) << err.str();
    return out.str();
  };
  EXPECT_THAT(explain(shown), HasSubstr("shown.json: the write is sent as it is"));
  const auto moved = write("moved.json", R"({"etag":"W/\"2\"","location":"w","tags":{"a":"1","other":"2"},"properties":{}})");
  EXPECT_THAT(explain(moved),
              HasSubstr("moved.json: merged: kept of others' changes: /tags/other; taken from the write: /tags/mine"));
  const auto off = directory.write("off.json", R"({"merge": "off"})");
  EXPECT_THAT(explain(moved, {"--config", off.string()}),
              HasSubstr("412 ArmgateStaleWrite: it would undo what others changed at /tags/other"));
  const auto same = write("same.json", R"({"etag":"W/\"2\"","location":"w","tags":{"a":"1","mine":"2"},"properties":{}})");
  EXPECT_THAT(explain(same), HasSubstr("412 ArmgateConflict: others have changed the very same at /tags/mine"));
  EXPECT_THAT(explain("404"), HasSubstr("404: 412 ArmgateStaleWrite"));
  EXPECT_THAT(explain(write("text", "none")), HasSubstr("no JSON object, so nothing can be compared with it"));
  write("put.json", "none");
  EXPECT_THAT(explain(moved), HasSubstr("412 ArmgateStaleWrite: the write, or what it was built from, cannot be compared"));
}

TEST_F(Cli, ExplainKnowsThePortThatIsLookedIntoAndWhereAHostIsReached) {
  const std::string path = "/subscriptions/s?api-version=2021-04-01";
  EXPECT_EQ(run({"explain", "GET", "https://management.azure.com:8443" + path}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("management.azure.com:8443"));
  EXPECT_THAT(out.str(), HasSubstr("tunnelled untouched: only port 443 of the hosts in intercept is looked into"));
  EXPECT_EQ(run({"explain", "GET", "https://management.azure.com:443" + path}), kExitDone);
  EXPECT_THAT(out.str(), Not(HasSubstr("tunnelled")));
  EXPECT_THAT(out.str(), Not(HasSubstr("reached at")));

  const auto file = directory.write("a.json", R"({"hosts": {"management.azure.com": {"address": "10.0.0.4:9443"}}})");
  EXPECT_EQ(run({"explain", "--config", file.string(), "GET", "https://management.azure.com" + path}), kExitDone);
  EXPECT_THAT(out.str(), ContainsRegex("reached at +10.0.0.4:9443   .the configuration."));
}

TEST_F(Cli, ExplainSaysWhichTargetsTheServiceRefuses) {
  const std::string group = "/subscriptions/s/resourceGroups/";
  for (const char* name : {"we b", "\xc3\xbc", "x#frag"}) {
    EXPECT_EQ(run({"explain", "PUT", group + name + "?api-version=2021-04-01"}), kExitBadInput) << name;
    EXPECT_THAT(err.str(), HasSubstr("armgate would refuse the request: its target has a blank"));
  }
  EXPECT_EQ(run({"explain", "PUT", group + std::string(20'000, 'a') + "?api-version=2021-04-01"}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("is longer than 16384 bytes (limits.target_bytes)"));
}

TEST_F(Cli, ExplainTakesEveryBodyThatArmgateItselfWouldTake) {
  const auto body = directory.path() / "body.json";
  const std::string path =
      "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n?api-version=2023-09-01";
  const auto explain_body_of = [&](size_t bytes) {
    std::ofstream(body) << std::string(bytes, ' ');
    return run({"explain", "PUT", path, "--body", body.string()});
  };
  EXPECT_EQ(explain_body_of(4u << 20), kExitDone) << err.str();
  EXPECT_EQ(explain_body_of((8u << 20) + 1), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("is larger than 8388608 bytes"));
}

TEST_F(Cli, ExplainSaysHowFarOthersChangesAreMergedByTheMostCarefulOfThem) {
  const std::string path =
      "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n?api-version=2023-09-01";
  EXPECT_EQ(run({"explain", "PUT", path}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("merged: members, tags, elements of arrays"));
  const auto config = directory.write("merge.json", R"({"merge": "maps", "clients": {"careful": {"merge": "off"}}})");
  EXPECT_EQ(run({"explain", "PUT", path, "--config", config.string()}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("merged in tags, labels and metadata alone"));
  EXPECT_EQ(run({"explain", "PUT", path, "--config", config.string(), "--client", "careful"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("not merged: the write is refused"));
}

TEST_F(Cli, WhatIsQuotedOfTheCommandLineCannotSteerTheTerminal) {
  ASSERT_EQ(
      run({"explain", "PUT", "https://management.azure.com/subscriptions/s/resourceGroups/g%c2%9b%e2%80%aex?api-version=1",
           "--client", "a\u009b2J\u2066"}),
      kExitDone)
      << err.str();
  EXPECT_THAT(out.str(), AllOf(HasSubstr("a?2J?"), Not(HasSubstr("\u009b")), Not(HasSubstr("\u202e"))));
  EXPECT_EQ(run({"explain", "PUT", "https://management.azure.com/\x1b[2J?api-version=1"}), kExitBadInput);
  EXPECT_THAT(err.str(), Not(HasSubstr("\x1b")));
  for (const char* command : {"queue", "blame", "history"}) {
    EXPECT_EQ(run({command, "\u009b2J\u202e"}), kExitBadInput);
    EXPECT_EQ(err.str(), "armgate: \"?2J?\" is no resource id (/subscriptions/...)\n");
  }
  EXPECT_EQ(run({"types", "a\u009b2J"}), kExitDone);
  EXPECT_THAT(out.str(), Not(HasSubstr("\u009b")));
}

TEST_F(Cli, ExplainRefusesWhatIsNoRequest) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"explain", "get", "/subscriptions"},
                                             {"explain", "GET", "subscriptions"},
                                             {"explain", "GET", "http://management.azure.com/"},
                                             {"explain", "PUT", "/subscriptions/s/../x?api-version=1"},
                                             {"explain", "PUT", "/subscriptions/s?api-version=1", "--body", "/no/such/file"}}) {
    SCOPED_TRACE(testing::PrintToString(words));
    EXPECT_EQ(run(words), kExitBadInput);
    EXPECT_THAT(out.str(), IsEmpty());
    EXPECT_FALSE(err.str().empty());
  }
  EXPECT_EQ(run({"explain", "GET"}), kExitUsage);
  EXPECT_EQ(run({"explain", "GET", "/", "--output", "yaml"}), kExitUsage);
}

}  // namespace
}  // namespace armgate
