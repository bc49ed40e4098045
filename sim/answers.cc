#include "sim/answers.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/json_text.h"

namespace armgate::sim {

using Json = nlohmann::json;

arm::Response plain_answer(int status) {
  arm::Response answer;
  answer.head.status = status;
  return answer;
}

arm::Response json_answer(int status, const Json& body) {
  arm::Response answer = plain_answer(status);
  answer.head.fields.add("Content-Type", "application/json; charset=utf-8");
  answer.body = json_text(body);
  return answer;
}

arm::Response error_answer(int status, std::string_view code, std::string_view message, FailureCause cause) {
  arm::Response answer = json_answer(status, Json{{"error", {{"code", code}, {"message", message}}}});
  if (cause == FailureCause::Gateway) answer.head.fields.add("x-ms-failure-cause", "gateway");
  return answer;
}

arm::Response missing_resource(const Address& address) {
  return error_answer(
      404, "ResourceNotFound",
      fmt::format("The Resource '{}/{}' under resource group '{}' was not found. For more details please "
                  "go to https://aka.ms/ARMResourceNotFoundFix",
                  address.shown_type, address.name, address.group),
      FailureCause::Gateway);
}

arm::Response compute_412(std::string_view given, std::string_view current) {
  return error_answer(
      412, "PreconditionFailed",
      current.empty()
          ? fmt::format("Etag provided in if-match header {} does not match: no such resource.", given)
          : fmt::format("Etag provided in if-match header {} does not match etag {} of resource.", given, current));
}

arm::Response network_412(std::string_view given, std::string_view current, std::string_view id) {
  const std::string message =
      current.empty() ? fmt::format("Etag provided in if-match header {} but resource {} does not exist.", given, id)
                      : fmt::format(
                            "Etag provided in if-match header {} does not match etag {} of resource {} in NRP "
                            "data store.",
                            given, current, id);
  return json_answer(
      412, Json{{"error",
                 {{"code", "PreconditionFailed"},
                  {"message", "Precondition failed."},
                  {"details", Json::array({{{"code", "PreconditionFailedEtagMismatch"}, {"message", message}}})}}}});
}

}  // namespace armgate::sim
