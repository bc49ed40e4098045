// Who may sit on the admin listener, and what is said where there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/view/answer.h"
#include "cli/view/ask_service.h"
#include "cli/view/status.h"
#include "proxy/gateway/options.h"
#include "proxy/http/head_parser.h"
#include "proxy/net/client/intercept.h"
#include "proxy/net/client/server.h"
#include "proxy/observability/admin/admin_leases.h"

namespace armgate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(StatusText, WhatIsNoStatusIsSaidToBeNone) {
  for (const char* page : {"", "<html>", "{}", "[]", R"({"version": 1})"}) {
    const auto status = read_status(page);
    ASSERT_FALSE(status.ok()) << page;
    EXPECT_THAT(status.error().context, HasSubstr("no status that can be read"));
    EXPECT_FALSE(read_unlock(page).ok()) << page;
  }
}

TEST(AdminListener, CannotBeSatOnWhateverTheLimitsOfTheOthers) {
  Config config;
  EXPECT_FALSE(admin_listener(config).has_value());
  config.listen.admin = "127.0.0.1:9478";
  config.limits.connections = 100'000;
  config.limits.idle_max = config.limits.head_max = config.limits.body_max = std::chrono::hours(1);
  const auto listener = admin_listener(config);
  ASSERT_TRUE(listener.has_value());
  EXPECT_EQ(listener->port, 9478);
  EXPECT_EQ(listener->connections_max, 64u);
  EXPECT_EQ(listener->session.limits.request_body_bytes_max, kLeaseBytesMax);
  const auto long_one = http::parse_request_head("POST /leases HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20000\r\n\r\n",
                                                 listener->session.limits);
  ASSERT_FALSE(long_one.ok());
  EXPECT_THAT(long_one.error().context, AllOf(HasSubstr("more than 16384 bytes"), Not(HasSubstr("limits."))))
      << "an option that does not help";
  for (const Duration most :
       {listener->session.idle_max, listener->session.head_max, listener->session.body_max, listener->session.write_max}) {
    EXPECT_EQ(most, std::chrono::seconds(5));
  }
}

TEST(FetchStatus, NamesTheOptionIfThereIsNoSuchListener) {
  const auto status = fetch_status(Config{});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(status.error().context, HasSubstr("listen.admin"));
  Config anywhere;
  anywhere.listen.admin = "127.0.0.1:0";
  EXPECT_EQ(fetch_status(anywhere).error().kind, ErrorKind::BadInput);
}

}  // namespace
}  // namespace armgate
