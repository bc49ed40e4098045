// named.h – requests that come again, some under a name that their client gave them, and what is asked of their answers.
#pragma once

#include <fmt/chrono.h>

#include <string>
#include <string_view>

#include "tests/support/stage_rig.h"

namespace armgate::world {

inline const std::string kRun = "POST " + std::string(kRestart);
inline const std::string kAction =
    "POST /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v/reticulate?api-version=2024-07-01";
inline const std::string kPut = put(kScaleSet);
inline const std::string kBody = R"({"sku":{"capacity":5}})";
inline const std::string kMade = R"({"etag":"\"2\"","sku":{"capacity":5},"properties":{"provisioningState":"Succeeded"}})";
inline const std::string kLater = R"({"etag":"\"3\"","sku":{"capacity":7},"properties":{"provisioningState":"Succeeded"}})";
inline const std::string kOperation = "https://management.azure.com/subscriptions/s/operations/1?t=signed";
inline const std::string kPoll = "GET /subscriptions/s/operations/1?t=signed";
inline const arm::Headers kAccepted{{"Azure-AsyncOperation", kOperation}, {"Retry-After", "20"}, {"ETag", "\"2\""}};

inline arm::Headers named(const StageRig& rig, std::string_view id, Duration ago = {}) {
  const auto when =
      std::chrono::floor<std::chrono::seconds>(rig.parts().clock.wall() - std::chrono::floor<std::chrono::milliseconds>(ago));
  return {{"Repeatability-Request-ID", id}, {"Repeatability-First-Sent", fmt::format("{:%a, %d %b %Y %H:%M:%S GMT}", when)}};
}

inline arm::Headers with(arm::Headers fields, std::string_view name, std::string_view value) {
  fields.add(name, value);
  return fields;
}

inline std::string_view field(const arm::Response& answer, std::string_view name) { return answer.head.fields.get(name); }
inline std::string_view reason(const arm::Response& answer) { return field(answer, "x-armgate-reason"); }

}  // namespace armgate::world
