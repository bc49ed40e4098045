#include "cli/doctor/ask_through.h"

#include "arm/arm_error.h"

namespace armgate {
namespace {

// ARM tells it to anybody: tools find out about a cloud by it (learn.microsoft.com, "az cloud register
// --endpoint-resource-manager").
constexpr std::string_view kTarget = "/metadata/endpoints?api-version=2022-09-01";

}  // namespace

Result<ProxiedAnswer> ask_through(const ProxiedQuestion& question) {
  arm::Request request;
  request.head.method = arm::Method::Get;
  request.head.method_token = "GET";
  request.head.target = kTarget;
  request.head.host = question.host;
  request.head.fields.add("User-Agent", "armgate-doctor");
  const auto answer = send_through(question.through, request);
  if (!answer) return answer.error();
  ProxiedAnswer told{answer->head.status, std::string(answer->head.fields.get("Date")), {}, {}};
  if (told.status < 400) return told;
  if (const auto error = arm::parse_error(answer->body)) {
    told.code = error->code;
    told.message = error->message;
  }
  return told;
}

}  // namespace armgate
