// arm_error.h – ARM's error shape, read and written (docs/arm.md, "Errors").
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

// What an error is called, without its words: fit for records, for messages may quote anything.
struct ErrorCodes {
  std::string code;  // empty: none that looks like one
  std::string
      message;  // the code that stands for its cause: of its first detail, else the first that its message quotes as Code="..."
  bool empty() const { return code.empty(); }
  friend bool operator==(const ErrorCodes&, const ErrorCodes&) = default;
};

// Whether it is a word of up to 100 letters, digits and "._-".
bool looks_like_code(std::string_view text);

// Of an error in any spelling that parse_error reads; what does not look like a code is left out.
ErrorCodes error_codes(std::string_view body);

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
