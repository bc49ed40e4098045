// The servers of a URL: each alone, with its share of the time.
#include "proxy/cluster/engine/pg_servers.h"

#include <gtest/gtest.h>

#include <chrono>

namespace armgate::cluster {
namespace {

using std::chrono::seconds;

std::string option(const Server& server, std::string_view name) {
  for (const auto& [given, value] : server.options) {
    if (given == name) return value;
  }
  return {};
}

TEST(Servers, AreTriedOneByOneWithAShareOfTheTime) {
  const auto servers = servers_of("postgres://u@db-a:5433,db-b/armgate?sslmode=verify-full", seconds(5));
  ASSERT_TRUE(servers) << servers.error().context;
  ASSERT_EQ(servers->size(), 2u);
  EXPECT_EQ(servers->at(0).name, "db-a:5433");
  EXPECT_EQ(servers->at(1).name, "db-b:5432");
  EXPECT_EQ(option(servers->at(1), "host"), "db-b");
  EXPECT_EQ(option(servers->at(1), "dbname"), "armgate");
  EXPECT_EQ(option(servers->at(1), "sslmode"), "verify-full");
  EXPECT_EQ(servers->at(0).within, std::chrono::milliseconds(2500));
}

TEST(Servers, ConnectTimeoutIsEachOnesTime) {
  const auto servers = servers_of("postgres://u@a,b,c/armgate?connect_timeout=7", seconds(5));
  ASSERT_TRUE(servers) << servers.error().context;
  for (const Server& server : *servers) EXPECT_EQ(server.within, seconds(7)) << server.name;
  EXPECT_EQ(servers_of("postgres://a/?connect_timeout=1", seconds(5))->front().within, seconds(2)) << "libpq's own least";
  EXPECT_EQ(servers_of("postgres://a/?connect_timeout=0", seconds(5))->front().within, seconds(5)) << "none";
}

TEST(Servers, AUrlThatIsNotUnderstoodIsRefusedWithoutItsPassword) {
  const auto unknown = servers_of("postgres://u:secret@a/armgate?sslmod=require", seconds(5));
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().context.find("sslmod"), std::string::npos) << unknown.error().context;
  const auto unescaped = servers_of("postgres://u:hunter2@secret@a/armgate", seconds(5));
  ASSERT_FALSE(unescaped);
  EXPECT_NE(unescaped.error().context.find("%40"), std::string::npos) << unescaped.error().context;
  for (const char* url : {"postgres://u:secret@[::1/armgate", "postgres://u:sec%zzret@a/armgate",
                          "postgres://u:secret@a:1,b:2,c/x", "postgres://u:secret@a,b,c:1,2/x"}) {
    const auto refused = servers_of(url, seconds(5));
    if (refused) continue;
    EXPECT_EQ(refused.error().context.find("sec"), std::string::npos) << refused.error().context;
  }
}

TEST(Servers, WhatIsWeakerThanVerifyFullIsToldButOnThisMachine) {
  EXPECT_TRUE(weak_transport("postgres://u@db-a,127.0.0.1/x?sslmode=require").has_value());
  EXPECT_NE(weak_transport("postgres://u@db-a/x")->find("sslmode=prefer"), std::string::npos)
      << *weak_transport("postgres://u@db-a/x");
  EXPECT_EQ(weak_transport("postgres://u@db-a/x?sslmode=verify-full"), std::nullopt);
  EXPECT_EQ(weak_transport("postgres://u@127.0.0.1,localhost/x?sslmode=disable"), std::nullopt);
  EXPECT_EQ(weak_transport("postgres://u@[::1]/x"), std::nullopt);
  EXPECT_EQ(weak_transport("postgres:///x?host=/var/run/postgresql"), std::nullopt);
}

}  // namespace
}  // namespace armgate::cluster
