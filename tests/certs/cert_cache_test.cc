// Goal: the cache is bounded, renews in time and survives threads.
#include "certs/cert_cache.h"

#include <gtest/gtest.h>

#include <array>
#include <future>

#include "cert_test_support.h"

namespace armgate::certs {
namespace {

CertCache make_cache(size_t contexts_max) {
  return CertCache(*LeafMinter::make(*make_authority({"example.test"}, kNow)), {contexts_max});
}

std::string host(int number) { return "h" + std::to_string(number) + ".example.test"; }

TEST(CertCache, HandsOutOneContextPerHost) {
  CertCache cache = make_cache(10);
  auto one = cache.context_for(host(1), kNow);
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(*one, *cache.context_for(host(1), kNow));
  EXPECT_NE(*one, *cache.context_for(host(2), kNow));
  EXPECT_EQ(SSL_CTX_check_private_key(one->get()), 1);
}

TEST(CertCache, ForgetsTheLeastRecentlyUsed) {
  CertCache cache = make_cache(2);
  auto one = *cache.context_for(host(1), kNow);
  auto two = *cache.context_for(host(2), kNow);
  EXPECT_EQ(one, *cache.context_for(host(1), kNow));
  EXPECT_TRUE(cache.context_for(host(3), kNow).ok());
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(one, *cache.context_for(host(1), kNow));
  EXPECT_NE(two, *cache.context_for(host(2), kNow));
}

TEST(CertCache, MintsAgainWhenADayIsLeft) {
  CertCache cache = make_cache(2);
  auto first = *cache.context_for(host(1), kNow);
  EXPECT_EQ(first, *cache.context_for(host(1), kNow + std::chrono::days(6) - std::chrono::seconds(1)));
  const WallTime later = kNow + std::chrono::days(6);
  auto second = *cache.context_for(host(1), later);
  EXPECT_NE(first, second);
  EXPECT_EQ(not_after(SSL_CTX_get0_certificate(second.get())), later + kLeafLifetime);
  EXPECT_EQ(cache.size(), 1u);
}

TEST(CertCache, MintsNoneAnewThatWouldBeValidNoLonger) {
  CertCache cache = make_cache(2);
  const WallTime end = end_of(cache.authority());
  const auto last = *cache.context_for(host(1), end - std::chrono::days(2));
  EXPECT_EQ(last, *cache.context_for(host(1), end - std::chrono::seconds(1)));
}

TEST(CertCache, MintsAgainWhenTheClockWasSetBack) {
  CertCache cache = make_cache(2);
  auto first = *cache.context_for(host(1), kNow + std::chrono::hours(2));
  auto second = *cache.context_for(host(1), kNow);
  EXPECT_NE(first, second) << "that one is not valid yet";
  EXPECT_EQ(not_after(SSL_CTX_get0_certificate(second.get())), kNow + kLeafLifetime);
  EXPECT_EQ(second, *cache.context_for(host(1), kNow + std::chrono::hours(1)));
  EXPECT_EQ(cache.size(), 1u);
}

TEST(CertCache, KeepsNothingForARefusedHost) {
  CertCache cache = make_cache(2);
  EXPECT_FALSE(cache.context_for("example.org", kNow).ok());
  EXPECT_EQ(cache.size(), 0u);
}

TEST(CertCache, ServesManyThreadsAtOnce) {
  CertCache cache = make_cache(3);
  std::array<std::future<int>, 4> workers;
  for (auto& worker : workers) {
    worker = std::async(std::launch::async, [&cache] {
      int served = 0;
      for (int i = 0; i < 200; ++i) served += cache.context_for(host(i % 5), kNow).ok() ? 1 : 0;
      return served;
    });
  }
  for (auto& worker : workers) EXPECT_EQ(worker.get(), 200);
  EXPECT_EQ(cache.size(), 3u);
}

}  // namespace
}  // namespace armgate::certs
