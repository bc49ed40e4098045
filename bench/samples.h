// samples.h – the requests, bodies and tokens that the benchmarks work on, as large as real ones.
#pragma once

#include <string>
#include <string_view>

namespace armgate::bench {

inline constexpr std::string_view kNetwork =
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/Production-West/providers/Microsoft.Network/virtualNetworks/"
    "hub-network?api-version=2023-09-01";

inline std::string network(size_t number) {
  return "/subscriptions/00000000-0000-0000-0000-000000000001/resourcegroups/g/providers/microsoft.network/virtualnetworks/v" +
         std::to_string(number);
}

// A network's JSON of about `bytes` bytes. Its ETag is where ARM puts it: before the properties.
inline std::string network_body(size_t bytes, std::string_view version = "1") {
  std::string body = R"({"name":"hub-network","id":"/subscriptions/0/x","etag":"W/\")" + std::string(version) +
                     R"(\"","location":"westeurope","tags":{"v":")" + std::string(version) +
                     R"("},"properties":{"provisioningState":"Succeeded","subnets":[)";
  const std::string item = R"({"name":"default","properties":{"addressPrefix":"10.0.0.0/24","delegations":[]}})";
  while (body.size() + item.size() + 4 < bytes) body += item + ",";
  return body + item + "]}}";
}

// {"tid":"72f988bf-0000","oid":"11111111-2222","appid":"a"} and another principal: base64url without padding.
inline constexpr std::string_view kClaims = "eyJ0aWQiOiI3MmY5ODhiZi0wMDAwIiwib2lkIjoiMTExMTExMTEtMjIyMiIsImFwcGlkIjoiYSJ9";
inline constexpr std::string_view kOtherClaims = "eyJ0aWQiOiI3MmY5ODhiZi0wMDAwIiwib2lkIjoiMTExMTExMTItMjIyMiIsImFwcGlkIjoiYSJ9";

// "Bearer " and a token with the claims in its middle part, 2 KB in all.
inline std::string token(std::string_view claims = kClaims) {
  std::string text = "Bearer eyJhbGciOiJSUzI1NiJ9." + std::string(claims) + ".";
  while (text.size() < 2048) text += static_cast<char>('A' + text.size() % 26);
  return text;
}

}  // namespace armgate::bench
