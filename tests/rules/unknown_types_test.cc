// Types that a rule names and that are most likely misspelt.
#include "rules/unknown_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/file/rule_file.h"
#include "tests/support/shipped_rules.h"

namespace armgate::rules::unknown_types_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kFacts = R"({"facts": [{"types": ["Microsoft.Network/virtualNetworks/subnets", "Microsoft.Compute/disks",
  "Microsoft.Storage/*"], "body": {"read_only": ["/x"]}}]})";

std::vector<std::string> warned(const std::string& rules, FactStrength strength = FactStrength::Declared) {
  FaultList faults;
  RuleBook book = read_rule_book("facts", kFacts, faults);
  for (FactEntry& entry : book.facts) entry.strength = strength;
  book.add(read_rule_book("other", R"({"rules": [{"name": "theirs", "match": {"types": ["Contoso.Box/boxes"]}}]})", faults));
  book.add(read_rule_book("mine", rules, faults));
  EXPECT_TRUE(faults.empty()) << to_text(faults.empty() ? Fault{} : faults[0]);
  std::vector<std::string> texts;
  for (const auto& warning : warnings_about_types(book.rules, share(book.facts))) {
    if (warning.file == "mine") texts.push_back(to_text(warning));
  }
  return texts;
}

std::vector<std::string> warned_of(const std::string& types, FactStrength strength = FactStrength::Declared) {
  return warned("{\"rules\": [{\"name\": \"r\", \"match\": {\"types\": [" + types + "]}}]}", strength);
}

TEST(UnknownTypes, ThatAreSpeltNearlyAsAKnownOneAreNamedWithIt) {
  EXPECT_THAT(
      warned_of("\"Microsoft.Netwrok/virtualNetworks\""),
      ElementsAre("mine:1: rule \"r\" is for \"microsoft.netwrok/virtualnetworks\": no provider \"microsoft.netwrok\" is "
                  "known here; did you mean \"microsoft.network\"?"));
  EXPECT_THAT(warned_of("\"Microsoft.Compute/disk\", \"Microsoft.Network/virtualNetwork/*\", \"Microsoft.Storag/*\"").size(),
              3u);
  EXPECT_THAT(
      warned(
          R"({"rules": [{"name": "r", "match": {"types": ["Contoso.Box/boxes/lids"]}, "lock": {"parents": ["Microsoft.Compute/disc"]}}]})"),
      ElementsAre(
          "mine:1: rule \"r\" locks \"microsoft.compute/disc\": no type \"microsoft.compute/disc\" is known here; did you "
          "mean \"microsoft.compute/disks\"?"));
}

TEST(UnknownTypes, ThatAreKnownOrLikeNoneThatIsAreFine) {
  EXPECT_THAT(warned_of("\"Microsoft.Network/virtualNetworks\", \"Microsoft.Network/virtualNetworks/subnets\""), IsEmpty());
  EXPECT_THAT(warned_of("\"Microsoft.Compute/*\", \"Contoso.Box/boxes\", \"Fabrikam.X/y\", \"Microsoft.Compute/galleries\""),
              IsEmpty());
  EXPECT_THAT(warned_of("\"*\""), IsEmpty());
}

TEST(UnknownTypes, AreAllNamedWhereFactsWereImported) {
  EXPECT_THAT(
      warned_of("\"Microsoft.Compute/galleries\"", FactStrength::Imported),
      ElementsAre("mine:1: rule \"r\" is for \"microsoft.compute/galleries\": no type \"microsoft.compute/galleries\" is "
                  "known here, not from the imported facts either"));
}

TEST(UnknownTypes, AreNotInTheShippedRules) {
  FaultList faults;
  RuleBook book = shipped_rules(faults);
  EXPECT_TRUE(warnings_about_types(book.rules, share(std::move(book.facts))).empty());
}

}  // namespace
}  // namespace armgate::rules::unknown_types_test
