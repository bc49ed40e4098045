#include "tests/proxy/policy/corpus/verdict_corpus.h"

namespace armgate::policy {
namespace {

// ---- a scale set: an autoscaler, an owner of tags and an image roller behind one service principal ----

constexpr std::string_view kSetOf3 =
    R"({"name":"web","location":"westeurope","sku":{"name":"Standard_D2s_v5","tier":"Standard","capacity":3},
  "tags":{"team":"shop"},"properties":{"provisioningState":"Succeeded","singlePlacementGroup":false,"upgradePolicy":{"mode":"Manual"},
  "virtualMachineProfile":{"storageProfile":{"imageReference":{"id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/v1"}}}}})";
constexpr std::string_view kSetOf5 =
    R"({"name":"web","location":"westeurope","sku":{"name":"Standard_D2s_v5","tier":"Standard","capacity":5},
  "tags":{"team":"shop"},"properties":{"provisioningState":"Updating","singlePlacementGroup":false,"upgradePolicy":{"mode":"Manual"},
  "virtualMachineProfile":{"storageProfile":{"imageReference":{"id":"/subscriptions/s/resourcegroups/G/providers/Microsoft.Compute/images/v1"}}}}})";
constexpr std::string_view kSetOf5Tagged =
    R"({"name":"web","location":"westeurope","sku":{"name":"Standard_D2s_v5","tier":"Standard","capacity":5},
  "tags":{"team":"shop","cost":"42"},"properties":{"provisioningState":"Succeeded","singlePlacementGroup":false,"upgradePolicy":{"mode":"Manual"},
  "virtualMachineProfile":{"storageProfile":{"imageReference":{"id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/v1"}}}}})";
constexpr std::string_view kSetOf3WithARun =
    R"({"name":"web","location":"westeurope","sku":{"name":"Standard_D2s_v5","tier":"Standard","capacity":3},
  "tags":{"team":"shop","run":"17"},"properties":{"provisioningState":"Succeeded","singlePlacementGroup":false,"upgradePolicy":{"mode":"Manual"}}})";
constexpr std::string_view kRunOn5 =
    R"({"location":"westeurope","sku":{"name":"Standard_D2s_v5","tier":"Standard","capacity":5},
  "tags":{"team":"shop","run":"17"},"properties":{"singlePlacementGroup":false,"upgradePolicy":{"mode":"Manual"}}})";
constexpr std::string_view kImage2On3 =
    R"({"location":"westeurope","sku":{"name":"Standard_D2s_v5","tier":"Standard","capacity":3},
  "tags":{"team":"shop"},"properties":{"singlePlacementGroup":false,"upgradePolicy":{"mode":"Manual"},
  "virtualMachineProfile":{"storageProfile":{"imageReference":{"id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/v2"}}}}})";
constexpr std::string_view kImage2On5 =
    R"({"location":"westeurope","sku":{"name":"Standard_D2s_v5","tier":"Standard","capacity":5},
  "tags":{"team":"shop"},"properties":{"singlePlacementGroup":false,"upgradePolicy":{"mode":"Manual"},
  "virtualMachineProfile":{"storageProfile":{"imageReference":{"id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/v2"}}}}})";
constexpr std::string_view kImage2On5Tagged =
    R"({"location":"westeurope","sku":{"name":"Standard_D2s_v5","tier":"Standard","capacity":5},
  "tags":{"team":"shop","cost":"42"},"properties":{"singlePlacementGroup":false,"upgradePolicy":{"mode":"Manual"},
  "virtualMachineProfile":{"storageProfile":{"imageReference":{"id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/v2"}}}}})";
constexpr std::string_view kFromATemplate =
    R"({"location":"westeurope","sku":{"name":"Standard_D4s_v5","tier":"Standard","capacity":10},
  "properties":{"singlePlacementGroup":false,"upgradePolicy":{"mode":"Manual"}}})";
constexpr std::string_view kBackTo3 =
    R"({"location":"westeurope","sku":{"name":"Standard_D2s_v5","tier":"Standard","capacity":3},"tags":{"team":"shop"},
  "properties":{"singlePlacementGroup":false,"upgradePolicy":{"mode":"Manual"}}})";
constexpr std::string_view kBackTo3WithARun =
    R"({"location":"westeurope","sku":{"name":"Standard_D2s_v5","tier":"Standard","capacity":3},
  "tags":{"team":"shop","run":"17"},"properties":{"singlePlacementGroup":false,"upgradePolicy":{"mode":"Manual"}}})";

const std::vector<VerdictStory> kScaleSets{
    {"the roller read before the autoscaler wrote", {kSetOf3, kSetOf5}, kImage2On3, Ends::Refused, "/sku/capacity"},
    {"the roller read what the autoscaler made", {kSetOf3, kSetOf5}, kImage2On5, Ends::Sent},
    {"what the autoscaler made, long after what was there before", {kSetOf3, kLongAgo, kSetOf5}, kImage2On5, Ends::Sent},
    {"who read before it, so long ago that nobody thinks that long", {kSetOf3, kLongAgo, kSetOf5}, kImage2On3, Ends::Sent},
    {"on the newest of three", {kSetOf3, kSetOf5, kSetOf5Tagged}, kImage2On5Tagged, Ends::Sent},
    {"on the second of three: built before the tag came, or removes it",
     {kSetOf3, kSetOf5, kSetOf5Tagged},
     kImage2On5,
     Ends::Refused,
     "/tags/cost"},
    {"removes the tag, long after it came", {kSetOf3, kSetOf5, kLongAgo, kSetOf5Tagged}, kImage2On5, Ends::Sent},
    {"a template that knows neither", {kSetOf3, kSetOf5}, kFromATemplate, Ends::Sent},
    {"the autoscaler takes its own step back: that is the state of before",
     {kSetOf3, kSetOf5},
     kBackTo3,
     Ends::Refused,
     "/sku/capacity"},
    {"takes its own step back, long after", {kSetOf3, kLongAgo, kSetOf5}, kBackTo3, Ends::Sent},
    {"a step back with a tag of its own looks like one who never saw the step",
     {kSetOf3, kSetOf5},
     kBackTo3WithARun,
     Ends::Refused,
     "/sku/capacity"},
    {"a step back with a tag of its own, long after", {kSetOf3, kLongAgo, kSetOf5}, kBackTo3WithARun, Ends::Sent},
    {"what was read is written back as it is: or somebody else took the same step",
     {kSetOf3, kSetOf5},
     kSetOf5,
     Ends::Refused,
     "/sku/capacity"},
    {"a tag set anew that was wiped out, without the one that came since",
     {kSetOf3WithARun, kSetOf5, kSetOf5Tagged},
     kRunOn5,
     Ends::Refused,
     "/tags/cost"},
    {"a change on what was read, after the autoscaler's step around the gateway",
     {kSetOf3},
     kImage2On3,
     Ends::Merged,
     "/sku/capacity",
     kSetOf5},
    {"the same change on what the service alone has touched",
     {kSetOf5},
     kImage2On5,
     Ends::Sent,
     "",
     R"({"name":"web","location":"West Europe","etag":"\"9\"","sku":{"tier":"Standard","name":"Standard_D2s_v5","capacity":5},
  "tags":{"team":"shop"},"properties":{"provisioningState":"Failed","timeCreated":"2026-11-23T10:00:00Z","singlePlacementGroup":false,
  "upgradePolicy":{"mode":"Manual"},
  "virtualMachineProfile":{"storageProfile":{"imageReference":{"id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/v1"}}}}})"},
};

// ---- a security group: rules from two pipelines, and a daemon that keeps its own ----

constexpr std::string_view kNoRules =
    R"({"location":"westeurope","tags":{},"properties":{"provisioningState":"Succeeded","securityRules":[],
  "defaultSecurityRules":[{"name":"AllowVnetInBound","properties":{"priority":65000}}]}})";
constexpr std::string_view kWeb =
    R"({"location":"westeurope","tags":{},"properties":{"provisioningState":"Succeeded","securityRules":[
  {"name":"web","id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkSecurityGroups/n/securityRules/web","etag":"W/\"1\"",
   "properties":{"priority":100,"access":"Allow","direction":"Inbound","protocol":"Tcp","destinationPortRange":"443","sourceAddressPrefixes":[]}}],
  "defaultSecurityRules":[{"name":"AllowVnetInBound","properties":{"priority":65000}}]}})";
constexpr std::string_view kWebSsh =
    R"({"location":"westeurope","tags":{},"properties":{"provisioningState":"Succeeded","securityRules":[
  {"name":"ssh","properties":{"priority":110,"access":"Allow","direction":"Inbound","protocol":"Tcp","destinationPortRange":"22"}},
  {"name":"web","id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkSecurityGroups/n/securityRules/web","etag":"W/\"2\"",
   "properties":{"priority":100,"access":"Allow","direction":"Inbound","protocol":"Tcp","destinationPortRange":"443","sourceAddressPrefixes":[]}}]}})";
constexpr std::string_view kDbOnNone =
    R"({"location":"westeurope","properties":{"securityRules":[{"name":"db","properties":{"priority":120,
  "access":"Allow","direction":"Inbound","protocol":"Tcp","destinationPortRange":"5432"}}]}})";
constexpr std::string_view kDbOnWeb =
    R"({"location":"westeurope","properties":{"securityRules":[{"name":"web","properties":{"priority":100,"access":"Allow",
  "direction":"Inbound","protocol":"Tcp","destinationPortRange":"443"}},{"name":"db","properties":{"priority":120,"access":"Allow","direction":"Inbound",
  "protocol":"Tcp","destinationPortRange":"5432"}}]}})";
constexpr std::string_view kDbOnWebSsh =
    R"({"location":"westeurope","properties":{"securityRules":[{"name":"WEB","properties":{"priority":100,"access":"Allow",
  "direction":"Inbound","protocol":"Tcp","destinationPortRange":"443"}},{"name":"ssh","properties":{"priority":110,"access":"Allow","direction":"Inbound",
  "protocol":"Tcp","destinationPortRange":"22"}},{"name":"db","properties":{"priority":120,"access":"Allow","direction":"Inbound","protocol":"Tcp",
  "destinationPortRange":"5432"}}]}})";
constexpr std::string_view kOwnWebAndDb =
    R"({"location":"westeurope","properties":{"securityRules":[{"name":"web","properties":{"priority":100,"access":"Deny",
  "direction":"Inbound","protocol":"Tcp","destinationPortRange":"443"}},{"name":"db","properties":{"priority":120}}]}})";
constexpr std::string_view kWithoutWeb =
    R"({"location":"westeurope","properties":{"securityRules":[{"name":"ssh","properties":{"priority":110,
  "access":"Allow","direction":"Inbound","protocol":"Tcp","destinationPortRange":"22"}}]}})";

const std::vector<VerdictStory> kSecurityGroups{
    {"a rule added to what had none", {kNoRules, kWeb}, kDbOnNone, Ends::Refused, "/properties/securityRules/[name=web]"},
    {"long after the other rule came: removes it", {kNoRules, kLongAgo, kWeb}, kDbOnNone, Ends::Sent},
    {"a rule added to what had one", {kNoRules, kWeb}, kDbOnWeb, Ends::Sent},
    {"a rule added to the middle state",
     {kNoRules, kWeb, kWebSsh},
     kDbOnWeb,
     Ends::Refused,
     "/properties/securityRules/[name=ssh]"},
    {"names in another case, elements in another order", {kNoRules, kWeb, kWebSsh}, kDbOnWebSsh, Ends::Sent},
    {"a rule of the same name, but another", {kNoRules, kWeb}, kOwnWebAndDb, Ends::Sent},
    {"a rule removed from the newest", {kWeb, kWebSsh}, kWithoutWeb, Ends::Sent},
    {"a daemon that sends the rules it keeps, after somebody added one",
     {kWeb, kWebSsh},
     kWeb,
     Ends::Refused,
     "/properties/securityRules/[name=ssh]"},
    {"that daemon, long after", {kWeb, kLongAgo, kWebSsh}, kWeb, Ends::Sent},
    {"a rule added while somebody added another around the gateway",
     {kWeb},
     kDbOnWeb,
     Ends::Merged,
     "/properties/securityRules/[name=ssh]",
     kWebSsh},
};

// ---- a network: subnets by whole-network writes, as az 2.45 makes them ----

constexpr std::string_view kNet = R"({"location":"westeurope","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]},
  "dhcpOptions":{"dnsServers":[]},"subnets":[{"name":"a","properties":{"addressPrefix":"10.0.1.0/24","ipConfigurations":[]}}]}})";
constexpr std::string_view kNetAB =
    R"({"location":"westeurope","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]},
  "dhcpOptions":{"dnsServers":[]},"subnets":[{"name":"a","properties":{"addressPrefix":"10.0.1.0/24"}},{"name":"b","properties":{"addressPrefix":"10.0.2.0/24"}}]}})";
constexpr std::string_view kNetABDns =
    R"({"location":"westeurope","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]},
  "dhcpOptions":{"dnsServers":["10.0.0.4"]},"subnets":[{"name":"a","properties":{"addressPrefix":"10.0.1.0/24"}},{"name":"b","properties":{"addressPrefix":"10.0.2.0/24"}}]}})";
constexpr std::string_view kNetAC =
    R"({"location":"westeurope","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]},
  "subnets":[{"name":"a","properties":{"addressPrefix":"10.0.1.0/24"}},{"name":"c","properties":{"addressPrefix":"10.0.3.0/24"}}]}})";
constexpr std::string_view kNetABC =
    R"({"location":"westeurope","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]},
  "subnets":[{"name":"a","properties":{"addressPrefix":"10.0.1.0/24"}},{"name":"b","properties":{"addressPrefix":"10.0.2.0/24"}},
  {"name":"c","properties":{"addressPrefix":"10.0.3.0/24"}}]}})";
constexpr std::string_view kNetABCDns =
    R"({"location":"westeurope","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]},
  "dhcpOptions":{"dnsServers":["10.0.0.4"]},"subnets":[{"name":"a","properties":{"addressPrefix":"10.0.1.0/24"}},{"name":"b","properties":{"addressPrefix":"10.0.2.0/24"}},
  {"name":"c","properties":{"addressPrefix":"10.0.3.0/24"}}]}})";
constexpr std::string_view kBlueprint =
    R"({"location":"westeurope","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16","10.1.0.0/16"]},
  "subnets":[{"name":"x","properties":{"addressPrefix":"10.1.1.0/24"}}]}})";

const std::vector<VerdictStory> kNetworks{
    {"a subnet added before b came", {kNet, kNetAB}, kNetAC, Ends::Refused, "/properties/subnets/[name=b]"},
    {"a subnet added after b came", {kNet, kNetAB}, kNetABC, Ends::Sent},
    {"the same without dhcpOptions, which the tool drops",
     {kNet, kNetAB, kNetABDns},
     kNetABC,
     Ends::Refused,
     "/properties/dhcpOptions/dnsServers"},
    {"with the name servers of the newest", {kNet, kNetAB, kNetABDns}, kNetABCDns, Ends::Sent},
    {"a blueprint without any subnet of theirs says: built before b, or removes it",
     {kNet, kNetAB},
     kBlueprint,
     Ends::Refused,
     "/properties/subnets/[name=b]"},
    {"a subnet added while another came around the gateway",
     {kNet},
     kNetAC,
     Ends::Merged,
     "/properties/subnets/[name=b]",
     kNetAB},
};

// ---- tags as a resource of their own ----

constexpr std::string_view kTagsA = R"({"properties":{"tags":{"owner":"ann"}}})";
constexpr std::string_view kTagsAB = R"({"properties":{"tags":{"owner":"ann","cost":"42"}}})";
constexpr std::string_view kTagsAC = R"({"properties":{"tags":{"owner":"ann","stage":"test"}}})";
constexpr std::string_view kTagsABC = R"({"properties":{"tags":{"owner":"ann","cost":"42","stage":"test"}}})";
constexpr std::string_view kTagsNew = R"({"properties":{"tags":{"owner":"bob","cost":"7"}}})";
constexpr std::string_view kTagsNewest = R"({"properties":{"tags":{"Owner":"ann","cost":"42","stage":"test"}}})";

const std::vector<VerdictStory> kTags{
    {"a tag added to the older set", {kTagsA, kTagsAB}, kTagsAC, Ends::Refused, "/properties/tags/cost"},
    {"a tag added to the newer set", {kTagsA, kTagsAB}, kTagsABC, Ends::Sent},
    {"all values new", {kTagsA, kTagsAB}, kTagsNew, Ends::Sent},
    {"names in another case are other tags, the rest still tells", {kTagsA, kTagsAB}, kTagsNewest, Ends::Sent},
    {"what is there already, written back", {kTagsA, kTagsAB}, kTagsAB, Ends::Sent},
};

std::vector<VerdictStory> all_of(std::initializer_list<std::vector<VerdictStory>> parts) {
  std::vector<VerdictStory> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

const std::vector<VerdictStory>& verdict_corpus() {
  static const std::vector<VerdictStory> all = all_of({kScaleSets, kSecurityGroups, kNetworks, kTags});
  return all;
}

}  // namespace armgate::policy
