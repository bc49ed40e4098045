// Goal: the lock table under real threads: no data race on what its leases protect, no lost wake-up, nothing left over.
// Worth most under ThreadSanitizer.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "proxy/async/spawn.h"
#include "proxy/state/lock/lock_table.h"

namespace armgate {
namespace {

constexpr size_t kThreads = 4;
constexpr size_t kWritersPerThread = 3;
constexpr size_t kStressKeys = 3;
constexpr int kRounds = 1500;

struct Shared {
  LockTable locks{{}, Hasher(HashKey{1, 2})};
  std::array<int, kStressKeys> counters{};  // plain on purpose: only the leases protect them
  std::array<std::atomic<int>, kStressKeys> expected{};
  std::atomic<int> quits{0};
};

std::vector<rules::LockKey> some_keys(Rng& rng) {
  std::vector<rules::LockKey> keys;
  for (size_t key = 0; key < kStressKeys; ++key) {
    const uint64_t choice = rng.below(4);
    if (choice == 0) keys.push_back({std::to_string(key), rules::LockMode::Shared});
    if (choice == 1) keys.push_back({std::to_string(key), rules::LockMode::Exclusive});
  }
  if (keys.empty()) keys.push_back({"0", rules::LockMode::Exclusive});
  return keys;
}

void work(Shared& shared, const std::vector<rules::LockKey>& keys) {
  for (const auto& key : keys) {
    const size_t index = std::stoul(key.id);
    if (key.mode == rules::LockMode::Exclusive) {
      ++shared.counters[index];
      ++shared.expected[index];
    } else {
      EXPECT_LE(shared.counters[index], static_cast<int>(kThreads * kWritersPerThread) * kRounds);
    }
  }
}

Task<void> write_often(Shared& shared, Executor executor, uint64_t seed) {
  Rng rng(seed);
  for (int round = 0; round < kRounds; ++round) {
    const auto keys = some_keys(rng);
    Waiter waiter(executor);
    auto place = shared.locks.join(keys, {}, &waiter, 1);
    EXPECT_TRUE(place.ok());
    if (!place.ok()) co_return;
    if (rng.chance(0.1) && !place->granted()) {
      ++shared.quits;  // whether or not the grant comes just now
      continue;
    }
    while (!place->granted()) co_await waiter.wait();
    const WriteLease lease = place->into_lease();
    work(shared, keys);
  }
}

// A parked writer counts as work of its event loop, so run() returns when all of the thread's writers are through.
void run_thread(Shared& shared, uint64_t seed) {
  boost::asio::io_context io;
  for (size_t i = 0; i < kWritersPerThread; ++i) {
    spawn(io.get_executor(), write_often(shared, io.get_executor(), seed * 100 + i));
  }
  io.run();
}

TEST(LockTableStress, ManyThreadsNeverMeetUnderOneKey) {
  Shared shared;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) threads.emplace_back(run_thread, std::ref(shared), i + 1);
  std::atomic<bool> over{false};
  std::thread onlooker([&] {
    while (!over) EXPECT_LE(shared.locks.entries(3).oldest.size(), 3u);  // ThreadSanitizer looks on
  });
  for (auto& thread : threads) thread.join();
  over = true;
  onlooker.join();
  for (size_t key = 0; key < kStressKeys; ++key) {
    EXPECT_EQ(shared.counters[key], shared.expected[key].load());
    EXPECT_GT(shared.counters[key], 0);
  }
  EXPECT_EQ(shared.locks.counts().keys, 0u);
  EXPECT_EQ(shared.locks.counts().waiting, 0u);
}

// Two that go by on different keys hold no mutex in common.
void go_by_often(LockTable& locks, const std::string& key) {
  boost::asio::io_context io;
  Waiter waiter(io.get_executor());
  for (int round = 0; round < kRounds; ++round) {
    auto place = locks.join({{key, rules::LockMode::Shared}}, {}, &waiter, 1);
    ASSERT_TRUE(place.ok());
    ASSERT_TRUE(place->granted());
  }
}

TEST(LockTableStress, WhoIsPassedOnSeveralKeysAtOnceCountsEveryTime) {
  LockTable locks({}, Hasher(HashKey{1, 2}));
  boost::asio::io_context io;
  Waiter waiter(io.get_executor());
  auto holder = locks.join({{"held", rules::LockMode::Exclusive}}, {}, &waiter, 1);
  auto passed = locks.join(
      {{"a", rules::LockMode::Shared}, {"b", rules::LockMode::Shared}, {"held", rules::LockMode::Exclusive}}, {}, &waiter, 1);
  ASSERT_TRUE(holder.ok() && passed.ok());
  ASSERT_FALSE(passed->granted());
  std::thread on_a(go_by_often, std::ref(locks), "a");
  std::thread on_b(go_by_often, std::ref(locks), "b");
  on_a.join();
  on_b.join();
  EXPECT_EQ(passed->times_passed(), 2u * kRounds);
}

}  // namespace
}  // namespace armgate
