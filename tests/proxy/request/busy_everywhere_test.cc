// Refusals of types that no rule names: they are waited out as well as those of the others, as shipped.
#include <gtest/gtest.h>

#include "sim/error_catalogue.h"
#include "tests/support/stage_rig.h"

namespace armgate::world::busy_everywhere_test {
namespace {

const std::string kProviders = "/subscriptions/s/resourceGroups/g/providers/";

std::string refusal(std::string_view name) { return std::string(sim::find_refusal(name)->body); }

TEST(BusyEverywhere, EachProvidersOwnWordsAreKnownOfItsOwnTypes) {
  const struct {
    const char* type;
    const char* refusal;
  } cases[] = {
      {"Microsoft.App/containerApps/c", "busy-container-app"},
      {"Microsoft.Sql/servers/s/databases/d", "busy-sql"},
      {"Microsoft.Web/sites/w", "busy-web"},
      {"Microsoft.Web/serverfarms/p", "busy-plan-throttled"},
      {"Microsoft.CognitiveServices/accounts/a", "busy-cognitive"},
      {"Microsoft.DBforPostgreSQL/flexibleServers/f", "busy-postgres"},
      {"Microsoft.Cache/redis/r", "busy-redis"},
      {"Microsoft.ServiceBus/namespaces/n", "busy-bus"},
      {"Microsoft.DocumentDB/databaseAccounts/a", "exclusive-lock-of-a-user"},
      {"Microsoft.Network/trafficManagerProfiles/t", "busy-traffic"},
      {"Microsoft.ApiManagement/service/a/apis/i", "busy-api"},
      {"Microsoft.AppConfiguration/configurationStores/c", "busy-store"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.type);
    StageRig rig;
    const std::string target = kProviders + c.type + "?api-version=2024-01-01";
    rig.arm(put(target), sim::find_refusal(c.refusal)->status, {}, refusal(c.refusal));
    rig.arm(get(target), 404, {}, R"({"error":{"code":"ResourceNotFound","message":"m"}})");
    rig.arm(put(target), 201, {}, R"({"properties":{}})");
    const auto answer = rig.ask("one", put(target), R"({"properties":{}})");
    EXPECT_EQ(answer.head.status, 201);
    EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "arm-was-busy");
    EXPECT_TRUE(rig.script_is_done());
  }
}

// A 412 that says "busy" is no answer to the ETag that went along, and a real one still is.
TEST(BusyEverywhere, A412ThatSaysBusyIsWaitedOutAndAnyOtherIsLookedInto) {
  const std::string target = kProviders + "Microsoft.Devices/IotHubs/h?api-version=2023-06-30";
  const std::string hub = R"({"etag":"AAA=","properties":{"provisioningState":"Succeeded"},"sku":{"capacity":1}})";
  StageRig rig;
  rig.arm(get(target), 200, {}, hub);
  rig.arm(put(target), 412, {}, refusal("exclusive-lock"));
  rig.arm(get(target), 200, {}, hub);
  rig.arm(put(target), 200, {}, hub);
  rig.ask("one", get(target));
  const auto answer = rig.ask("one", put(target), R"({"properties":{},"sku":{"capacity":2}})");
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "arm-was-busy");
  EXPECT_EQ(rig.sent_field(1, "If-Match"), "AAA=");
  EXPECT_EQ(rig.sent_field(3, "If-Match"), "AAA=");
}

TEST(BusyEverywhere, AServiceThatAnEndpointRefersToIsWaitedForIfItWasJustMade) {
  const std::string service = kProviders + "Microsoft.Network/privateLinkServices/l?api-version=2024-05-01";
  const std::string endpoint = kProviders + "Microsoft.Network/privateEndpoints/e?api-version=2024-05-01";
  const std::string body = R"({"properties":{"privateLinkServiceConnections":[{"properties":{"privateLinkServiceId":")" +
                           kProviders + R"(Microsoft.Network/privateLinkServices/l"}}]}})";
  const std::string unknown =
      R"({"error":{"code":"InvalidPrivateLinkServiceId","message":"Invalid private link service id: {0}"}})";
  for (const bool just_made : {true, false}) {
    StageRig rig;
    if (just_made) {
      rig.arm(put(service), 201, {}, R"({"properties":{"provisioningState":"Succeeded"}})");
      rig.ask("one", put(service), R"({"properties":{}})");
    }
    rig.arm(put(endpoint), 400, {}, unknown);
    if (just_made) rig.arm(put(endpoint), 201, {}, R"({"properties":{"provisioningState":"Succeeded"}})");
    const auto answer = rig.ask("one", put(endpoint), body);
    EXPECT_EQ(answer.head.status, just_made ? 201 : 400);
    EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), just_made ? "waited-for-a-reference-to-appear" : "");
    EXPECT_TRUE(rig.script_is_done());
  }
}

}  // namespace
}  // namespace armgate::world::busy_everywhere_test
