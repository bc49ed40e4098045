#include "sim/answers.h"

#include <fmt/format.h>

#include "json/tree.h"
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
  return error_answer(404, "ResourceNotFound",
                      fmt::format("The Resource '{}/{}' under resource group '{}' was not found. For more details please "
                                  "go to https://aka.ms/ARMResourceNotFoundFix",
                                  address.shown_type, address.name, address.group),
                      FailureCause::Gateway);
}

arm::Response missing_group(std::string_view name) {
  return error_answer(404, "ResourceGroupNotFound", fmt::format("Resource group '{}' could not be found.", name),
                      FailureCause::Gateway);
}

arm::Response missing_parent(std::string_view method, std::string_view parent_type, std::string_view child_type,
                             std::string_view parent_id) {
  return error_answer(
      404, "ParentResourceNotFound",
      fmt::format("Failed to perform '{}' on resource(s) of type '{}/{}', because the parent resource '{}' could not be "
                  "found.",
                  method, parent_type, child_type, parent_id),
      FailureCause::Gateway);
}

void say_retry_after(Duration delay, arm::Headers& fields) {
  if (delay > Duration{}) fields.add("Retry-After", std::to_string(whole_milliseconds(delay) / 1000));
}

arm::Response compute_412(std::string_view given, std::string_view current) {
  return error_answer(
      412, "PreconditionFailed",
      current.empty() ? fmt::format("Etag provided in if-match header {} does not match: no such resource.", given)
                      : fmt::format("Etag provided in if-match header {} does not match etag {} of resource.", given, current));
}

arm::Response cluster_412(std::string_view given, std::string_view current) {
  return error_answer(412, "PreconditionFailed",
                      current.empty()
                          ? std::string("Resource not found but ETag header is provided. If you want to create a resource, "
                                        "please do not provide ETag.")
                          : fmt::format("Etag mismatched: given {}, current {}.", given, current));
}

arm::Response network_412(std::string_view given, std::string_view current, std::string_view id) {
  const std::string message =
      current.empty() ? fmt::format("Etag provided in if-match header {} but resource {} does not exist.", given, id)
                      : fmt::format(
                            "Etag provided in if-match header {} does not match etag {} of resource {} in NRP "
                            "data store.",
                            given, current, id);
  return json_answer(412,
                     Json{{"error",
                           {{"code", "PreconditionFailed"},
                            {"message", "Precondition failed."},
                            {"details", Json::array({{{"code", "PreconditionFailedEtagMismatch"}, {"message", message}}})}}}});
}

}  // namespace armgate::sim
