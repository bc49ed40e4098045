// Goal: which answers show a client a state, and what a request is called. Method: tables of statuses and of names.
#include "proxy/request/read/remember.h"

#include <fmt/format.h>
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

// A type without ETags, whose state has a member more under $expand, and only its tags under $select.
struct WithOptions {
  static constexpr std::string_view kPlain =
      "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v?api-version=2022-08-01";
  WithOptions() {
    rig.arm_lives([this](const arm::Request& request) {
      Step step;
      step.expected = request.head.method_token;
      if (request.head.method == arm::Method::Put) body = request.body;
      step.body = body;
      const std::string_view target = request.head.target;
      if (target.find("$expand") != target.npos) step.body.replace(0, 1, R"({"details":{"a":"1"},)");
      if (target.find("$select") != target.npos) step.body = R"({"tags":{"t":"0"}})";
      return step;
    });
  }
  void read(const char* client, const std::string& options) { rig.ask(client, get(std::string(kPlain) + options)); }
  arm::Response write(const char* client, int capacity, const std::string& tags) {
    return rig.ask(client, put(kPlain), fmt::format(R"({{"sku":{{"capacity":{}}},"tags":{{{}}}}})", capacity, tags));
  }
  StageRig rig;
  std::string body = R"({"sku":{"capacity":1},"tags":{"t":"0"}})";
};

TEST(Remember, AReadWithOptionsRefusesNobodyWhoBuildsOnOneWithout) {
  for (const char* options : {"&$expand=details", "&$select=tags", "&%24select=tags"}) {
    WithOptions rig;
    for (int i = 1; i <= 3; ++i) {
      rig.read("one", "");
      rig.read("one", options);
      const auto answer = rig.write("one", 1, fmt::format(R"("t":"{}")", i));
      EXPECT_EQ(answer.head.status, 200) << options << i << answer.body;
    }
  }
}

TEST(Remember, APartOfTheStateIsNotTakenForTheState) {
  WithOptions rig;
  rig.read("ann", "");
  rig.read("ben", "");
  EXPECT_EQ(rig.write("ben", 2, R"("t":"0")").head.status, 200);
  rig.read("ann", "&$select=tags");
  EXPECT_EQ(rig.write("ann", 1, R"("t":"0","ann":"1")").head.fields.get("x-armgate-merged"), "1");
  EXPECT_NE(rig.body.find(R"("capacity":2)"), std::string::npos) << rig.body;
}

TEST(Remember, WhatWasReadWithOptionsIsComparedSo) {
  WithOptions rig;
  rig.read("ann", "&$expand=details");
  EXPECT_EQ(rig.write("ann", 1, R"("t":"0","ann":"1")").head.status, 200);
  rig.read("ann", "&$expand=details");
  rig.read("ben", "");
  EXPECT_EQ(rig.write("ben", 2, R"("t":"0","ann":"1")").head.status, 200);
  EXPECT_EQ(rig.write("ann", 1, R"("t":"0","ann":"2")").head.status, 412);
  EXPECT_NE(rig.body.find(R"("capacity":2)"), std::string::npos) << rig.body;
}

}  // namespace
}  // namespace armgate::world::remember_test
