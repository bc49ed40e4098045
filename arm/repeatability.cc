#include "arm/repeatability.h"

#include <fmt/format.h>

#include "base/http_date.h"

namespace armgate::arm {
namespace {

constexpr const char* kRequestId = "Repeatability-Request-ID";
constexpr const char* kClientId = "Repeatability-Client-ID";
constexpr const char* kFirstSent = "Repeatability-First-Sent";
constexpr size_t kIdMax = 128;

Error fault(std::string what) { return gateway_error(ErrorKind::BadInput, std::move(what)); }

}  // namespace

Result<std::optional<Repeatability>> repeatability_of(const Headers& fields) {
  const auto id = fields.find(kRequestId);
  const auto first_sent = fields.find(kFirstSent);
  if (!id && !first_sent) return std::optional<Repeatability>();
  if (!id) return fault(fmt::format("{} is there without {}; send both, or neither", kFirstSent, kRequestId));
  if (!first_sent) return fault(fmt::format("{} is there without {}; send both, or neither", kRequestId, kFirstSent));
  for (const char* name : {kRequestId, kClientId, kFirstSent}) {
    if (fields.count(name) > 1) return fault(fmt::format("{} is there more than once; send it once", name));
  }
  const std::string_view client = fields.get(kClientId);
  if (id->empty() || id->size() > kIdMax || client.size() > kIdMax) {
    return fault(
        fmt::format("{} is empty, or it or {} has more than {} bytes; a GUID is usual", kRequestId, kClientId, kIdMax));
  }
  const auto when = parse_http_date(*first_sent);
  if (!when) return fault(fmt::format("{} is no HTTP date; write it as \"Tue, 24 Nov 2026 03:00:00 GMT\"", kFirstSent));
  return std::optional(Repeatability{std::string(*id), std::string(client), WallTime(*when)});
}

}  // namespace armgate::arm
