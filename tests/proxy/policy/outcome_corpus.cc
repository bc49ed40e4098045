#include "tests/proxy/policy/evidence_corpus.h"

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

const std::vector<EvidenceStory> kScaleSets{
    {"the roller read before the autoscaler wrote", {{kSetOf3}, {kSetOf5}}, kImage2On3, "content 1"},
    {"the roller read what the autoscaler made", {{kSetOf3}, {kSetOf5}}, kImage2On5, "content 2"},
    {"the same, and the older is used up", {{kSetOf3, Still::Dead}, {kSetOf5}}, kImage2On5, "only-live 2"},
    {"the older, which is used up", {{kSetOf3, Still::Dead}, {kSetOf5}}, kImage2On3, "refused"},
    {"the newest of three", {{kSetOf3}, {kSetOf5}, {kSetOf5Tagged}}, kImage2On5Tagged, "content 3"},
    {"the second of three: built before the tag came, or removes it",
     {{kSetOf3}, {kSetOf5}, {kSetOf5Tagged}},
     kImage2On5,
     "content 2"},
    {"the second of three is dead", {{kSetOf3, Still::Dead}, {kSetOf5, Still::Dead}, {kSetOf5Tagged}}, kImage2On5, "refused"},
    {"a template that knows neither", {{kSetOf3}, {kSetOf5}}, kFromATemplate, "oldest-live 1"},
    {"a template that knows neither, when one is left", {{kSetOf3, Still::Dead}, {kSetOf5}}, kFromATemplate, "only-live 2"},
    {"the autoscaler takes its own step back: that is the state of before", {{kSetOf3}, {kSetOf5}}, kBackTo3, "oldest-live 1"},
    {"the same when nothing else lives", {{kSetOf3, Still::Dead}, {kSetOf5}}, kBackTo3, "only-live 2"},
    {"a step back with a tag of its own looks like one who never saw the step",
     {{kSetOf3}, {kSetOf5}},
     kBackTo3WithARun,
     "content 1"},
    {"the same when nothing else lives: in doubt refused", {{kSetOf3, Still::Dead}, {kSetOf5}}, kBackTo3WithARun, "refused"},
    {"what was read is written back as it is", {{kSetOf3}, {kSetOf5}}, kSetOf5, "oldest-live 1"},
    {"a tag set anew that was wiped out, which the state before it had",
     {{kSetOf3WithARun, Still::Dead}, {kSetOf5}, {kSetOf5Tagged}},
     kRunOn5,
     "oldest-live 2"},
    {"the same on what was refused to another",
     {{kSetOf3WithARun, Still::Dead}, {kSetOf5, Still::Refused}, {kSetOf5Tagged}},
     kRunOn5,
     "refused"},
    {"the same by the second of two writes from one copy: what is used up is only masked, never given up for a newer one",
     {{R"({"sku":{"capacity":3},"plan":{"name":"1"},"tags":{"run":"17"}})", Still::Dead},
      {R"({"sku":{"capacity":3},"plan":{"name":"1"},"tags":{}})"},
      {R"({"sku":{"capacity":5},"plan":{"name":"2"},"tags":{}})", Still::Dead},
      {R"({"sku":{"capacity":7},"plan":{"name":"2"},"tags":{}})"}},
     R"({"sku":{"capacity":5},"plan":{"name":"2"},"tags":{"run":"17"}})",
     "oldest-live 2"},
    {"the same while somebody may hold what was there before",
     {{kSetOf3WithARun}, {kSetOf5}, {kSetOf5Tagged}},
     kRunOn5,
     "oldest-live 1"},
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

const std::vector<EvidenceStory> kSecurityGroups{
    {"a rule added to what had none", {{kNoRules}, {kWeb}}, kDbOnNone, "content 1"},
    {"a rule added to what had none, which is dead", {{kNoRules, Still::Dead}, {kWeb}}, kDbOnNone, "refused"},
    {"a rule added to what had one", {{kNoRules}, {kWeb}}, kDbOnWeb, "content 2"},
    {"a rule added to the middle state", {{kNoRules}, {kWeb}, {kWebSsh}}, kDbOnWeb, "content 2"},
    {"names in another case, elements in another order", {{kNoRules}, {kWeb}, {kWebSsh}}, kDbOnWebSsh, "content 3"},
    {"a rule of the same name, but another: made by both", {{kNoRules}, {kWeb}}, kOwnWebAndDb, "oldest-live 1"},
    {"a rule removed from the newest", {{kWeb}, {kWebSsh}}, kWithoutWeb, "content 2"},
    {"a daemon that sends the rules it keeps, again and again", {{kWeb, Still::Dead}, {kWebSsh}}, kWeb, "only-live 2"},
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

const std::vector<EvidenceStory> kNetworks{
    {"a subnet added before b came", {{kNet}, {kNetAB}}, kNetAC, "content 1"},
    {"a subnet added after b came", {{kNet}, {kNetAB}}, kNetABC, "content 2"},
    {"the same without dhcpOptions, which the tool drops", {{kNet}, {kNetAB}, {kNetABDns}}, kNetABC, "oldest-live 2"},
    {"with the name servers of the newest", {{kNet}, {kNetAB}, {kNetABDns}}, kNetABCDns, "content 3"},
    {"a blueprint without any subnet of theirs says: built before b, or removes it",
     {{kNet}, {kNetAB}},
     kBlueprint,
     "content 1"},
};

// ---- tags as a resource of their own ----

constexpr std::string_view kTagsA = R"({"properties":{"tags":{"owner":"ann"}}})";
constexpr std::string_view kTagsAB = R"({"properties":{"tags":{"owner":"ann","cost":"42"}}})";
constexpr std::string_view kTagsAC = R"({"properties":{"tags":{"owner":"ann","stage":"test"}}})";
constexpr std::string_view kTagsABC = R"({"properties":{"tags":{"owner":"ann","cost":"42","stage":"test"}}})";
constexpr std::string_view kTagsNew = R"({"properties":{"tags":{"owner":"bob","cost":"7"}}})";
constexpr std::string_view kTagsNewest = R"({"properties":{"tags":{"Owner":"ann","cost":"42","stage":"test"}}})";

const std::vector<EvidenceStory> kTags{
    {"a tag added to the older set", {{kTagsA}, {kTagsAB}}, kTagsAC, "content 1"},
    {"a tag added to the newer set", {{kTagsA}, {kTagsAB}}, kTagsABC, "content 2"},
    {"all values new: nobody's", {{kTagsA}, {kTagsAB}}, kTagsNew, "oldest-live 1"},
    {"names in another case are other tags here, the rest still tells", {{kTagsA}, {kTagsAB}}, kTagsNewest, "content 2"},
    {"the same tag added by both, which is another's state already", {{kTagsA}, {kTagsAB}}, kTagsAB, "oldest-live 1"},
};

std::vector<EvidenceStory> all_of(std::initializer_list<std::vector<EvidenceStory>> parts) {
  std::vector<EvidenceStory> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

const std::vector<EvidenceStory>& evidence_corpus() {
  static const std::vector<EvidenceStory> all = all_of({kScaleSets, kSecurityGroups, kNetworks, kTags});
  return all;
}

}  // namespace armgate::policy
