// How rule files write types and api-versions: what is taken, in which form, and what is refused.
#include "rules/facts/type_name.h"

#include <gtest/gtest.h>

namespace armgate::rules {
namespace {

TEST(TypeName, TypesAndPatternsGoIntoLowerCase) {
  const struct {
    const char* text;
    bool type, named, exact, parent;
  } cases[] = {
      {"Microsoft.Network/virtualNetworks", true, true, true, true},
      {"Microsoft.Network/virtualNetworks/subnets", true, true, true, true},
      {"Microsoft.Network/*", true, true, false, false},
      {"Microsoft.Network/dnsZones/*", true, true, false, false},
      {"*", true, false, false, true},
      {"Microsoft.Network", false, false, false, false},
      {"/subscriptions/s", false, false, false, false},
      {"Microsoft.Network//subnets", false, false, false, false},
      {"Micro*soft/a", false, false, false, false},
      {"", false, false, false, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    std::string type = c.text, named = c.text, exact = c.text, parent = c.text;
    EXPECT_EQ(!check_type(type), c.type);
    EXPECT_EQ(!check_named_type(named), c.named);
    EXPECT_EQ(!check_exact_type(exact), c.exact);
    EXPECT_EQ(!check_parent(parent), c.parent);
    EXPECT_EQ(type.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), std::string::npos);
  }
}

TEST(TypeName, ApiVersionsAreDates) {
  for (std::string version : {"2024-03-01", "2024-03-01-Preview"}) EXPECT_FALSE(check_api_version(version)) << version;
  for (std::string version : {"", "2024", "2024-03-01x", "24-03-01", "v1"}) EXPECT_TRUE(check_api_version(version)) << version;
}

TEST(TypeName, AnAncestorsTypeBeginsTheTypeWithinOneProvider) {
  EXPECT_TRUE(can_be_parent("microsoft.network/virtualnetworks", {"microsoft.network/virtualnetworks/subnets"}));
  EXPECT_FALSE(can_be_parent("microsoft.network/routetables", {"microsoft.network/virtualnetworks/subnets"}));
  EXPECT_TRUE(can_be_parent("microsoft.network/routetables", {"microsoft.insights/diagnosticsettings"}));
  EXPECT_TRUE(can_be_parent("*", {"microsoft.network/virtualnetworks"}));
}

}  // namespace
}  // namespace armgate::rules
