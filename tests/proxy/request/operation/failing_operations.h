// failing_operations.h – a scale set whose writes ARM takes, and whose operations may fail later: what ARM says, and a rule that has such
// writes sent again.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "rules/file/rule_file.h"
#include "tests/support/shipped_errors.h"
#include "tests/support/stage_rig.h"

namespace armgate::world::failing_operations {

inline const std::string kBefore = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
inline const std::string kBack = R"({"etag":"\"3\"","sku":{"capacity":1},"properties":{"provisioningState":"Failed"}})";
inline const std::string kWanted = R"({"sku":{"capacity":2}})";
inline const std::string kRunning = R"({"etag":"\"2\"","sku":{"capacity":2},"properties":{"provisioningState":"Updating"}})";

inline std::string operation(int number) { return "/subscriptions/s/operations/" + std::to_string(number) + "?t=signed"; }
inline std::string url(int number) { return "https://management.azure.com" + operation(number); }
inline std::string poll(int number) { return "GET " + operation(number); }
inline std::string failed(const std::string& code) {
  return R"({"status":"Failed","error":{"code":")" + code + R"(","message":"m"}})";
}
inline const std::string kInProgress = R"({"status":"InProgress"})";
inline const std::string kBusy = failed("AnotherOperationInProgress");

// `retry`: of the rule's retry.operation.
inline std::shared_ptr<const rules::Ruleset> late_rules(const std::string& retry) {
  rules::FaultList faults;
  auto rules =
      rules::read_rules("r.json",
                        R"({"rules": [{"name": "sets", "match": {"types": ["Microsoft.Compute/virtualMachineScaleSets"]},
      "guard": {"kind": "etag"}, "retry": {"operation": )" +
                            retry + "}}]}",
                        faults);
  EXPECT_TRUE(faults.empty());
  return std::make_shared<const rules::Ruleset>(std::move(rules), policy::shipped().rules());
}

}  // namespace armgate::world::failing_operations
