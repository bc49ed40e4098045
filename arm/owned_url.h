// owned_url.h – operation URLs that are armgate's own (docs/decisions/0016): made, and known again. Pure.
//
//   https://HOST/subscriptions/S/providers/NAMESPACE/armgate-operations/ID?api-version=V         for Azure-AsyncOperation
//   https://HOST/subscriptions/S/providers/NAMESPACE/armgate-operations/ID/result?api-version=V  for Location
//
// Outside armgate nobody knows that type: ARM answers 404.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "arm/http.h"
#include "base/hash.h"

namespace armgate::arm {

// Which of an operation's URLs.
enum class OperationUrl { Status, Location };

struct OwnedUrl {
  Hash128 id{};
  OperationUrl form = OperationUrl::Status;
};

// The URL of the operation `id` of a write to `target` at `host`. `target` is a resource's, with or without a query.
std::string owned_url(std::string_view host, std::string_view target, const OwnedUrl& url);

// What a request's target names, if it looks like one of these.
std::optional<OwnedUrl> owned_url_in(std::string_view target);

// Replaces the operation URLs in a head: those that are there, each by that of its form. A Location that names no operation
// (`location` is empty) stays.
void replace_operation_urls(Headers& fields, std::string_view status, std::string_view location);

}  // namespace armgate::arm
