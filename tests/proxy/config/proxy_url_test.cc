// Goal: a proxy's URL means here what it means to curl, and a secret in it is not repeated. Method: tables.
#include "proxy/config/proxy_url.h"

#include <gmock/gmock.h>

namespace armgate {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ProxyUrl, IsReadAsToolsReadIt) {
  const struct {
    const char* url;
    const char* address;
    const char* user;
    const char* password;
  } rows[] = {
      {"http://proxy.corp.example:3128", "proxy.corp.example:3128", "", ""},
      {"HTTP://Proxy.Corp.example:3128/", "proxy.corp.example:3128", "", ""},
      {"proxy:8080", "proxy:8080", "", ""},
      {"http://proxy", "proxy:80", "", ""},
      {"http://10.1.2.3:8080", "10.1.2.3:8080", "", ""},
      {"http://[fd00::1]:8080", "[fd00::1]:8080", "", ""},
      {"http://[fd00::1]", "[fd00::1]:80", "", ""},
      {"http://me@proxy:1", "proxy:1", "me", ""},
      {"http://CORP%5cme:p%40ss%3a%zz@proxy:1", "proxy:1", "CORP\\me", "p@ss:%zz"},
      {"http://me:p@ss/w@proxy:1/", "proxy:1", "me", "p@ss/w"},
  };
  for (const auto& row : rows) {
    const auto read = parse_proxy_url(row.url);
    ASSERT_TRUE(read.ok()) << row.url;
    EXPECT_EQ(read->address(), row.address) << row.url;
    EXPECT_EQ(read->user, row.user) << row.url;
    EXPECT_EQ(read->password, row.password) << row.url;
  }
  EXPECT_EQ(parse_proxy_url("http://localhost:1")->place(), "127.0.0.1:1");
}

TEST(ProxyUrl, ThatCannotBeUsedIsNotRepeated) {
  for (const char* url :
       {"https://me:SECRET@proxy:1", "socks5://me:SECRET@proxy:1", "http://me:SECRET@", "http://me:SECRET@a b:1",
        "http://me:SECRET@proxy:0", "http://me:SECRET@proxy:99999", "http://me:SECRET@proxy:x", "direct", ""}) {
    const auto read = parse_proxy_url(url);
    ASSERT_FALSE(read.ok()) << url;
    EXPECT_THAT(read.error().context, Not(HasSubstr("SECRET"))) << url;
  }
}

}  // namespace
}  // namespace armgate
