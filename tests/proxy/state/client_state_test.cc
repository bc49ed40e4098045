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
      : options(with), budget(common != nullptr ? *common : own_budget), state(options, budget) {}

  const ClientState::Options options;
  ClientState::SharedBudget own_budget;
  ClientState::SharedBudget& budget;
  ClientState state;
  TimePoint now{hours(100)};
  uint64_t order = 0;

  // A list is shown; gives the order of that.
  uint64_t page(const std::string& bytes, const std::string& scope = kScope, const std::string& request_id = {}) {
    ListAnswer page;
    page.scope = {scope, kNetType};
    page.api_version = "2025-05-01";
    page.request_id = request_id;
    page.asked = ++order;
    page.shown = {++order, now};
    page.body = std::make_shared<policy::KeptBody>(policy::KeptBody{bytes, false, false});
    state.record_page(std::move(page));
    return order;
  }
  // Every page that may show something of the resource is read: it holds these.
  size_t read_pages(const std::vector<Hash128>& resources, const arm::ResourceId& id = kNetId) {
    const auto unread = state.unread_pages(id);
    for (const auto& page : unread) {
      auto index = std::make_shared<PageIndex>();
      for (const auto& resource : resources) index->items[resource] = {0, page.body->bytes.size()};
      state.index_page(page.shown, page.body, std::move(index));
    }
    return unread.size();
  }
  // Orders of the showings of an item.
  std::vector<uint64_t> items(const Hash128& key = kNet, const arm::ResourceId& id = kNetId) const {
    std::vector<uint64_t> orders;
    for (const auto& item : state.items_of(id, key)) orders.push_back(item.shown.order);
    return orders;
  }
  // The resource's history is told of all of them.
  void take(const Hash128& key = kNet) {
    for (const uint64_t shown : items(key)) state.note_taken(shown, key);
  }
  size_t kept() const { return budget.page_bytes.load(); }
};

ClientState::Options within(size_t page_bytes_max) {
  ClientState::Options options;
  options.page_bytes_max = page_bytes_max;
  return options;
}

using Orders = std::vector<uint64_t>;

// ---- pages and their items

TEST(ClientState, AnItemIsOfferedUntilItWasTaken) {
  Rig client;
  const uint64_t order = client.page("[...]");
  EXPECT_EQ(client.items(), Orders{}) << "nobody has looked";
  EXPECT_EQ(client.read_pages({kNet, kOther}), 1u);
  EXPECT_EQ(client.read_pages({}), 0u) << "it is read once";
  EXPECT_EQ(client.items(), Orders{order});
  client.take();
  EXPECT_EQ(client.items(), Orders{});
  EXPECT_EQ(client.items(kOther), Orders{order}) << "its other items are still to be taken";
  EXPECT_EQ(client.items({5, 5}), Orders{}) << "it is not on the page";
}

TEST(ClientState, AnItemSaysHowItWasShown) {
  Rig client;
  const uint64_t order = client.page("[...]", kScope, "id");
  client.read_pages({kNet});
  const auto item = client.state.items_of(kNetId, kNet).at(0);
  EXPECT_EQ(item.request_id, "id");
  EXPECT_EQ(item.api_version, "2025-05-01");
  EXPECT_EQ(item.asked, order - 1);
  EXPECT_EQ(item.page->bytes, "[...]");
  EXPECT_EQ(item.span.size, 5u);
}

TEST(ClientState, ListsOfWhatContainsTheResourceCount) {
  Rig client;
  const uint64_t of_all = client.page("[1]", "");
  const uint64_t of_subscription = client.page("[2]", "/subscriptions/s");
  client.page("[3]", "/subscriptions/s2");
  const uint64_t of_group = client.page("[4]");
  client.page("[5]", kNetId.id);
  EXPECT_EQ(client.read_pages({kNet}), 3u);
  EXPECT_EQ(client.items(), (Orders{of_all, of_subscription, of_group}));
  EXPECT_EQ(client.read_pages({kNet}, {kScope + "2/x", kNetType}), 0u) << "another group";
  EXPECT_EQ(client.read_pages({kNet}, {kNetId.id, "microsoft.network/routetables"}), 0u) << "another type";
}

TEST(ClientState, WhatIsShownAgainIsReadOnceAndOfferedAgain) {
  Rig client;
  const uint64_t first = client.page("[A]");
  const uint64_t other = client.page("[B]");
  const uint64_t again = client.page("[A]");
  EXPECT_EQ(client.state.counts().pages, 2u);
  EXPECT_EQ(client.read_pages({kNet}), 2u);
  EXPECT_EQ(client.items(), (Orders{first, other, again}));
  client.take();
  const uint64_t after = client.page("[A]");
  EXPECT_EQ(client.read_pages({kNet}), 0u) << "it is known what is in it";
  EXPECT_EQ(client.items(), Orders{after});
}

TEST(ClientState, AToolThatPollsAListIsNotReadForEachPoll) {
  Rig client;
  Orders orders;
  for (int i = 0; i < 5'000; ++i) orders.push_back(client.page(std::string(10'000, 'x'), kScope, std::to_string(i)));
  EXPECT_EQ(client.read_pages({kNet}), 1u);
  EXPECT_LT(client.kept(), 30'000u);
  const Orders kept = client.items();
  EXPECT_EQ(kept.size(), 64u);
  EXPECT_EQ(kept.front(), orders.front()) << "a write may have been on its way since then";
  EXPECT_EQ(kept.back(), orders.back());
  EXPECT_EQ(kept[1], orders[orders.size() - 63]);
  EXPECT_EQ(client.state.pages_forgotten(), 0u);
}

// ---- resets

TEST(ClientState, AShowingWhoseConnectionWasResetIsTakenBack) {
  Rig client;
  const uint64_t first = client.page("[A]");
  const uint64_t second = client.page("[A]");
  client.read_pages({kNet});
  EXPECT_TRUE(client.state.page_lost(first).empty()) << "no history was told of it";
  EXPECT_TRUE(client.state.note_taken(first, kNet)) << "so it is told now";
  EXPECT_FALSE(client.state.note_taken(second, kNet));
  EXPECT_EQ(client.state.page_lost(second), std::vector<Hash128>{kNet}) << "its history takes it for delivered";
  EXPECT_TRUE(client.state.page_lost(99).empty());
  EXPECT_FALSE(client.state.note_taken(99, kNet));
}

TEST(ClientState, WhatWasTakenOfAnEarlierShowingIsNotTakenBackForALaterOne) {
  Rig client;
  client.page("[A]");
  client.read_pages({kNet});
  client.take();
  const uint64_t later = client.page("[A]");
  EXPECT_TRUE(client.state.page_lost(later).empty());
}

// ---- what is forgotten

TEST(ClientState, APageIsForgottenAfterTheObservationAgeAndThatIsRemembered) {
  Rig client;
  const uint64_t order = client.page("[1]");
  client.now += client.options.observation_age;
  const uint64_t second = client.page("[2]");
  EXPECT_EQ(client.state.pages_forgotten(), 0u);
  client.now += seconds(1);
  const uint64_t last = client.page("[3]");
  client.read_pages({kNet});
  EXPECT_EQ(client.items(), (Orders{second, last}));
  EXPECT_EQ(client.state.pages_forgotten(), order);
  EXPECT_EQ(client.budget.pages_evicted.load(), 1u);
}

TEST(ClientState, WhatWasNotKeptCountsAsForgotten) {
  Rig client;
  client.order = 10;
  client.state.note_page_missed(5);
  client.state.note_page_missed(3);
  EXPECT_EQ(client.state.pages_forgotten(), 5u);
  const uint64_t order = client.page("[1]");
  EXPECT_EQ(client.state.pages_forgotten(), 5u);
  EXPECT_EQ(client.state.pages_known(), order) << "if the client is forgotten as a whole";
}

// ---- budgets

TEST(ClientState, OverItsBudgetTheOldestPagesGo) {
  Rig client(within(100'000));
  Orders orders;
  for (char c = 'a'; c < 'f'; ++c) orders.push_back(client.page(std::string(30'000, c)));
  client.read_pages({kNet});
  EXPECT_EQ(client.items(), (Orders{orders[2], orders[3], orders[4]}));
  EXPECT_EQ(client.state.pages_forgotten(), orders[1]);
  EXPECT_EQ(client.budget.pages_evicted.load(), 2u);
}

TEST(ClientState, APageThatIsShownAgainIsNotTheOldest) {
  Rig client(within(100'000));
  client.page(std::string(30'000, 'a'));
  const uint64_t gone = client.page(std::string(30'000, 'b'));
  client.page(std::string(30'000, 'a'));
  client.page(std::string(30'000, 'c'));
  EXPECT_EQ(client.state.pages_forgotten(), 0u);
  client.page(std::string(30'000, 'd'));
  EXPECT_EQ(client.state.pages_forgotten(), gone);
}

TEST(ClientState, APageThatGrowsByBeingReadPushesOthersOutNotItself) {
  Rig client(within(100'000));
  const uint64_t read = client.page("zip");
  const uint64_t other = client.page(std::string(60'000, 'b'));
  auto index = std::make_shared<PageIndex>();
  index->items[kNet] = {0, 1};
  client.state.index_page(read, std::make_shared<policy::KeptBody>(policy::KeptBody{std::string(60'000, 'a'), false, false}),
                          index);
  EXPECT_EQ(client.items(), Orders{read});
  EXPECT_EQ(client.state.pages_forgotten(), other);
  EXPECT_LE(client.kept(), 100'000u);
}

TEST(ClientState, ManySmallPagesAreNotForNothing) {
  Rig client(within(100'000));
  for (int i = 0; i < 1'000; ++i) client.page("[]", kScope + std::to_string(i));
  EXPECT_LT(client.state.counts().pages, 200u);
}

TEST(ClientState, OnePageAboveTheWholeBudgetIsNotKeptAndCounted) {
  Rig client(within(3));
  const uint64_t order = client.page("long");
  EXPECT_EQ(client.state.counts().pages, 0u);
  EXPECT_EQ(client.kept(), 0u);
  EXPECT_EQ(client.state.pages_forgotten(), order);
  EXPECT_EQ(client.budget.pages_evicted.load(), 1u);
}

TEST(ClientState, BytesAreAccountedForThroughEverythingThatHappens) {
  ClientState::SharedBudget budget;
  {
    Rig client({}, &budget);
    client.page("zip");
    const size_t with_one = client.kept();
    client.page("zip");
    const size_t with_two = client.kept();
    EXPECT_LT(with_two, with_one + 200) << "the bytes are kept once";
    client.read_pages({kNet, kOther});
    EXPECT_GT(client.kept(), with_two) << "where its items stand";
    client.take();
    EXPECT_EQ(client.kept(), client.state.counts().page_bytes);
    for (int i = 0; i < 200; ++i) client.page("zip");
    client.page(std::string(500, 'q'), kScope + "2");
    EXPECT_EQ(client.kept(), client.state.counts().page_bytes);
    EXPECT_EQ(client.state.counts().pages, 2u);
    client.now += client.options.observation_age + seconds(1);
    client.page("zap");
    EXPECT_EQ(client.state.counts().pages, 1u);
    EXPECT_EQ(client.kept(), with_one);
  }
  EXPECT_EQ(budget.page_bytes.load(), 0u) << "a client that is forgotten gives everything back";
}

// ---- what else it keeps

TEST(ClientState, AClientIsBusyOnlyAsLongAsSomethingIsExpectedOfIt) {
  Rig client;
  EXPECT_FALSE(client.state.expire(client.now));
  SendingLedger::Arrival arrival;
  arrival.at = {++client.order, client.now};
  const auto sending = client.state.sendings().add(arrival);
  client.now += hours(1);
  EXPECT_TRUE(client.state.expire(client.now)) << "an exchange works on it";
  client.state.sendings().end(sending, {SendingLedger::Ending::Kind::Expected, nullptr, {}}, {++client.order, client.now});
  EXPECT_TRUE(client.state.expire(client.now)) << "it is expected again";
  client.now += client.options.sendings.keep + seconds(1);
  EXPECT_FALSE(client.state.expire(client.now));
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
