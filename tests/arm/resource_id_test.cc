// Goal: every spelling of one resource gives one id; no path that can be read in two ways gives any. Method: tables.
#include "arm/resource_id.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace armgate::arm {
namespace {

constexpr std::string_view kGroup = "/subscriptions/s/resourcegroups/g";
constexpr std::string_view kSubnet =
    "/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/v/subnets/a";

Target must_parse(std::string_view target, bool is_post = false) {
  auto parsed = parse_target(target, is_post);
  EXPECT_TRUE(parsed.ok()) << target << ": " << (parsed.ok() ? "" : parsed.error().context);
  return parsed.ok() ? *parsed : Target{};
}

ResourceId must_be_id(std::string_view id) {
  const auto parsed = parse_resource_id(id);
  EXPECT_TRUE(parsed) << id;
  return parsed.value_or(ResourceId{});
}

struct ResourceCase {
  std::string_view target;
  std::string_view id;
  std::string_view type;
};

TEST(ResourceIdTest, PathsThatNameAResource) {
  const ResourceCase cases[] = {
      {"/subscriptions/S", "/subscriptions/s", "microsoft.resources/subscriptions"},
      {"/subscriptions/S/resourceGroups/G", kGroup, "microsoft.resources/resourcegroups"},
      {"/subscriptions/s/resourcegroups/g/", kGroup, "microsoft.resources/resourcegroups"},
      {"/SUBSCRIPTIONS/s/RESOURCEGROUPS/g?api-version=1", kGroup, "microsoft.resources/resourcegroups"},
      {"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/V/subnets/A", kSubnet,
       "microsoft.network/virtualnetworks/subnets"},
      {"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/%76/subnets/%61", kSubnet,
       "microsoft.network/virtualnetworks/subnets"},
      {"/subscriptions/s/resourceGroups/g/PROVIDERS/Microsoft.Network/virtualNetworks/v/subnets/a/", kSubnet,
       "microsoft.network/virtualnetworks/subnets"},
      {"/subscriptions/s/resourceGroups/g/providers/Microsoft.Portal/dashboards/My%20board",
       "/subscriptions/s/resourcegroups/g/providers/microsoft.portal/dashboards/my board", "microsoft.portal/dashboards"},
      // Decoded once and only once.
      {"/subscriptions/s/resourceGroups/a%2541", "/subscriptions/s/resourcegroups/a%41", "microsoft.resources/resourcegroups"},
      // Extensions, also of extensions, and "providers" as a name.
      {"/subscriptions/s/providers/Microsoft.Authorization/roleAssignments/r",
       "/subscriptions/s/providers/microsoft.authorization/roleassignments/r", "microsoft.authorization/roleassignments"},
      {"/subscriptions/s/resourceGroups/g/providers/Microsoft.Resources/tags/default",
       "/subscriptions/s/resourcegroups/g/providers/microsoft.resources/tags/default", "microsoft.resources/tags"},
      {"/subscriptions/s/resourceGroups/g/providers/A.B/c/d/providers/E.F/g/h/i/j/providers/K.L/m/n",
       "/subscriptions/s/resourcegroups/g/providers/a.b/c/d/providers/e.f/g/h/i/j/providers/k.l/m/n", "k.l/m"},
      {"/subscriptions/s/resourceGroups/g/providers/A.B/c/providers/d/e",
       "/subscriptions/s/resourcegroups/g/providers/a.b/c/providers/d/e", "a.b/c/d"},
      {"/subscriptions/s/resourceGroups/providers", "/subscriptions/s/resourcegroups/providers",
       "microsoft.resources/resourcegroups"},
      // Tenant, management group, subscription and location scope.
      {"/providers/Microsoft.Management/managementGroups/M", "/providers/microsoft.management/managementgroups/m",
       "microsoft.management/managementgroups"},
      {"/providers/Microsoft.Management/managementGroups/M/providers/Microsoft.Authorization/policyAssignments/P",
       "/providers/microsoft.management/managementgroups/m/providers/microsoft.authorization/policyassignments/p",
       "microsoft.authorization/policyassignments"},
      {"/subscriptions/s/providers/Microsoft.Network/locations/westus/operations/1?t=A&c=%2F",
       "/subscriptions/s/providers/microsoft.network/locations/westus/operations/1", "microsoft.network/locations/operations"},
      {"/subscriptions/s/operationresults/eyJq?api-version=1", "/subscriptions/s/operationresults/eyjq",
       "microsoft.resources/subscriptions/operationresults"},
      {"/providers/Microsoft.Resources/subscriptions/s/resourceGroups/g",
       "/providers/microsoft.resources/subscriptions/s/resourcegroups/g", "microsoft.resources/resourcegroups"},
      {"/subscriptions/s/resourceGroups/g/deployments/d", "/subscriptions/s/resourcegroups/g/deployments/d",
       "microsoft.resources/resourcegroups/deployments"},
  };
  for (const auto& c : cases) {
    const Target target = must_parse(c.target);
    EXPECT_EQ(target.kind, TargetKind::Resource) << c.target;
    EXPECT_EQ(target.resource.id, c.id) << c.target;
    EXPECT_EQ(target.resource.type, c.type) << c.target;
    EXPECT_EQ(target.action, "") << c.target;
    EXPECT_EQ(must_parse(c.target, true).kind, TargetKind::Resource) << "POST " << c.target;
  }
}

struct OddCase {
  std::string_view target;
  std::string_view scope;
  std::string_view scope_type;
  std::string_view item_type;
  std::string_view last;
};

TEST(ResourceIdTest, OddPathsAreCollectionsOrActionsOfTheirScope) {
  const OddCase cases[] = {
      {"/subscriptions/s/resourceGroups", "/subscriptions/s", "microsoft.resources/subscriptions",
       "microsoft.resources/resourcegroups", "resourcegroups"},
      {"/subscriptions/s/resourceGroups/g/moveResources", kGroup, "microsoft.resources/resourcegroups",
       "microsoft.resources/resourcegroups/moveresources", "moveresources"},
      {"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks", kGroup,
       "microsoft.resources/resourcegroups", "microsoft.network/virtualnetworks", "virtualnetworks"},
      {"/subscriptions/s/providers/Microsoft.Network/virtualNetworks/", "/subscriptions/s", "microsoft.resources/subscriptions",
       "microsoft.network/virtualnetworks", "virtualnetworks"},
      {"/subscriptions/s/providers/Microsoft.Network/register", "/subscriptions/s", "microsoft.resources/subscriptions",
       "microsoft.network/register", "register"},
      {"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/x/Restart",
       "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/x",
       "microsoft.compute/virtualmachinescalesets", "microsoft.compute/virtualmachinescalesets/restart", "restart"},
      {"/subscriptions/s/resourceGroups/g/providers/A.B/c/d/providers/E.F/g",
       "/subscriptions/s/resourcegroups/g/providers/a.b/c/d", "a.b/c", "e.f/g", "g"},
  };
  for (const auto& c : cases) {
    const Target collection = must_parse(c.target);
    EXPECT_EQ(collection.kind, TargetKind::Collection) << c.target;
    EXPECT_EQ(collection.resource, (ResourceId{std::string(c.scope), std::string(c.item_type)})) << c.target;
    EXPECT_EQ(collection.action, "") << c.target;
    const Target action = must_parse(c.target, true);
    EXPECT_EQ(action.kind, TargetKind::Action) << c.target;
    EXPECT_EQ(action.resource, (ResourceId{std::string(c.scope), std::string(c.scope_type)})) << c.target;
    EXPECT_EQ(action.action, c.last) << c.target;
  }
}

TEST(ResourceIdTest, CollectionsOfTheTenantHaveAnEmptyScope) {
  const Target subscriptions = must_parse("/subscriptions?api-version=2022-12-01");
  EXPECT_EQ(subscriptions.kind, TargetKind::Collection);
  EXPECT_EQ(subscriptions.resource, (ResourceId{"", "microsoft.resources/subscriptions"}));
  const Target groups = must_parse("/providers/Microsoft.Management/managementGroups");
  EXPECT_EQ(groups.kind, TargetKind::Collection);
  EXPECT_EQ(groups.resource, (ResourceId{"", "microsoft.management/managementgroups"}));
}

TEST(ResourceIdTest, EverythingElseIsOther) {
  for (const std::string_view target :
       {"/", "*", "/?x=y", "/providers", "/providers/", "/providers/Microsoft.Network", "/batch", "/batch/x",
        "/metadata/endpoints", "/tenants", "/subscriptions/s/providers", "/subscriptions/s/providers/Microsoft.Network",
        "/subscriptions/s/resourceGroups/g/providers", "/resourceGroups/g", "/%20/subscriptions/s"}) {
    const Target parsed = must_parse(target);
    EXPECT_EQ(parsed.kind, TargetKind::Other) << target;
    EXPECT_EQ(parsed.resource, ResourceId{}) << target;
  }
  EXPECT_EQ(must_parse("/providers/Microsoft.ResourceGraph/resources", true).kind, TargetKind::Other);
}

TEST(ResourceIdTest, AnEmptyPathOfAParentIsNone) {
  const std::string group = "/subscriptions/s/resourceGroups/g";
  const auto same = [&](const std::string& odd, const std::string& usual) {
    const Target parsed = must_parse(group + odd);
    EXPECT_EQ(parsed.kind, TargetKind::Resource) << odd;
    EXPECT_EQ(parsed.resource, must_parse(group + usual).resource) << odd;
  };
  same("/providers/Microsoft.Storage//storageAccounts/sa", "/providers/Microsoft.Storage/storageAccounts/sa");
  same("/providers/Microsoft.Storage//storageAccounts/s%20a/", "/providers/Microsoft.Storage/storageAccounts/s%20a");
  same("/providers/Microsoft.Storage//storageAccounts/sa/providers/Microsoft.Authorization/locks/l",
       "/providers/Microsoft.Storage/storageAccounts/sa/providers/Microsoft.Authorization/locks/l");
}

TEST(ResourceIdTest, PathsThatCouldNameTwoResourcesAreRefused) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "origin-form"},
      {"subscriptions/s", "origin-form"},
      {"https://management.azure.com/subscriptions/s", "origin-form"},
      {"///", "empty name"},
      {"///subscriptions/s", "empty name"},
      {"//subscriptions//s", "empty name"},
      {"//subscriptions/s//", "empty name"},
      {"/subscriptions//s", "empty name"},
      {"/subscriptions/s//", "empty name"},
      {"/subscriptions/s/providers/Contoso.Box//", "empty name"},
      {"/subscriptions/s/providers/Contoso.Box///boxes/b", "empty name"},
      {"/subscriptions/s/providers//boxes/b", "empty name"},
      {"/subscriptions/s/providers/Contoso.Box/boxes//b", "empty name"},
      {"/subscriptions/s/.", "dot segment"},
      {"/subscriptions/s/../t", "dot segment"},
      {"/subscriptions/s/%2e%2E/t", "dot segment"},
      {"/subscriptions/s/.%2e", "dot segment"},
      {"/subscriptions/a%2Fb", "slash"},
      {"/subscriptions/a%2fb", "slash"},
      {"/subscriptions/a%5cb", "backslash"},
      {"/subscriptions/a\\b", "backslash"},
      {"/subscriptions/a%00b", "control character"},
      {"/subscriptions/a%0d%0ab", "control character"},
      {"/subscriptions/a\x01"
       "b",
       "control character"},
      {"/subscriptions/a%7f", "control character"},
      {"/subscriptions/a%", "percent-escape"},
      {"/subscriptions/a%4", "percent-escape"},
      {"/subscriptions/a%4g", "percent-escape"},
      {"/subscriptions/a%%41", "percent-escape"},
      {"/subscriptions/a#b", "fragment"},
  };
  for (const auto& [target, why] : cases) {
    const auto parsed = parse_target(target, false);
    ASSERT_FALSE(parsed.ok()) << target;
    EXPECT_EQ(parsed.error().kind, ErrorKind::BadInput) << target;
    EXPECT_EQ(parsed.error().source, ErrorSource::Client) << target;
    EXPECT_NE(parsed.error().context.find(why), std::string::npos) << parsed.error().context;
    EXPECT_FALSE(parse_resource_id(target)) << target;
  }
}

// As the JavaScript and the Java SDK send ids that begin with a slash.
TEST(ResourceIdTest, TwoSlashesAtTheBeginningAreOne) {
  const std::string_view paths[] = {"/subscriptions/S/resourceGroups/G/providers/A.B/c/d",
                                    "/subscriptions/s/resourcegroups/g/providers/A.B/c/d%2d",
                                    "/providers/A.B/c/d/",
                                    "/providers/A.B/c",
                                    "/subscriptions",
                                    "/batch",
                                    "/"};
  for (const std::string_view path : paths) {
    SCOPED_TRACE(path);
    const Target one = must_parse(path), two = must_parse("/" + std::string(path) + "?api-version=2024-01-01");
    EXPECT_EQ(two.kind, one.kind);
    EXPECT_EQ(two.resource, one.resource);
    EXPECT_EQ(two.api_version, "2024-01-01");
  }
  EXPECT_FALSE(parse_resource_id("//subscriptions/S")) << "a request's path, no id";
}

// As the JavaScript and the Go SDK send the scope of a management lock.
TEST(ResourceIdTest, AScopeWhoseSlashesAreEncodedIsTheScope) {
  const std::pair<std::string_view, std::string_view> same[] = {
      {"/%2Fsubscriptions%2FS%2FresourceGroups%2FG/providers/Microsoft.Authorization/locks/L",
       "/subscriptions/S/resourceGroups/G/providers/Microsoft.Authorization/locks/L"},
      {"/subscriptions%2fS%2fresourceGroups%2fG/providers/Microsoft.Authorization/locks",
       "/subscriptions/S/resourceGroups/G/providers/Microsoft.Authorization/locks"},
      {"/%2fSUBSCRIPTIONS%2fS/Providers/Microsoft.Authorization/locks/a%20b",
       "/subscriptions/S/providers/Microsoft.Authorization/locks/a%20b"},
      {"/%2Fsubscriptions%2FS%2FresourceGroups%2FG%2Fproviders%2FA.B%2Fc%2Fd%2520e/providers/Microsoft.Authorization/locks/L/",
       "/subscriptions/S/resourceGroups/G/providers/A.B/c/d%2520e/providers/Microsoft.Authorization/locks/L"},
      {"/%2Fproviders%2FMicrosoft.Management%2FmanagementGroups%2Fm/providers/Microsoft.Authorization/policyAssignments/p",
       "/providers/Microsoft.Management/managementGroups/m/providers/Microsoft.Authorization/policyAssignments/p"},
  };
  for (const auto& [encoded, plain] : same) {
    SCOPED_TRACE(encoded);
    const Target one = must_parse(plain), other = must_parse(std::string(encoded) + "?api-version=2020-05-01");
    EXPECT_EQ(other.kind, one.kind);
    EXPECT_EQ(other.resource, one.resource);
    EXPECT_FALSE(parse_resource_id(encoded)) << "a request's path, no id";
  }
}

TEST(ResourceIdTest, NothingElseMayHideASlash) {
  for (const std::string_view target : {
           "/%2Fsubscriptions%2Fs",                                                // nothing stands behind the scope
           "/%2Fsubscriptions%2Fs/resourceGroups/g",                               // not about the scope
           "/%2Fsubscriptions%2Fs/providers/Microsoft.Authorization/locks/a%2Fb",  // in a name
           "/subscriptions/s%2FresourceGroups%2Fg/providers/Microsoft.Authorization/locks/a",
           "/subscriptions/s/resourceGroups/g%2Fproviders%2FA.B%2Fc%2Fd/providers/Microsoft.Authorization/locks/a",
           "/%2F%2Fsubscriptions%2Fs/providers/Microsoft.Authorization/locks/a",        // three slashes
           "//%2Fsubscriptions%2Fs/providers/Microsoft.Authorization/locks/a",          // the same
           "/%2Fsubscriptions%2F%2Fs/providers/Microsoft.Authorization/locks/a",        // an empty name
           "/%2Fsubscriptions%2Fs%2F/providers/Microsoft.Authorization/locks/a",        // the same
           "/%2Fsubscriptions%2Fs%2F..%2Ft/providers/Microsoft.Authorization/locks/a",  // a dot segment
           "/%2Fsubscriptions%2Fs%2F%2e%2e%2Ft/providers/Microsoft.Authorization/locks/a",
           "/%2Fsubscriptions%2Fs%5Ct/providers/Microsoft.Authorization/locks/a",  // a backslash
           "/%2Fsubscriptions%2Fs%00/providers/Microsoft.Authorization/locks/a",
           "/%2Fother%2Fs/providers/Microsoft.Authorization/locks/a",  // no scope
           "/%2F/providers/Microsoft.Authorization/locks/a",
       }) {
    const auto parsed = parse_target(target, false);
    EXPECT_FALSE(parsed.ok()) << target;
  }
  const Target twice = must_parse("/%252Fsubscriptions%252Fs/providers/Microsoft.Authorization/locks/a");
  EXPECT_EQ(twice.kind, TargetKind::Other) << "decoded once, it names no subscription";
}

TEST(ResourceIdTest, TheQueryIsNeitherCheckedNorTold) {
  EXPECT_EQ(must_parse("/subscriptions/s?c=%2F..%zz&h=//").kind, TargetKind::Resource);
  const auto refused = parse_target("/subscriptions//s?sig=secret", false);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().context.find("secret"), std::string::npos);
}

TEST(ResourceIdTest, TheApiVersionIsLowerCaseAndFoundWhateverTheCaseOfItsName) {
  EXPECT_EQ(must_parse("/subscriptions/s?api-version=2024-03-01-Preview").api_version, "2024-03-01-preview");
  EXPECT_EQ(must_parse("/subscriptions/s?x=1&API-Version=2024-03-01").api_version, "2024-03-01");
  EXPECT_EQ(must_parse("/subscriptions/s?api-version=2024%2D03%2d01").api_version, "2024-03-01");
  EXPECT_EQ(must_parse("/subscriptions/s?api-version=2024%zz").api_version, "2024%zz");
  EXPECT_EQ(must_parse("/subscriptions/s?api-version").api_version, "");
  EXPECT_EQ(must_parse("/subscriptions/s").api_version, "");
  EXPECT_EQ(must_parse("/batch?api-version=2015-11-01").api_version, "2015-11-01");
}

TEST(ResourceIdTest, OnlyIdsOfResourcesInBodiesAreIds) {
  EXPECT_EQ(must_be_id("/Subscriptions/S/resourceGroups/G").id, kGroup);
  for (const std::string_view text : {"", "/", "not an id", "/subscriptions", "/subscriptions/s/resourceGroups",
                                      "/subscriptions/s?x", "https://a.b/subscriptions/s", "/providers/Microsoft.Network",
                                      "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks"}) {
    EXPECT_FALSE(parse_resource_id(text)) << text;
  }
}

TEST(ResourceIdTest, ManyAndLongSegmentsAreNoTrouble) {
  std::string path = "/subscriptions/s";
  for (int i = 0; i < 20'000; ++i) path += "/providers/a.b/c/d";
  EXPECT_EQ(must_parse(path).kind, TargetKind::Resource);
  EXPECT_EQ(must_parse("/subscriptions/" + std::string(1'000'000, 'x')).kind, TargetKind::Resource);
}

TEST(ResourceIdTest, ParentsUpToTheResourceGroup) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {kSubnet, "/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/v"},
      {"/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/v", kGroup},
      {"/subscriptions/s/resourcegroups/g/providers/a.b/c/d/providers/microsoft.resources/tags/default",
       "/subscriptions/s/resourcegroups/g/providers/a.b/c/d"},
      {"/subscriptions/s/resourcegroups/g/providers/microsoft.resources/tags/default", kGroup},
      {"/subscriptions/s/providers/microsoft.resources/tags/default", "/subscriptions/s"},
      {"/providers/microsoft.management/managementgroups/m/providers/a.b/c/d",
       "/providers/microsoft.management/managementgroups/m"},
      {kGroup, ""},
      {"/subscriptions/s", ""},
      {"/providers/microsoft.management/managementgroups/m", ""},
  };
  for (const auto& [id, parent] : cases) {
    const auto found = parent_of(must_be_id(id));
    EXPECT_EQ(found, parse_resource_id(parent)) << id;
  }
  EXPECT_FALSE(parent_of(ResourceId{}));
}

TEST(ResourceIdTest, SelfAndAncestorsComeNearestFirst) {
  EXPECT_EQ(self_and_ancestors(must_be_id(kSubnet)),
            (std::vector<std::string>{std::string(kSubnet),
                                      "/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/v",
                                      std::string(kGroup)}));
  EXPECT_EQ(self_and_ancestors(must_be_id(kGroup)), std::vector<std::string>{std::string(kGroup)});
  EXPECT_TRUE(self_and_ancestors(ResourceId{}).empty());
}

TEST(ResourceIdTest, AncestorsAreFoundByTypeInAnyCase) {
  const ResourceId subnet = must_be_id(kSubnet);
  EXPECT_EQ(ancestor_of_type(subnet, "Microsoft.Network/virtualNetworks")->id,
            "/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/v");
  EXPECT_EQ(ancestor_of_type(subnet, subnet.type), subnet);
  EXPECT_FALSE(ancestor_of_type(subnet, "microsoft.network/loadbalancers"));
  EXPECT_FALSE(ancestor_of_type(subnet, ""));
}

TEST(ResourceIdTest, OnlyWhatIsInAGroupHasOne) {
  EXPECT_EQ(resource_group_of(must_be_id(kSubnet)), kGroup);
  EXPECT_EQ(resource_group_of(must_be_id(kGroup)), kGroup);
  EXPECT_FALSE(resource_group_of(must_be_id("/subscriptions/s/providers/a.b/c/d")));
  EXPECT_FALSE(resource_group_of(must_be_id("/providers/a.b/c/d")));
}

TEST(ResourceIdTest, AnIdReadAgainIsItself) {
  for (const std::string_view text : {std::string_view("/subscriptions/S/resourceGroups/my%20Group"), kSubnet}) {
    const ResourceId once = must_be_id(text);
    EXPECT_EQ(must_be_id(once.id), once);
    EXPECT_EQ(self_and_ancestors(once).front(), once.id);
  }
}

// Goal: a name reads the same wherever it begins. Method: every byte behind names of every length up to two words.
TEST(ParseTargetTest, EveryByteIsReadAlikeWhereverItStands) {
  const std::string forbidden("#%\\\x7f", 4);  // '%' begins a broken escape here
  for (size_t before = 0; before <= 17; ++before) {
    for (int byte = 0; byte < 256; ++byte) {
      const char c = static_cast<char>(byte);
      if (c == '/' || c == '?') continue;
      const std::string name = std::string(before, 'Q') + c + "Z\xC3\x84z";
      const auto target = parse_target("/subscriptions/" + name + "?api-version=1", false);
      const bool refused = byte < 0x20 || forbidden.find(c) != std::string::npos;
      ASSERT_EQ(target.ok(), !refused) << before << " " << byte;
      if (target.ok()) {
        ASSERT_EQ(target->resource.id, "/subscriptions/" + lower_text(name)) << before << " " << byte;
      }
    }
  }
}

}  // namespace
}  // namespace armgate::arm
