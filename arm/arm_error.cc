#include "arm/arm_error.h"

#include <algorithm>

#include "base/text.h"
#include "json/document.h"
#include "json/scan.h"
#include "json/tree.h"

namespace armgate::arm {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kDepthMax = 64;  // details nest three or four deep in reality

// A string member whatever the case of its name; empty if there is none.
std::string string_member(const dom::object& object, std::string_view name) {
  std::string_view text;
  return object.at_key_case_insensitive(name).get(text) ? std::string() : std::string(text);
}

void add_text(const dom::object& object, std::string_view name, std::vector<std::string>& texts) {
  std::string text = string_member(object, name);
  if (!text.empty()) texts.push_back(std::move(text));
}

void collect_details(const dom::object& error, ArmError& result) {
  dom::array details;
  if (error.at_key_case_insensitive("details").get(details)) return;
  for (const dom::element element : details) {
    dom::object detail;
    if (element.get(detail)) continue;
    add_text(detail, "code", result.detail_codes);
    add_text(detail, "message", result.detail_messages);
    // Microsoft.Web puts its real reason into details[].ErrorEntity.ExtendedCode ("59203").
    dom::object entity;
    if (!detail.at_key_case_insensitive("ErrorEntity").get(entity)) {
      add_text(entity, "code", result.detail_codes);
      add_text(entity, "ExtendedCode", result.detail_codes);
    }
    collect_details(detail, result);
  }
}

constexpr size_t kCodeBytesMax = 100;

// Go's SDK writes errors so, and AKS passes them on: Code="NetworkingInternalOperationError" Message="..."; quotes may be
// escaped.
std::string_view quoted_code(std::string_view message) {
  constexpr std::string_view kMark = "Code=";
  for (size_t at = message.find(kMark); at != message.npos; at = message.find(kMark, at + 1)) {
    std::string_view rest = message.substr(at + kMark.size());
    const size_t begin = rest.find_first_not_of("\\\"");
    if (begin == rest.npos) break;
    const std::string_view word = rest.substr(begin, rest.find_first_of(begin > 0 ? "\\\"" : " ", begin) - begin);
    if (looks_like_code(word)) return word;
  }
  return {};
}

using OrderedJson = nlohmann::ordered_json;

OrderedJson error_object(std::string_view code, std::string_view message, std::string_view target) {
  OrderedJson error;
  error["code"] = code;
  error["message"] = message;
  if (!target.empty()) error["target"] = target;
  return error;
}

}  // namespace

bool looks_like_code(std::string_view text) {
  const auto may_stand = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= kCodeBytesMax && std::all_of(text.begin(), text.end(), may_stand);
}

bool ArmError::has_code(std::string_view wanted) const {
  return equal_ignoring_case(code, wanted) ||
         std::any_of(detail_codes.begin(), detail_codes.end(),
                     [&](const std::string& detail) { return equal_ignoring_case(detail, wanted); });
}

std::optional<ArmError> parse_error(std::string_view body) {
  body = without_byte_order_mark(body);
  if (body.empty()) return std::nullopt;
  dom::parser parser;
  dom::object top;
  if (parser.allocate(body.size(), kDepthMax) || parser.parse(body.data(), body.size()).get(top)) return std::nullopt;
  dom::object error;
  const bool wrapped = !top.at_key_case_insensitive("error").get(error);
  if (!wrapped) error = top;
  ArmError result{string_member(error, "code"), string_member(error, "message"), {}, {}};
  if (result.code.empty() && (!wrapped || result.message.empty())) return std::nullopt;
  collect_details(error, result);
  return result;
}

ErrorCodes error_codes(std::string_view body) {
  const auto error = parse_error(body);
  if (!error || !looks_like_code(error->code)) return {};
  ErrorCodes codes{error->code, {}};
  const auto& details = error->detail_codes;
  const auto cause = std::find_if(details.begin(), details.end(), [&](const std::string& detail) {
    return looks_like_code(detail) && !equal_ignoring_case(detail, codes.code);
  });
  if (cause != details.end())
    codes.message = *cause;
  else
    codes.message = quoted_code(error->message);
  return codes;
}

std::string error_body(std::string_view code, std::string_view message, std::string_view target,
                       const std::vector<ErrorDetail>& details) {
  OrderedJson error = error_object(code, message, target);
  for (const ErrorDetail& detail : details) {
    error["details"].push_back(error_object(detail.code, detail.message, detail.target));
  }
  OrderedJson body;
  body["error"] = std::move(error);
  // Texts may quote what a client sent; bytes that are no UTF-8 are replaced.
  return dump_json(body, kOneLine, JsonLetters::AsTheyAre);
}

}  // namespace armgate::arm
