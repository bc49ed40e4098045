// DESIGN §3: the base is "bound to these bytes through waits, tickets, our attempts and the client's own re-sends, until a
// final answer was delivered, the ticket's grace is over, or the bytes come back under another request id after a delivered
// read".
#include "proxy/state/bindings.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Hash128 kBytes{1, 1};
constexpr Hash128 kOtherBytes{2, 2};
const TimePoint kStart{std::chrono::hours(10)};

bool never_read(Moment) { return false; }
bool always_read(Moment) { return true; }

policy::Base base_of(std::string etag) {
  policy::Base base;
  base.rule = policy::BaseRule::OnlyLive;
  base.etag = std::move(etag);
  return base;
}

struct Case {
  const char* name;
  BindingPhase phase;
  const char* first_id;
  const char* second_id;
  bool (*read_since)(Moment);
  bool continues;
};

TEST(Bindings, TellReSendsFromNewIntentions) {
  using enum BindingPhase;
  const Case cases[] = {
      {"listening, same id: a retry that overtook its own answer", Working, "x", "x", never_read, true},
      {"listening, no ids: a second write", Working, "", "", never_read, false},
      {"listening, another id: a second write", Working, "x", "y", never_read, false},
      {"answer on its way, same id", Written, "x", "x", always_read, true},
      {"answer on its way, another id: a second write", Written, "x", "y", never_read, false},
      {"answer on its way, no ids: a second write", Written, "", "", never_read, false},
      {"answered 503, same id", Expected, "x", "x", never_read, true},
      {"answered 503, same id after a read", Expected, "x", "x", always_read, true},
      {"answered 503, another id", Expected, "x", "y", never_read, true},
      {"answered 503, another id after a read: built anew", Expected, "x", "y", always_read, false},
      {"answered 503, no ids, after a read", Expected, "", "", always_read, true},
      {"answer not delivered, same id", Undelivered, "x", "x", always_read, true},
      {"answer not delivered, another id", Undelivered, "x", "y", never_read, true},
      {"answer not delivered, another id after a read", Undelivered, "x", "y", always_read, false},
  };
  for (const auto& c : cases) {
    Bindings bindings({});
    Binding& first = bindings.add(kBytes, c.first_id, base_of("a"), {1, kStart});
    first.phase = c.phase;
    first.workers = c.phase == Working ? 1 : 0;
    first.since = kStart;
    EXPECT_EQ(bindings.find_resend(kBytes, c.second_id, kStart, c.read_since) != nullptr, c.continues) << c.name;
    EXPECT_EQ(bindings.find_resend(kOtherBytes, c.first_id, kStart, never_read), nullptr) << c.name;
  }
}

TEST(Bindings, AReSendKeepsTheBaseAndTheFirstArrival) {
  Bindings bindings({});
  bindings.add(kBytes, "x", base_of("a"), {7, kStart}).phase = BindingPhase::Expected;
  bindings.find(1)->since = kStart;
  const Binding* again = bindings.find_resend(kBytes, "x", kStart, never_read);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->base.etag, "a");
  EXPECT_EQ(again->first_arrival.order, 7u);
}

TEST(Bindings, TheReadThatCountsIsOneSinceTheFirstArrival) {
  Bindings bindings({});
  Binding& first = bindings.add(kBytes, "x", base_of("a"), {7, kStart});
  first.phase = BindingPhase::Expected;
  first.since = kStart;
  uint64_t asked = 0;
  bindings.find_resend(kBytes, "y", kStart, [&](Moment since) {
    asked = since.order;
    return true;
  });
  EXPECT_EQ(asked, 7u);
}

TEST(Bindings, OfTwoWritesOfTheSameBytesTheNewestThatFitsIsContinued) {
  Bindings bindings({});
  for (const char* id : {"x", "y"}) {
    Binding& binding = bindings.add(kBytes, id, base_of(id), {1, kStart});
    binding.phase = BindingPhase::Expected;
    binding.since = kStart;
  }
  EXPECT_EQ(bindings.find_resend(kBytes, "z", kStart, never_read)->base.etag, "y");
  EXPECT_EQ(bindings.find_resend(kBytes, "x", kStart, always_read)->base.etag, "x");
}

TEST(Bindings, AreForgottenWhenTheGraceIsOver) {
  Bindings bindings({10, minutes(5)});
  Binding& first = bindings.add(kBytes, "x", base_of("a"), {1, kStart});
  first.phase = BindingPhase::Expected;
  first.since = kStart;
  EXPECT_NE(bindings.find_resend(kBytes, "x", kStart + minutes(5), never_read), nullptr);
  EXPECT_EQ(bindings.find_resend(kBytes, "x", kStart + minutes(5) + seconds(1), never_read), nullptr);
  EXPECT_EQ(bindings.size(), 0u);
}

TEST(Bindings, AnOlderOneThatIsStillInUseKeepsNoOtherAlive) {
  Bindings bindings({10, minutes(5)});
  bindings.add(kOtherBytes, "", base_of("busy"), {1, kStart}).workers = 1;
  Binding& second = bindings.add(kBytes, "x", base_of("a"), {2, kStart});
  second.phase = BindingPhase::Expected;
  second.since = kStart;
  EXPECT_EQ(bindings.find_resend(kBytes, "x", kStart + minutes(6), never_read), nullptr);
}

TEST(Bindings, OneThatIsWorkedOnOutlivesTheGraceAndTheBound) {
  Bindings bindings({2, minutes(5)});
  const uint64_t id = bindings.add(kBytes, "x", base_of("a"), {1, kStart}).id;
  bindings.find(id)->workers = 1;
  for (uint64_t i = 10; i < 20; ++i) bindings.add({i, i}, "", base_of("b"), {i, kStart});
  EXPECT_NE(bindings.find(id), nullptr);
  EXPECT_EQ(bindings.size(), 2u);
  EXPECT_NE(bindings.find_resend(kBytes, "x", kStart + minutes(60), never_read), nullptr);
}

TEST(Bindings, ForgettingOneLeavesTheOthersOfTheSameBytes) {
  Bindings bindings({});
  const uint64_t first = bindings.add(kBytes, "x", base_of("a"), {1, kStart}).id;
  const uint64_t second = bindings.add(kBytes, "y", base_of("b"), {2, kStart}).id;
  bindings.forget(first);
  bindings.forget(first);
  EXPECT_EQ(bindings.find(first), nullptr);
  EXPECT_NE(bindings.find(second), nullptr);
  bindings.forget(second);
  EXPECT_EQ(bindings.size(), 0u);
}

}  // namespace
}  // namespace armgate
