// Goal: a command line means what it says, and what is wrong with one is told by name. Method: tables of good and bad ones.
#include "bench/load/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arm/identity.h"

namespace armgate::load {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Parsed parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "armgate_load");
  return parse_arguments(static_cast<int>(arguments.size()), arguments.data());
}

TEST(LoadOptions, ATargetAloneIsEnough) {
  const auto parsed = parse({"https://management.azure.com"});
  ASSERT_TRUE(parsed.options) << parsed.text;
  const auto& options = *parsed.options;
  ASSERT_EQ(options.targets.size(), 1u);
  EXPECT_EQ(options.targets[0].name, "management.azure.com");
  EXPECT_EQ(options.targets[0].connect.port, 443);
  EXPECT_EQ(options.connections, 16u);
  EXPECT_THAT(options.tokens, ElementsAre(StartsWith("Bearer ")));
}

TEST(LoadOptions, EachClientHasATokenOfItsOwn) {
  const auto parsed = parse({"https://management.azure.com", "--clients", "2"});
  ASSERT_TRUE(parsed.options) << parsed.text;
  ASSERT_EQ(parsed.options->tokens.size(), 2u);
  const auto first = arm::claims_of(parsed.options->tokens[0]), second = arm::claims_of(parsed.options->tokens[1]);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->tenant, second->tenant);
  EXPECT_NE(first->principal, second->principal);
}

TEST(LoadOptions, EveryPartOfATargetIsRead) {
  const auto target =
      parse_target_spec("gate=https://ARM.example:8443,proxy=http://load-{c}@10.0.0.1:8080/,ca=/dev/null,pid=12");
  ASSERT_TRUE(target.ok()) << target.error().context;
  EXPECT_EQ(target->name, "gate");
  EXPECT_EQ(target->origin.host, "arm.example");
  EXPECT_EQ(target->origin.port, 8443);
  EXPECT_EQ(target->proxy->host, "10.0.0.1");
  EXPECT_EQ(target->proxy->port, 8080);
  EXPECT_EQ(target->proxy_user, "load-{c}");
  EXPECT_EQ(target->ca_file->string(), "/dev/null");
  EXPECT_EQ(target->pid, 12);
  const auto direct = parse_target_spec("https://arm.example,connect=127.0.0.1:9000");
  EXPECT_EQ(direct->connect.host, "127.0.0.1");
  EXPECT_EQ(direct->connect.port, 9000);
  EXPECT_EQ(direct->origin.port, 443);
}

TEST(LoadOptions, ABadTargetIsRefusedByName) {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"http://plain.example", "not [NAME=]https://"},
      {"https://host/path", "--path"},
      {"https://host,color=red", "'color' is none of"},
      {"https://host,pid=0", "pid=0"},
      {"https://host,pid=ten", "pid=ten"},
      {"https://host,connect=nowhere", "'nowhere' is not HOST:PORT"},
      {"https://host,connect=a:70000", "'a:70000' is not HOST:PORT"},
      {"https://host,proxy=https://p:1", "a proxy is http://"},
      {"https://host,proxy=http://u@p", "'p' is not HOST:PORT"},
      {"https://host,ca=/no/such/file", "/no/such/file"},
      {"https://host,connect=a:1,proxy=http://p:1", "no meaning"},
      {"", "not [NAME=]https://"},
  };
  for (const auto& c : cases) {
    const auto target = parse_target_spec(c.text);
    ASSERT_FALSE(target.ok()) << c.text;
    EXPECT_THAT(target.error().context, HasSubstr(c.says)) << c.text;
  }
}

TEST(LoadOptions, AMixIsReadOrRefused) {
  const auto mix = parse_mix("get=70,rmw=2.5");
  ASSERT_TRUE(mix.ok());
  EXPECT_EQ(mix->get, 70);
  EXPECT_EQ(mix->put, 0);
  EXPECT_EQ(mix->update, 2.5);
  for (const char* text : {"", "get", "get=", "get=-1", "get=x", "post=1", "get=0,put=0", "get=inf", "get=1,,put=1"}) {
    EXPECT_FALSE(parse_mix(text).ok()) << text;
  }
}

TEST(LoadOptions, BadArgumentsEndWithTwoAndSayWhich) {
  const struct {
    std::vector<const char*> arguments;
    const char* says;
  } cases[] = {
      {{}, "target"},
      {{"https://a", "https://a"}, "both targets are called 'a'"},
      {{"https://a", "https://b", "https://c"}, "At Most 2"},
      {{"https://a", "--duration", "5"}, "--duration 5"},
      {{"https://a", "--duration", "1ms"}, "at least 100ms"},
      {{"https://a", "--connections", "0"}, "--connections"},
      {{"https://a", "--path", "x"}, "--path x"},
      {{"https://a", "--body", "/no/such"}, "/no/such"},
      {{"https://a", "--token-file", "/no/such"}, "/no/such"},
      {{"https://a", "--header", "nothing"}, "'nothing'"},
      {{"https://a", "--header", "X: a\r\nY: b"}, "--header"},
      {{"https://a", "--rate", "-1"}, "--rate"},
      {{"https://a", "--unknown"}, "--unknown"},
  };
  for (const auto& c : cases) {
    const auto parsed = parse(c.arguments);
    EXPECT_FALSE(parsed.options);
    EXPECT_EQ(parsed.exit_code, 2);
    EXPECT_THAT(parsed.text, HasSubstr(c.says));
  }
}

TEST(LoadOptions, HelpIsNoError) {
  const auto parsed = parse({"--help"});
  EXPECT_FALSE(parsed.options);
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_THAT(parsed.text, HasSubstr("--connections"));
}

TEST(LoadOptions, AMadeUpBodyHasTheSizeThatWasAskedFor) {
  for (const size_t bytes : {200, 500, 1500, 100'000}) EXPECT_EQ(make_body(bytes).size(), bytes);
  EXPECT_THAT(make_body(2), HasSubstr("{v}"));
}

}  // namespace
}  // namespace armgate::load
