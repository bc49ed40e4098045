#include "arm/long_running.h"

#include "arm/body/content.h"
#include "arm/url.h"
#include "base/text.h"
#include "json/scan.h"

namespace armgate::arm {
namespace {

// The value of a header that is an absolute https URL; empty otherwise.
std::string url_in(const Headers& fields, std::string_view name) {
  const std::string_view value = trim(fields.get(name));
  return parse_url(value) ? std::string(value) : std::string();
}

bool is_tracked_method(Method method) {
  return method == Method::Put || method == Method::Patch || method == Method::Delete || method == Method::Post;
}

TrackedBy without_url(Method method) {
  switch (method) {
    case Method::Put:
    case Method::Patch: return TrackedBy::ResourceState;
    case Method::Delete: return TrackedBy::ResourceGone;
    default: return TrackedBy::Nothing;
  }
}

// An answer that says nothing about the operation itself: the reader was throttled, was not let in, or ARM was in
// trouble.
bool is_about_the_reading(int status) {
  return status == 401 || status == 403 || status == 408 || status == 429 || status >= 500 || status < 200;
}

bool is_missing(int status) { return status == 404 || status == 410; }

// Of a resource's state: words beside ARM's own for one that is at rest (Managed HSM: "Activated" for as long as it lives;
// IoT Hub: "Active").
Progress progress_of_state(std::string_view state) {
  static constexpr std::string_view kAtRest[] = {"Activated", "Active", "Ready"};
  for (const auto word : kAtRest) {
    if (equal_ignoring_case(word, state)) return Progress::Succeeded;
  }
  return progress_of_word(state);
}

}  // namespace

Tracking tracking_of(Method method, const ResponseHead& head, std::string_view body) {
  return tracking_of_state(method, head, provisioning_state(body));
}

Tracking tracking_of_state(Method method, const ResponseHead& head, const std::optional<std::string>& state) {
  Tracking tracking;
  if (!is_success(head.status) || !is_tracked_method(method)) return tracking;
  if (state) tracking.state = *state;

  const bool has_status_header =
      !head.fields.get("Azure-AsyncOperation").empty() || !head.fields.get("Operation-Location").empty();
  tracking.status_url = url_in(head.fields, "Azure-AsyncOperation");
  if (tracking.status_url.empty()) tracking.status_url = url_in(head.fields, "Operation-Location");

  const bool state_is_running = state && progress_of_state(*state) == Progress::Running;
  const bool running = has_status_header || head.status == 202 || state_is_running;
  if (!running) return tracking;

  tracking.location_url = url_in(head.fields, "Location");
  if (!tracking.status_url.empty()) {
    tracking.by = TrackedBy::StatusUrl;
  } else if (!tracking.location_url.empty()) {
    tracking.by = TrackedBy::LocationUrl;
  } else {
    tracking.by = without_url(method);
  }
  return tracking;
}

std::string_view to_text(Progress progress) {
  switch (progress) {
    case Progress::Succeeded: return "Succeeded";
    case Progress::Failed: return "Failed";
    case Progress::Canceled: return "Canceled";
    default: return "unknown";
  }
}

Progress progress_of_word(std::string_view state) {
  static constexpr struct {
    std::string_view word;
    Progress progress;
  } kTerminal[] = {
      {"Succeeded", Progress::Succeeded}, {"Completed", Progress::Succeeded}, {"Failed", Progress::Failed},
      {"Canceled", Progress::Canceled},   {"Cancelled", Progress::Canceled},
  };
  if (state.empty()) return Progress::Unknown;
  for (const auto& known : kTerminal) {
    if (equal_ignoring_case(known.word, state)) return known.progress;
  }
  return Progress::Running;
}

std::optional<std::string> provisioning_state(std::string_view json) {
  return scan_string_member(json, "provisioningState").in_properties;
}

Progress progress_of_status_url(const ResponseHead& head, std::string_view body) {
  if (is_missing(head.status)) return Progress::Missing;
  if (!is_success(head.status)) return Progress::Unknown;
  if (const auto status = scan_string_member(body, "status").own) return progress_of_word(*status);
  // Some providers answer with the resource itself instead of an operation.
  if (const auto state = provisioning_state(body)) return progress_of_state(*state);
  return head.status == 202 ? Progress::Running : Progress::Unknown;
}

Progress progress_of_location_url(const ResponseHead& head, std::string_view body) {
  if (is_missing(head.status)) return Progress::Missing;
  if (is_about_the_reading(head.status) || (head.status >= 300 && head.status < 400)) return Progress::Unknown;
  if (head.status >= 400) return Progress::Failed;
  if (head.status == 202) return Progress::Running;
  if (const auto status = scan_string_member(body, "status").own) {
    const Progress said = progress_of_word(*status);
    if (has_failed(said)) return said;
  }
  // Observed: a Location that is the resource's own URL; then its state decides.
  const auto state = provisioning_state(body);
  return state ? progress_of_state(*state) : Progress::Succeeded;
}

Progress progress_of_resource(const ResponseHead& head, std::string_view body) {
  if (is_missing(head.status)) return Progress::Missing;
  if (!is_success(head.status)) return Progress::Unknown;
  const ScannedMember found = scan_string_member(body, "provisioningState");
  if (!found.readable) return Progress::Unknown;  // observed: 200 with an empty body from a lagging region
  return found.in_properties ? progress_of_state(*found.in_properties) : Progress::Succeeded;
}

Progress progress_of_deleted_resource(const ResponseHead& head) {
  if (is_missing(head.status)) return Progress::Succeeded;
  return is_success(head.status) ? Progress::Running : Progress::Unknown;
}

std::string operation_id(const Tracking& tracking) {
  const auto url = parse_url(tracking.status_url.empty() ? tracking.location_url : tracking.status_url);
  if (!url) return {};
  std::string_view path = path_of(url->target);
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

}  // namespace armgate::arm
