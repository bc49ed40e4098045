// The locks that bodies ask for.
#include "rules/references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/file/rule_file.h"

namespace armgate::rules::references_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kNetwork = "/subscriptions/s/resourcegroups/g/providers/microsoft.network";

// "shared ID until request"
std::vector<std::string> texts(const std::vector<ReferenceKey>& keys) {
  std::vector<std::string> all;
  all.reserve(keys.size());
  for (const auto& key : keys) {
    all.push_back((key.key.mode == LockMode::Shared ? "shared " : "exclusive ") +
                  key.key.id.substr(key.key.id.rfind("network/") + 8) +
                  (key.until == LeaseUntil::Request ? " until request" : " until operation"));
  }
  return all;
}

Rule rule_with(const std::string& references) {
  FaultList faults;
  auto rules = read_rules("r.json",
                          R"({"rules": [{"name": "r", "match": {"types": ["A.B/c"]},
      "lock": {"references": )" +
                              references + "}}]}",
                          faults);
  for (const Fault& fault : faults) ADD_FAILURE() << to_text(fault);
  return rules.at(0);
}

std::string body_of(const std::vector<std::string>& ids) {
  std::string list;
  for (const auto& id : ids) list += std::string(list.empty() ? "" : ",") + R"({"id":")" + id + "\"}";
  return R"({"list":[)" + list + "]}";
}

TEST(References, AreCanonicalAndBringTheParentsThatTheRuleWants) {
  const Rule rule = rule_with(R"([{"pointer": "/list/*/id", "parents": ["Microsoft.Network/virtualNetworks"]}])");
  const auto body = body_of({"/subscriptions/S/resourceGroups/G/providers/Microsoft.Network/virtualNetworks/N/subnets/A/"});
  EXPECT_THAT(texts(without_duplicates(referenced_keys(rule, body), {})),
              ElementsAre("shared virtualnetworks/n until request", "shared virtualnetworks/n/subnets/a until request"));
}

TEST(References, OfOtherTypesAndWhatIsNoIdArePassedOver) {
  const Rule rule = rule_with(R"([{"pointer": "/list/*/id", "types": ["Microsoft.Network/routeTables"]}])");
  EXPECT_THAT(texts(referenced_keys(rule, body_of({kNetwork + "/routeTables/r", kNetwork + "/natGateways/n", "", "r",
                                                   "/subscriptions", kNetwork + "/routeTables/../x", "[resourceId('a')]"}))),
              ElementsAre("shared routetables/r until request"));
  EXPECT_THAT(referenced_keys(rule, ""), IsEmpty());
  EXPECT_THAT(referenced_keys(rule, "{"), IsEmpty());
  EXPECT_THAT(referenced_keys(Rule{}, body_of({kNetwork + "/routeTables/r"})), IsEmpty());
}

TEST(References, OfOneResourceAreOneLockOfTheStrongerKind) {
  const Rule rule = rule_with(R"([{"pointer": "/list/*/id"}, {"pointer": "/list/*/id", "mode": "exclusive"},
                                  {"pointer": "/list/*/id", "until": "operation"}])");
  EXPECT_THAT(
      texts(without_duplicates(referenced_keys(rule, body_of({kNetwork + "/natGateways/n", kNetwork + "/natGateways/N"})), {})),
      ElementsAre("exclusive natgateways/n until operation"));
}

TEST(References, ToWhatTheWriteLocksAnywayAreLeftOut) {
  const Rule rule = rule_with(R"([{"pointer": "/list/*/id"}])");
  const auto keys = referenced_keys(rule, body_of({kNetwork + "/natGateways/b", kNetwork + "/natGateways/a"}));
  EXPECT_THAT(texts(without_duplicates(keys, {{kNetwork + "/natgateways/a", LockMode::Exclusive}})),
              ElementsAre("shared natgateways/b until request"));
}

TEST(References, APlanNamesTheRuleOnlyForWrites) {
  const Ruleset rules({rule_with(R"([{"pointer": "/list/*/id"}])")});
  const std::string target = "/subscriptions/s/resourceGroups/g/providers/A.B/c/d?api-version=2024-01-01";
  EXPECT_EQ(make_plan(rules, Mode::Protect, arm::Method::Put, target)->referring.size(), 1u);
  EXPECT_TRUE(make_plan(rules, Mode::Protect, arm::Method::Get, target)->referring.empty());
  EXPECT_TRUE(make_plan(rules, Mode::Off, arm::Method::Put, target)->referring.empty());
}

TEST(References, ComeBackFromTheirLines) {
  const std::vector<ReferenceKey> keys{{{"/subscriptions/s/a b", LockMode::Shared}, LeaseUntil::Request},
                                       {{"/subscriptions/s/c", LockMode::Exclusive}, LeaseUntil::Operation},
                                       {{"/subscriptions/s/d", LockMode::Exclusive}, LeaseUntil::Provisioned}};
  EXPECT_EQ(
      to_lines(keys),
      "shared request /subscriptions/s/a b\nexclusive operation /subscriptions/s/c\nexclusive provisioned /subscriptions/s/d\n");
  EXPECT_EQ(references_in(to_lines(keys)), keys);
  EXPECT_EQ(to_lines({}), "");
  EXPECT_THAT(references_in(""), IsEmpty());
  EXPECT_THAT(references_in("nonsense\n\nshared\nshared request \nshared request x\nshared for-ever /a"), IsEmpty());
}

}  // namespace
}  // namespace armgate::rules::references_test
