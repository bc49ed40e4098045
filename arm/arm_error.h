// arm_error.h – ARM's error shape, read and written (ARM RPC common-api-details.md, "Error response content").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace armgate::arm {

struct ArmError {
  std::string code;                          // error.code, or code, or Code
  std::string message;                       // the matching message
  std::vector<std::string> detail_codes;     // details[].code at any depth, in order
  std::vector<std::string> detail_messages;  // their messages (observed: Network's real reason stands there)

  // True if `wanted` is the code or one of the details' codes (without case).
  bool has_code(std::string_view wanted) const;
};

// Reads an error body in any spelling that providers use: {"error":{...}}, {"code":...} and Microsoft.Web's
// {"Code":...}, whose details[].ErrorEntity codes count as details too. Nothing if it is not one.
std::optional<ArmError> parse_error(std::string_view body);

// A detail of an error that armgate itself answers.
struct ErrorDetail {
  std::string code;
  std::string message;
  std::string target;  // a JSON pointer or an id; may be empty
};

// {"error":{"code","message","target","details"}}; target and details are left out when empty.
std::string error_body(std::string_view code, std::string_view message, std::string_view target = {},
                       const std::vector<ErrorDetail>& details = {});

}  // namespace armgate::arm
