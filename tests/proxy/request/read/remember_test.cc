// Goal: which answers show a client a state, and what a request is called. Method: tables of statuses and of names.
#include "proxy/request/read/remember.h"

#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::remember_test {
namespace {

const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1}})";
constexpr std::string_view kScaleSetId =
    "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/v";

size_t states(StageRig& rig) {
  return rig.shared().resources.ask(rig.shared().hasher.hash(kScaleSetId),
                                    [](const policy::History& history) { return history.entries().size(); });
}

TEST(Remember, OnlyAStateOrItsAbsenceIsShown) {
  const struct {
    int status;
    size_t states;
  } rows[] = {{200, 1}, {404, 1}, {304, 0}, {401, 0}, {403, 0}, {429, 0}, {500, 0}, {204, 0}};
  for (const auto& row : rows) {
    StageRig rig;
    rig.arm(get(kScaleSet), row.status, {{"ETag", "\"1\""}}, row.status == 200 ? kState : "{}");
    rig.ask("one", get(kScaleSet));
    EXPECT_EQ(states(rig), row.states) << row.status;
  }
}

TEST(Remember, TheSameStateIsKeptOnceHoweverOftenItIsShown) {
  StageRig rig;
  for (const char* client : {"one", "one", "two"}) {
    rig.arm(get(kScaleSet), 200, {{"ETag", "\"1\""}}, kState);
    rig.ask(client, get(kScaleSet));
  }
  EXPECT_EQ(states(rig), 1u);
}

TEST(Remember, ALongNameIsShortenedAndStillItsOwn) {
  const Hasher hasher{HashKey{1, 2}};
  const auto name_of = [&](const std::string& id) {
    Exchange exchange;
    if (!id.empty()) exchange.request.head.fields.add("x-ms-client-request-id", id);
    return request_id_of(hasher, exchange);
  };
  EXPECT_EQ(name_of(""), "");
  EXPECT_EQ(name_of(std::string(128, 'a')), std::string(128, 'a'));
  EXPECT_EQ(name_of(std::string(129, 'a')).size(), 32u);
  EXPECT_NE(name_of(std::string(129, 'a')), name_of(std::string(129, 'a') + "b"));
}

}  // namespace
}  // namespace armgate::world::remember_test
