#include "arm/etag.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "json/scan.h"

namespace armgate::arm {
namespace {

// Without what tells "1", W/"1" and 1 apart.
std::string_view opaque_tag(std::string_view etag) {
  etag = trim(etag);
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  const bool is_quoted = etag.size() >= 2 && etag.front() == '"' && etag.back() == '"';
  return is_quoted ? etag.substr(1, etag.size() - 2) : etag;
}

// Would match whatever is there, as it is written or as a service may read it.
bool matches_anything(std::string_view etag) { return opaque_tag(etag) == "*"; }

// An ETag from a body becomes a header value, so it must not end the line (RFC 9110 §5.5).
bool fits_in_a_header(std::string_view etag) {
  return !etag.empty() && std::all_of(etag.begin(), etag.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

bool is_precondition(const Field& field) {
  static constexpr std::array<std::string_view, 4> kEtagNames{"If-Match", "If-None-Match", "If-Modified-Since",
                                                              "If-Unmodified-Since"};
  return !trim(field.value).empty() && std::any_of(kEtagNames.begin(), kEtagNames.end(), [&](std::string_view name) {
    return equal_ignoring_case(field.name, name);
  });
}

std::optional<std::string> usable_etag(ScannedMember found) {
  for (auto* etag : {&found.own, &found.in_properties}) {
    if (!*etag || !fits_in_a_header(**etag)) continue;
    return matches_anything(**etag) ? std::nullopt : std::move(*etag);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> etag_in_body(std::string_view json) {
  static constexpr std::array<std::string_view, 1> kName{"etag"};
  if (!may_have_member(json, kName)) return std::nullopt;
  return usable_etag(scan_string_member(json, "etag"));
}

ResourceWords words_in_body(std::string_view json) {
  auto [etag, state] = scan_string_members(json, {"etag", "provisioningState"});
  return {usable_etag(std::move(etag)), std::move(state.in_properties)};
}

std::string_view etag_in_head(const Headers& fields) {
  const std::string_view etag = trim(fields.get("ETag"));
  return matches_anything(etag) ? std::string_view() : etag;
}

std::optional<std::string> etag_of(const ResponseHead& head, std::string_view json) {
  if (!is_success(head.status)) return std::nullopt;
  const std::string_view header = etag_in_head(head.fields);
  if (!header.empty()) return std::string(header);
  return etag_in_body(json);
}

bool is_same_etag(std::string_view a, std::string_view b) { return opaque_tag(a) == opaque_tag(b); }

bool has_own_precondition(const Headers& fields) { return std::any_of(fields.begin(), fields.end(), is_precondition); }

bool asks_for_any_state(const Headers& fields) {
  const bool has_star = trim(fields.get("If-Match")) == "*";
  return has_star && std::count_if(fields.begin(), fields.end(), is_precondition) == 1;
}

}  // namespace armgate::arm
