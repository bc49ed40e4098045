// Who was shown or has written which state.
#include "proxy/state/sightings.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

constexpr Hash128 kOne{1, 1};
constexpr Hash128 kTwo{2, 2};

Sighting sighting(Sighting::How how, uint64_t client, uint64_t since) {
  Sighting one;
  one.how = how;
  one.client = {client, 0};
  one.since = since;
  return one;
}
Sighting read(uint64_t client, uint64_t since) { return sighting(Sighting::How::Read, client, since); }
Sighting written(uint64_t client, uint64_t since) { return sighting(Sighting::How::Written, client, since); }

std::vector<uint64_t> since(const Sightings& sightings, const Hash128& resource, uint64_t order) {
  std::vector<uint64_t> orders;
  for (const auto& one : sightings.after(resource, order)) orders.push_back(one.since);
  return orders;
}

using Orders = std::vector<uint64_t>;

TEST(Sightings, OnlyWhatIsNewerIsToldTheNewestFirst) {
  Sightings sightings{{}};
  sightings.add(kOne, written(1, 10));
  sightings.add(kOne, read(2, 30));
  sightings.add(kOne, written(3, 20));
  sightings.add(kTwo, read(1, 40));
  EXPECT_EQ(since(sightings, kOne, 10), (Orders{30, 20}));
  EXPECT_EQ(since(sightings, kOne, 30), Orders{});
  EXPECT_EQ(since(sightings, Hash128{3, 3}, 0), Orders{});
}

TEST(Sightings, AReaderThatPollsPushesOutNeitherOtherReadersNorWrites) {
  Sightings sightings{{}};
  sightings.add(kOne, written(1, 1));
  sightings.add(kOne, read(2, 2));
  for (uint64_t order = 3; order < 100; ++order) sightings.add(kOne, read(3, order));
  EXPECT_EQ(since(sightings, kOne, 0), (Orders{99, 2, 1}));
}

TEST(Sightings, OfEachResourceAFewAreKeptAndOfTheResourcesTheLastTouched) {
  Sightings sightings{{2, 2, 2}};
  for (uint64_t order = 1; order <= 5; ++order) sightings.add(kOne, written(order, order));
  EXPECT_EQ(since(sightings, kOne, 0), (Orders{5, 4}));
  sightings.add(kTwo, written(1, 6));
  sightings.add(kOne, written(1, 7));
  sightings.add(Hash128{3, 3}, written(1, 8));
  EXPECT_EQ(sightings.size(), 2u);
  EXPECT_EQ(since(sightings, kTwo, 0), Orders{});
  EXPECT_EQ(since(sightings, kOne, 0), (Orders{7, 5}));
}

}  // namespace
}  // namespace armgate
