#include "arm/owned_url.h"

#include <gtest/gtest.h>

#include "arm/url.h"

namespace armgate::arm {
namespace {

const Hash128 kId{0x0123456789abcdefULL, 0xfedcba9876543210ULL};
const std::string kDigits = kId.hex();

TEST(OwnedUrl, IsMadeOfTheResourcesSubscriptionAndProvider) {
  struct Row {
    const char* target;
    const char* before;
    const char* query;
  };
  const Row rows[] = {
      {"/subscriptions/S/resourceGroups/g/providers/Microsoft.Compute/disks/d?api-version=2024-03-02",
       "/subscriptions/S/providers/Microsoft.Compute", "?api-version=2024-03-02"},
      {"/subscriptions/S/resourcegroups/g/Providers/Microsoft.Network/virtualNetworks/n/subnets/a?x=1&api-version=2024-05-01",
       "/subscriptions/S/providers/Microsoft.Network", "?api-version=2024-05-01"},
      {"/subscriptions/S/resourceGroups/g/providers/Microsoft.Compute/disks/d/providers/Microsoft.Authorization/locks/l",
       "/subscriptions/S/providers/Microsoft.Authorization", ""},
      {"//subscriptions/S/resourceGroups/g/providers/Microsoft.Compute/disks/d", "/subscriptions/S/providers/Microsoft.Compute",
       ""},
      {"/subscriptions/S/resourceGroups/g?api-version=2021-04-01", "/subscriptions/S/providers/Microsoft.Resources",
       "?api-version=2021-04-01"},
      {"/providers/Microsoft.Management/managementGroups/m?api-version=1", "/providers/Microsoft.Management", "?api-version=1"},
  };
  for (const Row& row : rows) {
    const std::string path = "https://management.azure.com" + std::string(row.before) + "/armgate-operations/" + kDigits;
    EXPECT_EQ(owned_url("management.azure.com", row.target, {kId, OperationUrl::Status}), path + row.query);
    EXPECT_EQ(owned_url("management.azure.com", row.target, {kId, OperationUrl::Location}), path + "/result" + row.query);
  }
}

TEST(OwnedUrl, IsKnownAgain) {
  for (const auto form : {OperationUrl::Status, OperationUrl::Location}) {
    const auto url = parse_url(owned_url("h", "/subscriptions/S/resourceGroups/g?api-version=1", {kId, form}));
    ASSERT_TRUE(url);
    const auto found = owned_url_in(url->target);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, kId);
    EXPECT_EQ(found->form, form);
  }
}

TEST(OwnedUrl, NothingElseIsTakenForOne) {
  const std::string start = "/subscriptions/S/providers/Microsoft.Compute/";
  for (const std::string& target :
       {std::string("/"), start + "locations/l/operations/" + kDigits, start + "armgate-operations/",
        start + "armgate-operations/short", start + "armgate-operations/" + kDigits + "0",
        start + "armgate-operations/" + kDigits + "/other", start + "armgate-operations/" + kDigits + "/result/x",
        start + "armgate-operations/" + std::string(32, 'z'), start + "disks?x=/armgate-operations/" + kDigits}) {
    EXPECT_FALSE(owned_url_in(target)) << target;
  }
}

TEST(OwnedUrl, TakesThePlaceOfWhatIsThere) {
  Headers fields{{"Azure-AsyncOperation", "a"}, {"Retry-After", "3"}, {"Location", "b"}};
  replace_operation_urls(fields, "mine", "");
  EXPECT_EQ(fields.get("Azure-AsyncOperation"), "mine");
  EXPECT_EQ(fields.get("Location"), "b") << "it names no operation";
  replace_operation_urls(fields, "mine", "my-result");
  EXPECT_EQ(fields.get("Location"), "my-result");
  EXPECT_EQ(fields.get("Retry-After"), "3");
  EXPECT_EQ(fields.size(), 3u) << "nothing is added";
  Headers other{{"Operation-Location", "a"}};
  replace_operation_urls(other, "mine", "my-result");
  EXPECT_EQ(other.get("Operation-Location"), "mine");
  EXPECT_FALSE(other.has("Location"));
}

}  // namespace
}  // namespace armgate::arm
