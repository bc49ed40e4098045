// sim_requests.h – short spellings for tests that talk to a SimArm.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "json/tree.h"
#include "sim/sim_arm.h"

namespace armgate::sim {

inline constexpr std::string_view kGroup = "/subscriptions/s1/resourceGroups/g1";
inline const std::string kScaleSet = std::string(kGroup) + "/providers/Microsoft.Compute/virtualMachineScaleSets/vmss1";
inline const std::string kSecurityGroup = std::string(kGroup) + "/providers/Microsoft.Network/networkSecurityGroups/nsg1";
inline const std::string kNetwork = std::string(kGroup) + "/providers/Microsoft.Network/virtualNetworks/vnet1";
inline const std::string kStorage = std::string(kGroup) + "/providers/Microsoft.Storage/storageAccounts/store1";

inline TimePoint at_ms(int64_t milliseconds) { return TimePoint(std::chrono::milliseconds(milliseconds)); }

inline arm::Request make_request(std::string_view method, std::string_view target, std::string_view body = {},
                                 arm::Headers fields = {}) {
  arm::Request request;
  request.head.method = arm::method_of(method);
  request.head.method_token = method;
  request.head.target = target;
  request.head.host = "management.azure.com";
  request.head.fields = std::move(fields);
  request.body = body;
  return request;
}

// A SimArm with a clock that the test moves by hand.
struct Bench {
  explicit Bench(SimOptions options = {}) : arm(std::move(options), 7) {}

  SimAnswer send(std::string_view method, std::string_view path, std::string_view body = {}, arm::Headers fields = {}) {
    const std::string target = std::string(path) + (path.find('?') == path.npos ? "?api-version=2025-04-01" : "");
    return arm.handle(make_request(method, target, body, std::move(fields)), now);
  }
  arm::Response ask(std::string_view method, std::string_view path, std::string_view body = {}, arm::Headers fields = {}) {
    return send(method, path, body, std::move(fields)).response;
  }
  arm::Response follow(std::string_view url) {
    const size_t path = url.find('/', std::string_view("https://").size());
    return arm.handle(make_request("GET", url.substr(path)), now).response;
  }
  void pass(int64_t milliseconds) {
    now += std::chrono::milliseconds(milliseconds);
    arm.advance(now);
  }
  // The group, and a resource whose creation is over.
  void create(std::string_view path, std::string_view body = R"({"location":"westeurope"})") {
    ask("PUT", kGroup, R"({"location":"westeurope"})");
    ask("PUT", path, body);
    pass(60'000);
  }

  SimArm arm;
  TimePoint now = at_ms(1000);
};

inline nlohmann::json body_of(const arm::Response& answer) { return nlohmann::json::parse(answer.body, nullptr, false); }
// The error code of an answer; empty if it is no error.
inline std::string code_of(const arm::Response& answer) {
  const nlohmann::json body = body_of(answer);
  return body.contains("error") ? body["error"].value("code", "") : "";
}

}  // namespace armgate::sim
