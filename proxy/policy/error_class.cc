#include "proxy/policy/error_class.h"

#include <array>
#include <utility>

#include "arm/throttle.h"
#include "arm/url.h"
#include "base/text.h"

namespace armgate::policy {
namespace {

// 409: Compute and others (bosh-azure-cpi #761, microsoft/lisa #4623) and Network (Azure's common-deployment-errors). Both
// say that nothing was done.
constexpr std::array<std::string_view, 2> kBusyCodes{"ConflictingConcurrentWriteNotAllowed", "AnotherOperationInProgress"};

// Network names the operation in its message: "... To retrieve status of the operation use uri: https://...?api-version=...".
std::string url_in(std::string_view message) {
  const size_t start = message.find("https://");
  if (start == std::string_view::npos) return {};
  std::string_view url = message.substr(start);
  url = url.substr(0, url.find_first_of(" \t\r\n\"'<>"));
  while (!url.empty() && (url.back() == '.' || url.back() == ',')) url.remove_suffix(1);
  return arm::parse_url(url) ? std::string(url) : std::string();
}

bool is_busy(const arm::ArmError& error) {
  for (const auto code : kBusyCodes) {
    if (error.has_code(code)) return true;
  }
  return false;
}

// ARM marks the 404s that it makes itself (observed: x-ms-failure-cause: gateway); a provider's own NotFound is final.
bool arm_made(const arm::ResponseHead& head) {
  const auto cause = head.fields.find("x-ms-failure-cause");
  return !cause || equal_ignoring_case(*cause, "gateway");
}

}  // namespace

ErrorFacts classify_error(const arm::ResponseHead& head, std::string_view body, WallTime now) {
  ErrorFacts facts;
  if (head.status < 400) return facts;
  const auto error = arm::parse_error(body);
  if (error) facts.code = error->code;
  if (head.status == 412) {
    facts.kind = ErrorClass::Stale;
    return facts;
  }
  if (!error) return facts;
  if (head.status == 409 && is_busy(*error)) facts.kind = ErrorClass::Busy;
  if (head.status == 404 && error->has_code("ResourceGroupNotFound") && arm_made(head)) {
    facts.kind = ErrorClass::GroupNotFound;
  }
  if (facts.kind != ErrorClass::None) {
    facts.come_back = arm::retry_after(head.fields, now);
    if (!facts.come_back) facts.come_back = arm::retry_hint_in_message(error->message);
    facts.operation_url = url_in(error->message);
  }
  return facts;
}

}  // namespace armgate::policy
