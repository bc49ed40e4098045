// The input is a header block of an answer, an empty line, and its body.
#include <algorithm>

#include "arm/long_running.h"
#include "arm/throttle.h"
#include "arm/url.h"
#include "base/check.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {
namespace {

arm::ResponseHead head_of(std::string_view text, int status) {
  arm::ResponseHead head;
  head.status = status;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos) head.fields.add(line.substr(0, colon), line.substr(colon + 1));
  }
  return head;
}

}  // namespace

void fuzz_one(std::string_view input) {
  const size_t cut = input.find("\n\n");
  const std::string_view body = cut == std::string_view::npos ? std::string_view() : input.substr(cut + 2);
  for (const int status : {200, 201, 202, 204, 404, 429, 500}) {
    const auto head = head_of(input.substr(0, cut), status);
    for (const auto method : {arm::Method::Put, arm::Method::Patch, arm::Method::Delete, arm::Method::Post}) {
      const auto tracking = arm::tracking_of(method, head, body);
      const bool by_url = tracking.by == arm::TrackedBy::LocationUrl;
      GATE_CHECK(!by_url || arm::parse_url(tracking.location_url), "what is tracked by a URL has one");
    }
    (void)arm::progress_of_status_url(head, body);
    (void)arm::progress_of_location_url(head, body);
    (void)arm::progress_of_resource(head, body);
    const auto wait = arm::retry_after(head.fields, WallTime{});
    GATE_CHECK(!wait || *wait >= Duration{}, "nobody waits a negative time");
  }
}

}  // namespace armgate::fuzz
