// What the rules make of a request, in words.
#include "rules/explain.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rules/file/rule_file.h"

namespace armgate::rules::explain_test {
namespace {

using arm::Method;

constexpr std::string_view kFile = R"({
  "rules": [
    {
      "name": "subnets",
      "match": {"types": ["Microsoft.Network/virtualNetworks/subnets"]},
      "guard": {"kind": "etag", "star": "strengthen"},
      "body": {"read_only": ["/properties/purpose", "/properties/ipConfigurations"], "write_only": ["/properties/secret"],
               "arrays": [{"pointer": "/properties/a", "key": ["b", "c"]}, {"pointer": "/properties/d", "kind": "ordered", "key": ["e"]},
                          {"pointer": "/properties/f", "kind": "set"}, {"pointer": "/properties/g", "kind": "atomic"}],
               "same": [{"pointer": "/properties/h", "as": "id"}, {"pointer": "/properties/i", "as": "location"}, {"pointer": "/j"}]},
      "lock": {"parents": ["Microsoft.Network/virtualNetworks"]},
      "lease": {"max": "30m"}
    },
    {
      "name": "machines",
      "match": {"types": ["Microsoft.Compute/virtualMachines"], "api_version": {"from": "2024-03-01"}, "actions": ["restart"]},
      "mode": "observe",
      "unconditional_after_wait": "send"
    },
    {"name": "disks", "match": {"types": ["Microsoft.Compute/disks"]}, "mode": "off"}
  ]
})";

const std::string kProviders = "/subscriptions/S/resourceGroups/G/providers/";
const std::string kSubnet = kProviders + "Microsoft.Network/virtualNetworks/n/subnets/a?api-version=2023-09-01";
const std::string kMachine = kProviders + "Microsoft.Compute/virtualMachines/m";

std::vector<Fact> explained(Mode mode, Method method, const std::string& target) {
  FaultList faults;
  const Ruleset rules(read_rules("own.json", kFile, faults));
  EXPECT_TRUE(faults.empty());
  auto facts = explain_plan(rules, mode, method, target);
  EXPECT_TRUE(facts.ok());
  return facts.ok() ? *std::move(facts) : std::vector<Fact>{};
}

// "value [decided by]"; empty if the fact is not there.
std::string fact(const std::vector<Fact>& facts, std::string_view name) {
  const auto found = std::find_if(facts.begin(), facts.end(), [&](const Fact& f) { return f.name == name; });
  if (found == facts.end()) return {};
  return found->decided_by.empty() ? found->value : found->value + " [" + found->decided_by + "]";
}

TEST(Explain, FactsOfTheTypeAreToldWithTheirPlaceIfTheyHoldAtTheApiVersion) {
  FaultList faults;
  RuleBook book = read_rule_book("own.json", R"({"rules": [{"name": "all", "match": {"types": ["*"]}}],
"facts": [
{"types": ["A.B/c"], "body": {"read_only": ["/r"]}},
{"types": ["A.B/c"], "api_version": {"to": "2020-01-01"}, "body": {"kept": ["/k"]}},
{"types": ["A.B/d"], "body": {"maps": ["/m"]}}]})",
                                 faults);
  const Ruleset rules(std::move(book.rules), {}, {}, share(std::move(book.facts)));
  const auto facts =
      explain_plan(rules, Mode::Protect, Method::Put, "/subscriptions/s/providers/A.B/c/x?api-version=2024-01-01");
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(fact(*facts, "read-only members"), "/r [the facts at own.json:3]");
  for (const Fact& one : *facts) EXPECT_TRUE(one.name != "kept if left out" && one.name != "maps") << one.value;
}

TEST(Explain, AWriteIsToldWithEverythingThatItsRuleDecides) {
  const auto facts = explained(Mode::Protect, Method::Put, kSubnet);
  EXPECT_EQ(fact(facts, "a client's If-Match: *"),
            "becomes the ETag of what it was shown, if that is known [rule \"subnets\" at own.json:3]");
  const std::string network = "/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/n";
  const std::string by = " [rule \"subnets\" at own.json:3]";
  EXPECT_EQ(fact(facts, "resource"), network + "/subnets/a");
  EXPECT_EQ(fact(facts, "type"), "microsoft.network/virtualnetworks/subnets");
  EXPECT_EQ(fact(facts, "api-version"), "2023-09-01");
  EXPECT_EQ(fact(facts, "rule"), "subnets [own.json:3]");
  EXPECT_EQ(fact(facts, "mode"), "protect [the configuration]");
  EXPECT_EQ(fact(facts, "what is done"), "write: queued, guarded, followed to its end" + by);
  EXPECT_EQ(fact(facts, "guard"), "etag: carries the ETag of the state it was built from" + by);
  EXPECT_EQ(fact(facts, "this request is guarded"), "yes" + by);
  EXPECT_EQ(fact(facts, "others' changes elsewhere"), "merged: members, tags, elements of arrays" + by);
  EXPECT_EQ(fact(facts, "read-only members"), "/properties/purpose, /properties/ipConfigurations" + by);
  EXPECT_EQ(fact(facts, "write-only members"), "/properties/secret" + by);
  EXPECT_EQ(
      fact(facts, "arrays"),
      "/properties/a by b + c, /properties/d by e, in their order, /properties/f in any order, /properties/g as one value" +
          by);
  EXPECT_EQ(fact(facts, "compared"), "/properties/h as an id, /properties/i as a location, /j as a text without case" + by);
  EXPECT_EQ(fact(facts, "lock keys"), network + " (exclusive), " + network + "/subnets/a (exclusive)" + by);
  EXPECT_EQ(fact(facts, "held"), "until the operation ends, at most 30m (6h while it is seen running)" + by);
  EXPECT_EQ(fact(facts, "retries when busy"), "20 sendings within 10m, 1s to 20s apart" + by);
  EXPECT_EQ(fact(facts, "unconditional after a wait"), "refused if another write finished meanwhile" + by);
}

TEST(Explain, WhatIsNotGuardedIsSaidToBeSo) {
  EXPECT_EQ(fact(explained(Mode::Protect, Method::Delete, kSubnet), "this request is guarded"),
            "no [rule \"subnets\" at own.json:3]");
  const auto patch = explained(Mode::Protect, Method::Patch, kSubnet);
  EXPECT_EQ(fact(patch, "this request is guarded"),
            "its maps and arrays, and all of it if it repeats what others changed [rule \"subnets\" at own.json:3]");
  EXPECT_EQ(
      fact(patch, "what is done"),
      "write: queued, compared where it replaces what its client has read, followed to its end [rule \"subnets\" at own.json:3]");
  EXPECT_EQ(fact(patch, "unconditional after a wait"), "");
}

TEST(Explain, AReadSaysWhetherItIsRemembered) {
  EXPECT_EQ(fact(explained(Mode::Protect, Method::Get, kSubnet), "remembered as a version"),
            "yes [rule \"subnets\" at own.json:3]");
  EXPECT_EQ(fact(explained(Mode::Protect, Method::Get, kMachine + "?api-version=2025-04-01"), "remembered as a version"),
            "yes [rule \"machines\" at own.json:14]");
}

TEST(Explain, TheModeIsThatOfTheRuleOrOfTheServiceWhicheverDoesLess) {
  const std::string machine = kMachine + "?api-version=2025-04-01";
  EXPECT_EQ(fact(explained(Mode::Protect, Method::Put, machine), "mode"), "observe [rule \"machines\" at own.json:14]");
  EXPECT_EQ(fact(explained(Mode::Observe, Method::Put, machine), "mode"), "observe [the configuration]");
  EXPECT_EQ(fact(explained(Mode::Observe, Method::Put, kSubnet), "mode"), "observe [the configuration]");
  EXPECT_EQ(fact(explained(Mode::Off, Method::Put, machine), "mode"), "off [the configuration]");
}

TEST(Explain, InModeObserveNothingIsDoneAndWhatWouldBeIsSaid) {
  const std::string by = " [rule \"subnets\" at own.json:3]";
  const auto put = explained(Mode::Observe, Method::Put, kSubnet);
  EXPECT_EQ(fact(put, "what is done"),
            "passed on unchanged, and the log says what would have been done; in mode protect, with all below: write: queued, "
            "guarded, followed to its end" +
                by);
  EXPECT_EQ(fact(put, "this request is guarded"), "no, as the mode is observe; in mode protect: yes" + by);
  EXPECT_EQ(fact(explained(Mode::Observe, Method::Delete, kSubnet), "this request is guarded"), "no" + by);
}

TEST(Explain, WhatPassesSaysWhy) {
  struct Case {
    Mode mode;
    Method method;
    std::string target;
    std::string because;
  };
  const Case cases[] = {
      {Mode::Off, Method::Put, kSubnet, "switched off"},
      {Mode::Protect, Method::Put, kProviders + "Microsoft.Compute/disks/d?api-version=1", "switched off"},
      {Mode::Protect, Method::Put, kMachine + "?api-version=2020-01-01", "no rule is for this type and api-version"},
      {Mode::Protect, Method::Post, kMachine + "/start?api-version=2025-04-01",
       "its rule does not name this action as a write [rule \"machines\" at own.json:14]"},
      {Mode::Protect, Method::Post, kMachine + "/listKeys?api-version=2025-04-01",
       "the action only reads [rule \"machines\" at own.json:14]"},
      {Mode::Protect, Method::Head, kSubnet, "the method neither reads nor writes a state [rule \"subnets\" at own.json:3]"},
      {Mode::Protect, Method::Get, "/providers?api-version=2021-04-01", "it names no resource"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.target);
    const auto facts = explained(c.mode, c.method, c.target);
    EXPECT_EQ(fact(facts, "because"), c.because);
    EXPECT_TRUE(fact(facts, "what is done").starts_with("passed on unchanged"));
    EXPECT_EQ(fact(facts, "lock keys"), "");
  }
}

TEST(Explain, ANamedActionIsAWrite) {
  const auto facts = explained(Mode::Protect, Method::Post, kMachine + "/restart?api-version=2025-04-01");
  EXPECT_EQ(fact(facts, "action"), "restart");
  EXPECT_NE(fact(facts, "what is done").find("in mode protect, with all below: write"), std::string::npos);
}

TEST(Explain, ATargetThatCanBeReadInTwoWaysIsRefused) {
  EXPECT_FALSE(explain_plan(Ruleset({}), Mode::Protect, Method::Put, "/subscriptions/s/../x?api-version=1").ok());
}

}  // namespace
}  // namespace armgate::rules::explain_test
