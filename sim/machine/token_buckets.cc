#include "sim/machine/token_buckets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "sim/answers.h"

namespace armgate::sim {
namespace {

std::string_view kind_of(arm::Method method) {
  if (method == arm::Method::Get || method == arm::Method::Head) return "reads";
  return method == arm::Method::Delete ? "deletes" : "writes";
}

const Bucket& bucket_of(const SimOptions& options, arm::Method method) {
  const std::string_view kind = kind_of(method);
  return kind == "reads" ? options.reads : kind == "writes" ? options.writes : options.deletes;
}

// Clients that show the same token are the same principal.
std::string key_of(const arm::RequestHead& head, std::string_view subscription) {
  return fmt::format("{} {} {}", kind_of(head.method), lower_text(subscription), head.fields.get("Authorization"));
}

}  // namespace

std::optional<arm::Response> TokenBuckets::take(const arm::RequestHead& head, std::string_view subscription, TimePoint now) {
  const Bucket& bucket = bucket_of(options_, head.method);
  if (bucket.size <= 0 || !head.fields.has("Authorization")) return std::nullopt;
  Kept& kept = kept_.try_emplace(key_of(head, subscription), Kept{bucket.size, now}).first->second;
  kept.left = std::min(bucket.size, kept.left + bucket.each_second * std::chrono::duration<double>(now - kept.at).count());
  kept.at = now;
  if (kept.left >= 1) {
    kept.left -= 1;
    return std::nullopt;
  }
  arm::Response refused = error_answer(
      429, "SubscriptionRequestsThrottled",
      fmt::format("Number of {} requests for subscription '{}' exceeded the limit.", kind_of(head.method), subscription),
      FailureCause::Gateway);
  const double wait = bucket.each_second > 0 ? (1 - kept.left) / bucket.each_second : 60;
  refused.head.fields.add("Retry-After", std::to_string(static_cast<int>(std::ceil(std::max(wait, 1.0)))));
  return refused;
}

bool TokenBuckets::show_remaining(const arm::RequestHead& head, std::string_view subscription, arm::Headers& fields) const {
  const auto kept = kept_.find(key_of(head, subscription));
  if (kept == kept_.end()) return false;
  fields.add(fmt::format("x-ms-ratelimit-remaining-subscription-{}", kind_of(head.method)),
             std::to_string(static_cast<int>(kept->second.left)));
  return true;
}

}  // namespace armgate::sim
