// A client's "If-Match: *" under a rule that strengthens it (rule key guard.star).
#include <gtest/gtest.h>

#include "rules/file/rule_file.h"
#include "tests/support/stage_rig.h"

namespace armgate::world::star_test {
namespace {

const std::string kBackend =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.ApiManagement/service/a/backends/b?api-version=2022-08-01";
const std::string kStateOne = R"({"properties":{"url":"https://one","title":"t"}})";
const std::string kStateTwo = R"({"properties":{"url":"https://two","title":"t"}})";
const std::string kWanted = R"({"properties":{"url":"https://one","title":"mine"}})";
const std::string kRefusal = R"({"error":{"code":"PreconditionFailed","message":"m"}})";
const std::string kNone = R"({"error":{"code":"ResourceNotFound","message":"m"}})";
const arm::Headers kStar{{"If-Match", "*"}};

std::string guard_of(const arm::Response& answer) { return std::string(answer.head.fields.get("x-armgate-guard")); }

class Star : public testing::Test {
 protected:
  Star() { use(R"("kind": "etag", "star": "strengthen")"); }

  void use(const std::string& guard) {
    rules::FaultList faults;
    auto rules = rules::read_rules(
        "r.json",
        R"({"rules": [{"name": "backends", "match": {"types": ["Microsoft.ApiManagement/service/backends"]}, "guard": {)" +
            guard + "}}]}",
        faults);
    EXPECT_TRUE(faults.empty());
    rig.shared().rules.replace(std::make_shared<const rules::Ruleset>(std::move(rules)), rules::Mode::Protect);
  }
  StageRig rig;
};

TEST_F(Star, BecomesTheEtagThatTheClientWasShown) {
  rig.arm(get(kBackend), 200, etag("\"1\""), kStateOne);
  rig.arm(put(kBackend), 200, etag("\"2\""), kWanted);
  rig.ask("one", get(kBackend));
  const auto answer = rig.ask("one", put(kBackend), kWanted, kStar);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(guard_of(answer), "newest");
  EXPECT_EQ(rig.sent_field(1, "If-Match"), "\"1\"");
  EXPECT_EQ(rig.seen()[1].head.fields.count("If-Match"), 1u);
}

TEST_F(Star, OverAnothersChangeIsRefused) {
  rig.arm(get(kBackend), 200, etag("\"1\""), kStateOne);
  rig.arm(put(kBackend), 412, {}, kRefusal);
  rig.arm(get(kBackend), 200, etag("\"2\""), kStateTwo);
  rig.ask("one", get(kBackend));
  EXPECT_EQ(rig.ask("one", put(kBackend), kWanted, kStar).head.status, 412);
  EXPECT_TRUE(rig.script_is_done());
}

TEST_F(Star, StaysWhereNothingWasShownOrTheResourceWasAbsent) {
  rig.arm(put(kBackend), 200, etag("\"2\""), kWanted);
  EXPECT_EQ(guard_of(rig.ask("one", put(kBackend), kWanted, kStar)), "client");
  EXPECT_EQ(rig.sent_field(0, "If-Match"), "*");
  rig.arm(get(kBackend), 404, {}, kNone);
  rig.arm(put(kBackend), 412, {}, kRefusal);
  rig.ask("two", get(kBackend));
  EXPECT_EQ(guard_of(rig.ask("two", put(kBackend), kWanted, kStar)), "client");
  EXPECT_EQ(rig.sent_field(2, "If-Match"), "*");
  EXPECT_FALSE(rig.seen()[2].head.fields.has("If-None-Match"));
}

// Compared under the lock, and then sent as the client meant it: with nothing of ours there is still something to ask for.
TEST_F(Star, StaysWhereARMShowsNoEtag) {
  rig.arm(get(kBackend), 200, {}, kStateOne);
  rig.arm(get(kBackend), 200, {}, kStateOne);
  rig.arm(put(kBackend), 200, {}, kWanted);
  rig.ask("one", get(kBackend));
  EXPECT_EQ(guard_of(rig.ask("one", put(kBackend), kWanted, kStar)), "newest, verified");
  EXPECT_EQ(rig.sent_field(2, "If-Match"), "*");
}

TEST_F(Star, IsThereAgainWhenTheEtagThatStoodInItsPlaceIsGone) {
  const std::string busy = R"({"error":{"code":"PessimisticConcurrencyConflict","message":"m"}})";
  rules::FaultList faults;
  auto book = rules::read_rule_book("r.json", R"({"rules": [{"name": "backends",
      "match": {"types": ["Microsoft.ApiManagement/service/backends"]}, "guard": {"kind": "etag", "star": "strengthen"}}],
      "errors": [{"class": "busy", "status": [409], "codes": ["PessimisticConcurrencyConflict"]}]})",
                                    faults);
  ASSERT_TRUE(faults.empty());
  rig.shared().rules.replace(std::make_shared<const rules::Ruleset>(std::move(book.rules), std::move(book.errors)),
                             rules::Mode::Protect);
  rig.arm(get(kBackend), 200, etag("\"1\""), kStateOne);
  rig.arm(put(kBackend), 409, {}, busy);
  rig.arm(get(kBackend), 200, {}, kStateOne);
  rig.arm(put(kBackend), 200, {}, kWanted);
  rig.ask("one", get(kBackend));
  EXPECT_EQ(rig.ask("one", put(kBackend), kWanted, kStar).head.status, 200);
  EXPECT_EQ(rig.sent_field(1, "If-Match"), "\"1\"");
  EXPECT_EQ(rig.sent_field(3, "If-Match"), "*");
}

TEST_F(Star, OtherPreconditionsAreTheClientsOwnAsEver) {
  for (const arm::Headers& own :
       {arm::Headers{{"If-Match", "\"9\""}}, arm::Headers{{"If-Match", "*"}, {"If-None-Match", "\"1\""}},
        arm::Headers{{"If-None-Match", "*"}}}) {
    const size_t before = rig.seen().size();
    rig.arm(get(kBackend), 200, etag("\"1\""), kStateOne);
    rig.arm(put(kBackend), 200, etag("\"2\""), kWanted);
    rig.ask("one", get(kBackend));
    EXPECT_EQ(guard_of(rig.ask("one", put(kBackend), kWanted, own)), "client");
    for (const arm::Field& field : own) EXPECT_EQ(rig.sent_field(before + 1, field.name), field.value);
  }
}

TEST_F(Star, AsShippedIsTheClientsOwn) {
  use(R"("kind": "etag")");
  rig.arm(get(kBackend), 200, etag("\"1\""), kStateOne);
  rig.arm(put(kBackend), 200, etag("\"2\""), kWanted);
  rig.ask("one", get(kBackend));
  EXPECT_EQ(guard_of(rig.ask("one", put(kBackend), kWanted, kStar)), "client");
  EXPECT_EQ(rig.sent_field(1, "If-Match"), "*");
}

}  // namespace
}  // namespace armgate::world::star_test
