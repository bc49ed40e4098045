#include "arm/owned_url.h"

#include "base/text.h"

namespace armgate::arm {
namespace {

constexpr std::string_view kType = "/armgate-operations/";
constexpr std::string_view kResult = "/result";
constexpr std::string_view kProviders = "/providers/";
constexpr size_t kIdDigits = 32;

// "/subscriptions/S", or nothing for what is in none.
std::string_view subscription_in(std::string_view path) {
  constexpr std::string_view kStart = "/subscriptions/";
  if (!starts_with_ignoring_case(path, kStart)) return {};
  return path.substr(0, path.find('/', kStart.size()));
}

// The namespace of the provider of the resource itself, which is the last one that its id names; of a resource group ARM's own.
std::string_view namespace_in(std::string_view path) {
  const size_t at = lower_text(path).rfind(kProviders);
  if (at == std::string_view::npos) return "Microsoft.Resources";
  const size_t begin = at + kProviders.size();
  return path.substr(begin, path.find('/', begin) - begin);
}

}  // namespace

std::string owned_url(std::string_view host, std::string_view target, const OwnedUrl& url) {
  const std::string_view path = path_of(target);
  std::string text = "https://";
  text.append(host).append(subscription_in(path)).append(kProviders).append(namespace_in(path));
  text.append(kType).append(url.id.hex());
  if (url.form == OperationUrl::Location) text.append(kResult);
  if (const auto version = query_parameter(target, "api-version")) text.append("?api-version=").append(*version);
  return text;
}

std::optional<OwnedUrl> owned_url_in(std::string_view target) {
  const std::string_view path = path_of(target);
  const size_t at = path.rfind(kType);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = path.substr(at + kType.size());
  const std::string_view after = rest.size() > kIdDigits ? rest.substr(kIdDigits) : std::string_view();
  const auto id = Hash128::from_hex(rest.substr(0, kIdDigits));
  if (!id || (!after.empty() && after != kResult)) return std::nullopt;
  return OwnedUrl{*id, after.empty() ? OperationUrl::Status : OperationUrl::Location};
}

void replace_operation_urls(Headers& fields, std::string_view status, std::string_view location) {
  for (const char* name : {"Azure-AsyncOperation", "Operation-Location"}) {
    if (fields.has(name)) fields.set(name, status);
  }
  if (fields.has("Location") && !location.empty()) fields.set("Location", location);
}

}  // namespace armgate::arm
