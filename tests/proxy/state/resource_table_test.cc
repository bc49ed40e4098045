#include "proxy/state/resource_table.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

namespace armgate {
namespace {

constexpr Hash128 kMine{1, 1};
constexpr Hash128 kTheirs{2, 2};
constexpr Hash128 kMyBytes{10, 10};
constexpr Hash128 kTheirBytes{20, 20};
const std::string kGroup = "/subscriptions/s/resourcegroups/g";
const std::string kNet = kGroup + "/providers/microsoft.network/virtualnetworks/v";
constexpr size_t kShards = 64;

const Hasher kHasher(HashKey{1, 2});

Hash128 key(std::string_view id) { return kHasher.hash(id); }

Moment at_second(uint64_t order) { return {order, TimePoint{std::chrono::seconds(order)}}; }

policy::SharedBody body(std::string bytes) {
  return std::make_shared<policy::KeptBody>(policy::KeptBody{std::move(bytes), false, false});
}

struct Table : ResourceTable {
  explicit Table(size_t resources_max = 1'000'000, size_t body_bytes_max = 512u << 20)
      : ResourceTable({resources_max, body_bytes_max, {}}, kHasher) {}

  void show(const Hash128& resource, uint64_t order, const std::string& bytes, const std::string& etag = "e",
            const Hash128& client = kMine) {
    policy::StateShown shown;
    shown.client = client;
    shown.asked = order;
    shown.at = at_second(order);
    shown.etag = etag;
    shown.rendering = {"2025-05-01", body(bytes)};
    apply(resource, std::move(shown));
  }
  void accept(const Hash128& resource, uint64_t order, const Hash128& client = kTheirs, const Hash128& bytes = kTheirBytes) {
    policy::WriteAccepted accepted;
    accepted.client = client;
    accepted.request_hash = bytes;
    accepted.at = at_second(order);
    apply(resource, std::move(accepted));
  }
  void end(const Hash128& resource, uint64_t order, const Hash128& bytes = kTheirBytes) {
    apply(resource, policy::OperationEnded{bytes, at_second(order)});
  }
  void remove(const Hash128& resource, uint64_t order, const Hash128& client = {}) {
    apply(resource, policy::ResourceDeleted{client, at_second(order)});
  }
  bool written_since(const Hash128& resource, uint64_t since, const Hash128& mine = {}) const {
    return ask(resource, [&](const policy::History& history) {
      return history.ended_since(since, [&](const policy::Entry& entry) { return entry.writer == mine; });
    });
  }
  std::optional<TimePoint> created_at(const Hash128& resource) const {
    return ask(resource, [](const policy::History& history) { return history.created(); });
  }
  uint64_t forgotten(const Hash128& resource) const {
    return ask(resource, [](const policy::History& history) { return history.forgotten(); });
  }
  size_t entries(const Hash128& resource) const {
    return ask(resource, [](const policy::History& history) { return history.entries().size(); });
  }
  // How many of its states have their bodies.
  size_t bodies(const Hash128& resource) const {
    return ask(resource, [](const policy::History& history) {
      size_t kept = 0;
      for (const auto& entry : history.entries()) kept += entry.rendered_at("2025-05-01")->body ? 1 : 0;
      return kept;
    });
  }
};

// Resources of one shard.
Hash128 sibling(uint64_t number) { return {kShards * number, number}; }

// ---- events

TEST(ResourceTable, KnowsNothingOfAResourceThatNobodyTouched) {
  const Table table;
  EXPECT_FALSE(table.written_since(key(kNet), 0));
  EXPECT_EQ(table.entries(key(kNet)), 0u);
  EXPECT_EQ(table.forgotten(key(kNet)), 0u);
  EXPECT_EQ(table.created_at(key(kGroup)), std::nullopt);
  EXPECT_EQ(table.counts().resources, 0u) << "asking leaves nothing behind";
}

TEST(ResourceTable, WhatOneClientWroteAnotherIsAskedAbout) {
  Table table;
  table.show(key(kNet), 5, "{}");
  table.accept(key(kNet), 10);
  EXPECT_TRUE(table.written_since(key(kNet), 9));
  EXPECT_TRUE(table.written_since(key(kNet), 9, kMine));
  EXPECT_FALSE(table.written_since(key(kNet), 9, kTheirs));
  EXPECT_FALSE(table.written_since(key(kNet), 10));
  table.end(key(kNet), 20);
  EXPECT_TRUE(table.written_since(key(kNet), 19, kMine)) << "it counts from its end as well";
  EXPECT_FALSE(table.written_since(key(kGroup), 0)) << "resources are apart";
}

TEST(ResourceTable, AnEndWhoseBeginningWasForgottenCountsAsAnothers) {
  Table table;
  table.end(key(kNet), 5, kMyBytes);
  EXPECT_TRUE(table.written_since(key(kNet), 4, kMine));
  EXPECT_FALSE(table.written_since(key(kNet), 5, kMine));
}

// ---- the number of resources

TEST(ResourceTable, AForgottenResourceMakesArmgateAskAgain) {
  Table table(kShards);  // one in each
  table.accept(sibling(1), 1);
  table.end(sibling(1), 2);
  table.show(sibling(2), 100, "{}");
  EXPECT_EQ(table.counts().resources, 1u);
  EXPECT_EQ(table.counts().resources_evicted, 1u);
  EXPECT_EQ(table.entries(sibling(1)), 0u);
  EXPECT_EQ(table.forgotten(sibling(1)), 2u);
  EXPECT_TRUE(table.written_since(sibling(1), 1)) << "its write is forgotten, not undone";
  EXPECT_FALSE(table.written_since(sibling(1), 2)) << "nothing that was forgotten is as new as that";
  EXPECT_EQ(table.forgotten(key("/elsewhere")), 0u) << "in another shard";
}

TEST(ResourceTable, AResourceThatComesBackRemembersThatSomethingWasForgotten) {
  Table table(kShards);
  table.accept(sibling(1), 1);
  table.show(sibling(2), 100, "{}");
  table.accept(sibling(1), 200, kMine, kMyBytes);
  EXPECT_EQ(table.forgotten(sibling(1)), 100u) << "the second one's read is the newest that was forgotten";
  EXPECT_TRUE(table.written_since(sibling(1), 0, kMine));
  EXPECT_FALSE(table.written_since(sibling(1), 100, kMine));
}

TEST(ResourceTable, TheLeastRecentlyTouchedGoesFirst) {
  Table table(2 * kShards);
  table.show(sibling(1), 1, "{}");
  table.show(sibling(2), 2, "{}");
  table.show(sibling(1), 3, "{}");
  table.show(sibling(3), 4, "{}");
  EXPECT_EQ(table.entries(sibling(1)), 1u);
  EXPECT_EQ(table.entries(sibling(2)), 0u);
  EXPECT_EQ(table.entries(sibling(3)), 1u);
}

TEST(ResourceTable, AResourceThatIsBeingWrittenIsNotForgotten) {
  Table table(kShards);
  table.show(sibling(1), 1, "{}");
  table.apply(sibling(1), policy::WriteArrived{kMine, {1, kMyBytes, ""}, at_second(2).time});
  for (uint64_t i = 2; i <= 5; ++i) table.show(sibling(i), 10 + i, "{}");
  EXPECT_EQ(table.entries(sibling(1)), 1u);
  EXPECT_EQ(table.counts().resources, 2u) << "and others still come and go";
  table.apply(sibling(1), policy::WriteLeft{kMine, 1});
  for (uint64_t i = 6; i <= 7; ++i) table.show(sibling(i), 10 + i, "{}");
  EXPECT_EQ(table.entries(sibling(1)), 0u);
  EXPECT_EQ(table.counts().resources, 1u);
}

// ---- the budget of bytes

TEST(ResourceTable, OverItsBudgetBodiesGoFirstAndTheEtagsStay) {
  Table table(1'000'000, kShards * 100);
  for (uint64_t i = 1; i <= 5; ++i) table.show(sibling(i), i, std::string(40, 'x'));
  EXPECT_EQ(table.counts().body_bytes, 80u);
  EXPECT_EQ(table.counts().bodies_evicted, 3u);
  EXPECT_EQ(table.counts().resources_evicted, 0u);
  EXPECT_EQ(table.bodies(sibling(1)), 0u);
  EXPECT_EQ(table.bodies(sibling(3)), 0u);
  EXPECT_EQ(table.bodies(sibling(4)), 1u);
  EXPECT_EQ(table.bodies(sibling(5)), 1u);
  table.ask(sibling(1), [](const policy::History& history) {
    EXPECT_EQ(history.entries()[0].etag, "e");
    return 0;
  });
}

TEST(ResourceTable, TheBodiesThatWereNotTouchedForLongestGo) {
  Table table(1'000'000, kShards * 100);
  table.show(sibling(1), 1, std::string(40, 'x'));
  table.show(sibling(2), 2, std::string(40, 'x'));
  table.show(sibling(1), 3, std::string(40, 'x'));  // the same again
  table.show(sibling(3), 4, std::string(40, 'x'));
  EXPECT_EQ(table.bodies(sibling(1)), 1u);
  EXPECT_EQ(table.bodies(sibling(2)), 0u);
}

TEST(ResourceTable, OneBodyAboveTheWholeBudgetIsNotKeptAndCounted) {
  Table table(1'000'000, kShards * 100);
  table.show(sibling(1), 1, std::string(40, 'x'));
  table.show(sibling(2), 2, std::string(101, 'x'), "long");
  EXPECT_EQ(table.bodies(sibling(2)), 0u);
  EXPECT_EQ(table.entries(sibling(2)), 1u);
  EXPECT_LE(table.counts().body_bytes, 100u);
  EXPECT_GE(table.counts().bodies_evicted, 1u);
}

TEST(ResourceTable, OfOneResourceAboveTheWholeBudgetTheNewestStatesKeepTheirBodies) {
  Table table(1'000'000, kShards * 100);
  for (uint64_t i = 1; i <= 6; ++i) table.show(sibling(1), i, std::string(40, static_cast<char>('a' + i)), std::to_string(i));
  EXPECT_EQ(table.entries(sibling(1)), 6u);
  EXPECT_EQ(table.counts().body_bytes, 80u);
  table.ask(sibling(1), [](const policy::History& history) {
    EXPECT_TRUE(history.entries()[4].rendered_at("2025-05-01")->body);
    EXPECT_TRUE(history.entries()[5].rendered_at("2025-05-01")->body) << "what the next write is built on";
    return 0;
  });
}

TEST(ResourceTable, WhatLostItsBodiesMayHaveSomeAgain) {
  Table table(1'000'000, kShards * 100);
  for (uint64_t i = 1; i <= 6; ++i) table.show(sibling(i), i, std::string(40, 'x'));
  EXPECT_EQ(table.bodies(sibling(1)), 0u);
  table.show(sibling(1), 10, std::string(40, 'y'), "f");
  EXPECT_EQ(table.bodies(sibling(1)), 1u);
  EXPECT_EQ(table.bodies(sibling(5)), 0u);
  EXPECT_EQ(table.bodies(sibling(6)), 1u);
  EXPECT_EQ(table.counts().body_bytes, 80u);
}

TEST(ResourceTable, BytesAreAccountedForThroughEverythingThatHappens) {
  Table table(kShards);
  for (uint64_t i = 1; i <= 100; ++i)
    table.show(sibling(1), i, std::string(10, static_cast<char>('a' + i % 26)), std::to_string(i));
  EXPECT_EQ(table.counts().body_bytes, 10 * table.bodies(sibling(1)));
  EXPECT_EQ(table.bodies(sibling(1)), table.limits().entries_max);
  policy::Refused refused;
  refused.client = kMine;
  refused.refusal.requested_body = body("12345");
  table.apply(sibling(1), refused);
  EXPECT_EQ(table.counts().body_bytes, 10 * table.limits().entries_max + 5);
  table.remove(sibling(1), 200);
  EXPECT_EQ(table.counts().body_bytes, 10 * (table.limits().entries_max - 1) + 5) << "it took the place of a state";
  table.accept(sibling(2), 300);
  EXPECT_EQ(table.counts().body_bytes, 0u) << "a resource that is forgotten gives everything back";
}

// ---- deletes and creations

TEST(ResourceTable, ADeleteConcernsAllThatWasBelow) {
  Table table;
  const arm::ResourceId subnet{kNet + "/subnets/a", "microsoft.network/virtualnetworks/subnets"};
  EXPECT_EQ(table.last_delete(subnet).order, 0u);
  table.remove(key(kGroup), 5, kMine);
  EXPECT_EQ(table.last_delete(subnet).order, 5u);
  EXPECT_EQ(table.last_delete(subnet).client, kMine);
  table.remove(key(kNet), 9, kTheirs);
  EXPECT_EQ(table.last_delete(subnet).order, 9u);
  EXPECT_EQ(table.last_delete(subnet).client, kTheirs);
  table.remove(key(kNet + "/subnets/b"), 12);
  EXPECT_EQ(table.last_delete(subnet).order, 9u) << "a sibling";
  EXPECT_EQ(table.last_delete({kGroup + "2", "microsoft.resources/resourcegroups"}).order, 0u);
}

TEST(ResourceTable, ADeleteThatWasForgottenMayHaveBeenOfAnythingInItsShard) {
  Table table(kShards);
  const arm::ResourceId subnet{kNet + "/subnets/a", "microsoft.network/virtualnetworks/subnets"};
  table.remove(key(kGroup), 5, kMine);
  for (uint64_t i = 0; i < 2'000; ++i) table.show(key("/r" + std::to_string(i)), 100 + i, "{}");
  EXPECT_EQ(table.entries(key(kGroup)), 0u);
  EXPECT_EQ(table.last_delete(subnet).order, 5u) << "what was read before it is no base for a write after it";
  EXPECT_EQ(table.last_delete(subnet).client, Hash128{}) << "whose it was nobody knows any more";
  table.remove(key(kNet), 7, kMine);
  EXPECT_EQ(table.last_delete(subnet).client, kMine);
}

TEST(ResourceTable, ACreationIsEvidenceUntilADeleteIsAccepted) {
  Table table;
  table.apply(key(kGroup), policy::ResourceCreated{at_second(5).time});
  EXPECT_EQ(table.created_at(key(kGroup)), at_second(5).time);
  table.accept(key(kGroup), 6);
  EXPECT_EQ(table.created_at(key(kGroup)), at_second(5).time) << "it is there still";
  policy::WriteAccepted deletes;
  deletes.at = at_second(7);
  deletes.deletes = true;
  table.apply(key(kGroup), deletes);
  EXPECT_EQ(table.created_at(key(kGroup)), std::nullopt);
  table.apply(key(kGroup), policy::ResourceCreated{at_second(8).time});
  EXPECT_EQ(table.created_at(key(kGroup)), at_second(8).time);
  table.remove(key(kGroup), 9);
  EXPECT_EQ(table.created_at(key(kGroup)), std::nullopt);
}

}  // namespace
}  // namespace armgate
