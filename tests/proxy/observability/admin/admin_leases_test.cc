// Goal: leases are taken, renewed and given back by what their header says, odd requests are refused by name, and operators hear of it.
// Method: the answers themselves, without a listener; a clock that stands.
#include "proxy/observability/admin/admin_leases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "json/tree.h"
#include "tests/proxy/net/net_test_support.h"

namespace armgate::admin_leases_test {
namespace {

using arm::Method;
using nlohmann::json;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kAsked = R"({"client": "heal-1", "purpose": "repair", "resources": ["/subscriptions/S"]})";
constexpr const char* kOther = R"({"client": "heal-2", "purpose": "p", "resources": ["/subscriptions/s"]})";

class AdminLeases : public testing::Test {
 protected:
  arm::Response send(Method method, std::string target, std::string body = "") {
    arm::Request request;
    request.head.method = method;
    request.head.target = std::move(target);
    request.head.fields.add("x-armgate-operator", "ops");
    request.body = std::move(body);
    return answer_leases(sources_, request);
  }
  // The path of a lease that was asked for.
  std::string taken(const char* body = kAsked) {
    const arm::Response answer = send(Method::Post, "/leases", body);
    EXPECT_EQ(answer.head.status, 201) << answer.body;
    return answer.head.status == 201 ? "/leases/" + json::parse(answer.body).at("lease").get<std::string>() : "/leases/none";
  }

  net::TestClock clock_;
  LockTable locks_{{}, Hasher(HashKey{1, 2})};
  RunLeases leases_{{}, locks_, Hasher(HashKey{1, 2})};
  rules::Mode mode_ = rules::Mode::Protect;
  std::vector<std::string> told_;
  const RunLeaseSources sources_{clock_, leases_, [this] { return mode_; },
                                 [](std::string_view name) {
                                   return Hash128{7, name.back() + 0u};
                                 },
                                 [this](std::string_view event, const RunLeases::Lease& lease, std::string_view who) {
                                   told_.push_back(std::string(event) + " " + lease.client + " " + std::string(who));
                                 }};
};

TEST_F(AdminLeases, OneIsTakenRenewedAndGivenBack) {
  ClaimInfo info;
  info.client_label = "one";
  info.what = "PUT /subscriptions/s";
  info.since = clock_.now() - seconds(9);
  auto place = *locks_.join({rules::LockKey{"/subscriptions/s", rules::LockMode::Exclusive}}, std::move(info), nullptr, 1);
  WriteLease runs = place.into_lease();
  runs.note_at_arm(clock_.now() - seconds(4));
  const arm::Response answer = send(Method::Post, "/leases", kAsked);
  ASSERT_EQ(answer.head.status, 201) << answer.body;
  const json page = json::parse(answer.body);
  EXPECT_EQ(page.at("client"), "heal-1");
  EXPECT_EQ(page.at("state"), "waiting");
  EXPECT_THAT(page.at("behind").get<std::string>(), HasSubstr("PUT /subscriptions/s of one, since 9 s"));
  EXPECT_EQ(page.at("behind_ms"), 4'000) << "not since it came";
  EXPECT_EQ(page.at("ttl_ms"), 60'000);
  EXPECT_EQ(page.at("age_ms"), 0);
  EXPECT_EQ(send(Method::Post, "/leases", kOther).head.status, 409) << "one at a time";
  runs.release();
  clock_.advance(seconds(5));
  const std::string own = "/leases/" + page.at("lease").get<std::string>();
  const arm::Response renewed = send(Method::Post, own);
  EXPECT_EQ(renewed.head.status, 200);
  EXPECT_EQ(json::parse(renewed.body).at("state"), "held");
  EXPECT_EQ(json::parse(renewed.body).at("age_ms"), 5'000);
  for (const char* member : {"behind", "behind_ms"}) EXPECT_FALSE(json::parse(renewed.body).contains(member));
  EXPECT_EQ(send(Method::Delete, own).head.status, 200);
  for (const Method method : {Method::Post, Method::Delete}) EXPECT_EQ(send(method, own).head.status, 404);
  EXPECT_THAT(told_, ElementsAre("lease-taken heal-1 ops", "lease-released heal-1 ops")) << "and not of a renewal";
  taken(kOther);
}

TEST_F(AdminLeases, OneThatWasNotRenewedIsGone) {
  const std::string own = taken();
  clock_.advance(leases_.options().ttl - seconds(1));
  EXPECT_EQ(leases_.expire(clock_.now()).size(), 0u);
  EXPECT_EQ(send(Method::Post, own).head.status, 200);
  clock_.advance(leases_.options().ttl - seconds(1));
  EXPECT_EQ(leases_.expire(clock_.now()).size(), 0u) << "it was renewed";
  clock_.advance(seconds(1));
  EXPECT_EQ(leases_.expire(clock_.now()).size(), 1u);
  const arm::Response late = send(Method::Post, own);
  EXPECT_EQ(late.head.status, 404);
  EXPECT_THAT(late.body, HasSubstr("not renewed in time"));
}

TEST_F(AdminLeases, AnOddRequestIsRefusedByName) {
  const std::string long_purpose(201, 'p');
  const std::string of_length_201 =
      R"({"client": "a", "purpose": ")" + long_purpose + R"(", "resources": ["/subscriptions/s"]})";
  const struct {
    std::string body;
    const char* why;
  } cases[] = {
      {"", "the body must be"},
      {"[]", "the body must be"},
      {"{", "the body must be"},
      {R"({"client": "a b", "purpose": "p", "resources": ["/subscriptions/s"]})", "\"client\" must be a name"},
      {R"({"purpose": "p", "resources": ["/subscriptions/s"]})", "\"client\" must be a name"},
      {R"({"client": 7, "purpose": "p", "resources": ["/subscriptions/s"]})", "\"client\" is unknown or of the wrong type"},
      {R"({"client": "a", "resources": ["/subscriptions/s"]})", "\"purpose\" must say"},
      {of_length_201, "\"purpose\" must say in 1 to 200 bytes"},
      {R"({"client": "a", "purpose": "p", "resources": []})", "at least one resource"},
      {R"({"client": "a", "purpose": "p"})", "at least one resource"},
      {R"({"client": "a", "purpose": "p", "resources": ["x"]})", "\"x\" in \"resources\" is no resource id"},
      {R"({"client": "a", "purpose": "p", "resources": [7]})", "7 in \"resources\" is no resource id"},
      {R"({"client": "a", "purpose": "p", "resource": "/subscriptions/s"})", "\"resource\" is unknown"},
      {R"({"client": "a", "purpose": "p", "resources": ["/subscriptions/s"], "clie\u006et": "b"})",
       "\"client\" stands in the body twice"},
  };
  for (const auto& c : cases) {
    const arm::Response refused = send(Method::Post, "/leases", c.body);
    EXPECT_EQ(refused.head.status, 400) << c.body;
    EXPECT_THAT(refused.body, HasSubstr(c.why));
  }
  EXPECT_TRUE(told_.empty());
  taken(kOther);  // nothing of these is kept
}

TEST_F(AdminLeases, AnotherMethodIsToldWhichThereAre) {
  const struct {
    Method method;
    const char* target;
    const char* allowed;
  } cases[] = {
      {Method::Get, "/leases", "POST"},           {Method::Delete, "/leases", "POST"},
      {Method::Delete, "/leases/", "POST"},       {Method::Get, "/leases/1", "POST, DELETE"},
      {Method::Put, "/leases/1", "POST, DELETE"},
  };
  for (const auto& c : cases) {
    const arm::Response refused = send(c.method, c.target, kAsked);
    EXPECT_EQ(refused.head.status, 405) << c.target;
    EXPECT_EQ(refused.head.fields.get("allow"), c.allowed) << c.target;
  }
  EXPECT_EQ(send(Method::Post, "/leases/none").head.status, 404);
}

TEST_F(AdminLeases, OnlyWhereOthersWaitIsOneTaken) {
  const std::string own = taken();
  mode_ = rules::Mode::Observe;
  const arm::Response refused = send(Method::Post, "/leases", kAsked);
  EXPECT_EQ(refused.head.status, 409);
  EXPECT_THAT(refused.body, HasSubstr("the mode is observe"));
  const arm::Response renewed = send(Method::Post, own);
  EXPECT_EQ(renewed.head.status, 409) << "nor renewed: it keeps nobody out any more";
  EXPECT_EQ(renewed.body, refused.body);
  EXPECT_EQ(send(Method::Delete, own).head.status, 200) << "one of before can be given back";
}

}  // namespace
}  // namespace armgate::admin_leases_test
