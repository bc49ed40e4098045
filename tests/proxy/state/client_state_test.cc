#include "proxy/state/client_state.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace armgate {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Hash128 kNet{1000, 1};
constexpr Hash128 kOther{1000, 2};
const std::string kScope = "/subscriptions/s/resourcegroups/g";
const std::string kNetType = "microsoft.network/virtualnetworks";
const arm::ResourceId kNetId{kScope + "/providers/microsoft.network/virtualnetworks/v", kNetType};

struct Rig {
  explicit Rig(ClientState::Options with = {}, ClientState::SharedBudget* common = nullptr)
      : options(std::move(with)), budget(common != nullptr ? *common : own_budget), state(options, budget) {}

  const ClientState::Options options;
  ClientState::SharedBudget own_budget;
  ClientState::SharedBudget& budget;
  ClientState state;
  TimePoint now{hours(100)};
  uint64_t order = 0;

  // A list is shown; gives the order of that.
  uint64_t page(const std::string& bytes, const std::string& scope = kScope) {
    KeptPage page;
    page.scope = {scope, kNetType};
    page.api_version = "2025-05-01";
    page.asked = ++order;
    page.shown = {++order, now};
    page.body = std::make_shared<policy::KeptBody>(policy::KeptBody{bytes});
    state.record_page(std::move(page));
    return order;
  }
  // Orders of the pages that may hold an item for the resource.
  std::vector<uint64_t> pages_for(const arm::ResourceId& id = kNetId, const Hash128& key = kNet) const {
    std::vector<uint64_t> orders;
    for (const auto& page : state.pages_for(id, key)) orders.push_back(page.shown.order);
    return orders;
  }
  void index(uint64_t shown, const std::string& plain, const std::vector<Hash128>& resources) {
    auto index = std::make_shared<PageIndex>();
    for (const auto& resource : resources) index->items[resource] = {0, plain.size()};
    state.index_page(shown, std::make_shared<policy::KeptBody>(policy::KeptBody{plain}), std::move(index));
  }
  size_t kept() const { return budget.page_bytes.load(); }
};

ClientState::Options within(size_t page_bytes_max) {
  ClientState::Options options;
  options.page_bytes_max = page_bytes_max;
  return options;
}

using Orders = std::vector<uint64_t>;

TEST(ClientState, APageIsOfferedForItsItemsUntilTheyWereTaken) {
  Rig client;
  const uint64_t order = client.page("[...]");
  EXPECT_EQ(client.pages_for(), Orders{order});
  EXPECT_EQ(client.pages_for({kScope + "2/x", kNetType}, kOther), Orders{}) << "another group";
  EXPECT_EQ(client.pages_for({kNetId.id, "microsoft.network/routetables"}), Orders{}) << "another type";
  client.state.note_taken(order, kNet);
  EXPECT_EQ(client.pages_for(), Orders{});
  EXPECT_EQ(client.pages_for(kNetId, kOther), Orders{order}) << "other items of it are still to be taken";
}

TEST(ClientState, ListsOfWhatContainsTheResourceCount) {
  Rig client;
  const uint64_t of_all = client.page("[1]", "");
  const uint64_t of_subscription = client.page("[2]", "/subscriptions/s");
  client.page("[3]", "/subscriptions/s2");
  const uint64_t of_group = client.page("[4]");
  EXPECT_EQ(client.pages_for(), (Orders{of_all, of_subscription, of_group}));
}

TEST(ClientState, APageThatWasReadIsOfferedForWhatItHoldsOnly) {
  Rig client;
  const uint64_t order = client.page("zip");
  client.index(order, "plain bytes", {kNet});
  EXPECT_EQ(client.pages_for(), Orders{order});
  EXPECT_EQ(client.pages_for(kNetId, kOther), Orders{});
  const auto pages = client.state.pages_for(kNetId, kNet);
  ASSERT_EQ(pages.size(), 1u);
  EXPECT_EQ(pages[0].body->bytes, "plain bytes");
  EXPECT_TRUE(pages[0].index->items.contains(kNet));
}

TEST(ClientState, APageWhoseConnectionWasResetSaysSo) {
  Rig client;
  const uint64_t order = client.page("[...]");
  EXPECT_FALSE(client.state.pages_for(kNetId, kNet)[0].lost);
  client.state.page_lost(order);
  client.state.page_lost(99);
  EXPECT_TRUE(client.state.pages_for(kNetId, kNet)[0].lost);
}

TEST(ClientState, APageIsForgottenAfterTheObservationAgeAndThatIsRemembered) {
  Rig client;
  const uint64_t order = client.page("[1]");
  client.now += client.options.observation_age;
  client.page("[2]");
  EXPECT_EQ(client.state.pages_forgotten(), 0u);
  client.now += seconds(1);
  const uint64_t last = client.page("[3]");
  EXPECT_EQ(client.pages_for(), (Orders{order + 2, last}));
  EXPECT_EQ(client.state.pages_forgotten(), order);
  EXPECT_EQ(client.budget.pages_evicted.load(), 1u);
}

// ---- budgets

TEST(ClientState, OverItsBudgetTheOldestPagesGo) {
  Rig client(within(100'000));
  Orders orders;
  for (char c = 'a'; c < 'f'; ++c) orders.push_back(client.page(std::string(30'000, c)));
  EXPECT_EQ(client.pages_for(), (Orders{orders[2], orders[3], orders[4]}));
  EXPECT_EQ(client.state.pages_forgotten(), orders[1]);
  EXPECT_EQ(client.budget.pages_evicted.load(), 2u);
}

TEST(ClientState, OnePageAboveTheWholeBudgetIsNotKeptAndCounted) {
  Rig client(within(3));
  const uint64_t order = client.page("long");
  EXPECT_EQ(client.pages_for(), Orders{});
  EXPECT_EQ(client.kept(), 0u);
  EXPECT_EQ(client.state.pages_forgotten(), order);
  EXPECT_EQ(client.budget.pages_evicted.load(), 1u);
}

TEST(ClientState, BytesAreAccountedForThroughEverythingThatHappens) {
  ClientState::SharedBudget budget;
  {
    Rig client({}, &budget);
    const uint64_t order = client.page("zip");
    const size_t with_one = client.kept();
    client.index(order, std::string(1000, 'p'), {kNet});
    EXPECT_GE(client.kept(), with_one + 997);
    client.page(std::string(500, 'q'), kScope + "2");
    EXPECT_EQ(client.kept(), client.state.counts().page_bytes);
    EXPECT_EQ(client.state.counts().pages, 2u);
    client.now += client.options.observation_age + seconds(1);
    client.page("zip");
    EXPECT_EQ(client.state.counts().pages, 1u);
    EXPECT_EQ(client.kept(), with_one);
  }
  EXPECT_EQ(budget.page_bytes.load(), 0u) << "a client that is forgotten gives everything back";
}

// ---- what else it keeps

TEST(ClientState, AClientIsBusyOnlyAsLongAsSomethingIsExpectedOfIt) {
  Rig client;
  EXPECT_FALSE(client.state.busy(client.now));
  SendingLedger::Arrival arrival;
  arrival.at = {++client.order, client.now};
  const uint64_t sending = client.state.sendings().add(arrival).sending;
  client.now += hours(1);
  EXPECT_TRUE(client.state.busy(client.now)) << "an exchange works on it";
  client.state.sendings().end(sending, {SendingLedger::Ending::Kind::Expected, nullptr, {}}, {++client.order, client.now});
  EXPECT_TRUE(client.state.busy(client.now)) << "it is expected again";
  client.now += client.options.sendings.keep + seconds(1);
  EXPECT_FALSE(client.state.busy(client.now));
  EXPECT_EQ(client.state.counts().sendings, 0u);
}

TEST(ClientState, PeopleKnowItByItsLatestLabel) {
  Rig client;
  EXPECT_EQ(client.state.label(), "");
  client.state.set_label("ci");
  client.state.set_label("deploy");
  EXPECT_EQ(client.state.label(), "deploy");
}

}  // namespace
}  // namespace armgate
