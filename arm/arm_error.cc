#include "arm/arm_error.h"

#include <algorithm>

#include <simdjson.h>
#include <nlohmann/json.hpp>

#include "arm/json_scan.h"
#include "base/text.h"

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

using OrderedJson = nlohmann::ordered_json;

OrderedJson error_object(std::string_view code, std::string_view message, std::string_view target) {
  OrderedJson error;
  error["code"] = code;
  error["message"] = message;
  if (!target.empty()) error["target"] = target;
  return error;
}

}  // namespace

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

std::string error_body(std::string_view code, std::string_view message, std::string_view target,
                       const std::vector<ErrorDetail>& details) {
  OrderedJson error = error_object(code, message, target);
  for (const ErrorDetail& detail : details) {
    error["details"].push_back(error_object(detail.code, detail.message, detail.target));
  }
  OrderedJson body;
  body["error"] = std::move(error);
  // Texts may quote what a client sent; bytes that are no UTF-8 are replaced.
  return body.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace armgate::arm
