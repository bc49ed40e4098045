#include "proxy/config/rule_documents.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

const std::string kSubnets =
    R"({"rules": [{"name": "subnets", "match": {"types": ["Microsoft.Network/virtualNetworks/subnets"]}}]})";
const std::string kAnything = R"({"rules": [{"name": "anything", "match": {"types": ["*"]}}]})";

TEST(RuleDocuments, AnotherProcessMakesTheSameRulesOfIt) {
  const auto source = rule_source({kSubnets, kAnything}, rules::Mode::Observe);
  const auto read = rules_of(source->document);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ((*read)->source()->hash, source->hash);
  ASSERT_EQ((*read)->rules().size(), 2u);
  EXPECT_EQ((*read)->rules()[0]->name, "subnets");
  EXPECT_EQ((*read)->rules()[0]->mode, std::nullopt);
  EXPECT_EQ((*read)->rules()[1]->mode, rules::Mode::Observe) << "as the option `unruled` says there";
}

TEST(RuleDocuments, OtherFilesOrAnotherOrderIsAnotherHash) {
  const auto hash = [](const std::vector<std::string>& files, rules::Mode unruled = rules::Mode::Protect) {
    return rule_source(files, unruled)->hash;
  };
  EXPECT_EQ(hash({kSubnets, kAnything}), hash({kSubnets, kAnything}));
  EXPECT_NE(hash({kSubnets, kAnything}), hash({kAnything, kSubnets}));
  EXPECT_NE(hash({kSubnets}), hash({kSubnets}, rules::Mode::Off));
}

TEST(RuleDocuments, OfAnotherVersionItIsRefusedAndNotHalfRead) {
  const auto source =
      rule_source({R"({"rules": [{"name": "new", "match": {"types": ["A.B/c"]}, "lock_later": true}]})"}, rules::Mode::Protect);
  const auto read = rules_of(source->document);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().context.find("lock_later"), std::string::npos) << read.error().context;
  EXPECT_FALSE(rules_of("").ok());
  EXPECT_FALSE(rules_of("[]").ok());
}

}  // namespace
}  // namespace armgate
