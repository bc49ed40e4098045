// Goal: a token's owner is named by claims that survive a refresh, and no credential can crash or confuse the reader.
#include "arm/identity.h"

#include <gtest/gtest.h>

#include "tests/json/hostile_json.h"

namespace armgate::arm {
namespace {

std::string encode(std::string_view bytes, std::string_view last_two) {
  static constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const std::string alphabet = std::string(kLetters) + std::string(last_two);
  std::string text;
  unsigned bits = 0;
  int held = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (held += 8; held >= 6; held -= 6) text += alphabet[bits >> (held - 6) & 63];
  }
  if (held > 0) text += alphabet[bits << (6 - held) & 63];
  return text;
}

std::string padded(std::string text) {
  while (text.size() % 4 != 0) text += '=';
  return text;
}

std::string bearer(std::string_view payload) { return "Bearer e30." + encode(payload, "-_") + ".c2ln"; }
std::string basic(std::string_view pair) { return "Basic " + padded(encode(pair, "+/")); }

TEST(IdentityTest, TheStablestClaimIsThePrincipal) {
  const struct {
    std::string_view payload, tenant, principal;
  } cases[] = {
      {R"({"tid":"t","oid":"o","appid":"a","azp":"z","sub":"s"})", "t", "o"},
      {R"({"sub":"s","azp":"z","appid":"a"})", "", "a"},
      {R"({"sub":"s","azp":"z"})", "", "z"},
      {R"({"sub":"s","exp":17,"aud":["x"],"xms":{"oid":"no"}})", "", "s"},
      {R"({"tid":7,"oid":null,"appid":"","sub":"s"})", "", "s"},
      {R"({"sub":"gr\u00fc\u00df ~~~???"})", "", "gr\xc3\xbc\xc3\x9f ~~~???"},
  };
  for (const auto& c : cases) {
    const auto claims = claims_of(bearer(c.payload));
    ASSERT_TRUE(claims) << c.payload;
    EXPECT_EQ(claims->tenant, c.tenant) << c.payload;
    EXPECT_EQ(claims->principal, c.principal) << c.payload;
  }
}

TEST(IdentityTest, TheSchemeIsReadInAnyCaseAndPaddingIsOptional) {
  const std::string payload = encode(R"({"sub":"some"})", "-_");
  ASSERT_NE(payload.size() % 4, 0u);
  for (const std::string& text : {"bearer e30." + payload + ".s", "BEARER   e30." + payload + ".s  ",
                                  "Bearer e30." + padded(payload) + ".s", "Bearer e30." + payload + "."}) {
    EXPECT_TRUE(claims_of(text)) << text;
  }
}

TEST(IdentityTest, WhatIsNoSignedTokenHasNoClaims) {
  const std::string payload = encode(R"({"sub":"s"})", "-_");
  const std::vector<std::string> refused{"",
                                         "Bearer",
                                         "Bearer ",
                                         "Bearer opaque",
                                         payload,
                                         "Bearer" + payload,
                                         "Basic e30." + payload + ".s",
                                         "Bearer e30." + payload,
                                         "Bearer ." + payload + ".s",
                                         "Bearer a." + payload + ".c.d.e",
                                         "Bearer e30.." + payload,
                                         "Bearer e30.!!!!.s",
                                         "Bearer e30.A.s",
                                         "Bearer e30.A===.s",
                                         "Bearer e30." + payload + "\n.s",
                                         bearer("{}"),
                                         bearer("[]"),
                                         bearer(R"({"tid":"t"})"),
                                         bearer(R"({"sub":"s")"),
                                         bearer("{\"sub\":\"\xff\"}"),
                                         bearer(nested_json("sub", 5'000)),
                                         "Bearer e30." + std::string(100'000, 'A') + ".s"};
  for (const std::string& text : refused) EXPECT_FALSE(claims_of(text)) << text.substr(0, 80);
  for (const std::string& json : hostile_json()) EXPECT_FALSE(claims_of(bearer(json))) << json.substr(0, 80);
}

TEST(IdentityTest, TheUserOfABasicCredential) {
  const std::pair<std::string, std::string> cases[] = {
      {basic("spinnaker:"), "spinnaker"},
      {basic("spinnaker:secret:more"), "spinnaker"},
      {basic("alone"), "alone"},
      {basic("gr\xc3\xbc\xc3\x9f:x"), "gr\xc3\xbc\xc3\x9f"},
      {"basic  dXNlcjpwYXNz", "user"},
      {basic("a>?:b"), "a>?"},
      {basic(":secret"), ""},
      {basic(""), ""},
      {basic("a\nb:x"), ""},
      {basic("\xff\xfe:x"), ""},
      {"Basic dXNl!jpw", ""},
      {"Basic dXNlc", ""},
      {"Basic", ""},
      {"Bearer dXNlcjpwYXNz", ""},
      {"", ""},
      {"Basic " + std::string(100'000, 'Y'), ""},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(basic_user(text).name, expected) << text.substr(0, 80);
}

TEST(IdentityTest, AUserThatIsNotTakenIsToldFromNone) {
  for (const std::string& text : {basic("a\nb:x"), basic("\xff\xfe:x"), std::string("Basic dXNl!jpw"),
                                  std::string("basic !!!!"), "Basic " + std::string(5'000, 'Y')}) {
    EXPECT_TRUE(basic_user(text).is_unusable) << text.substr(0, 80);
  }
  for (const std::string& text : {basic("user:x"), basic(":secret"), std::string("Basic"), std::string("Bearer x"),
                                  std::string("Negotiate " + std::string(5'000, 'Y')), std::string()}) {
    EXPECT_FALSE(basic_user(text).is_unusable) << text.substr(0, 80);
  }
}

}  // namespace
}  // namespace armgate::arm
