#include "proxy/state/operation/remote_operations.h"

#include "arm/url.h"

namespace armgate {

void RemoteOperations::add_url(IntentId intent, const std::string& text, arm::TrackedBy by) {
  const auto url = arm::parse_url(text);
  if (!url) return;
  const Hash128 place = hasher_.hash_fields(url->host, url->target);
  At& at = by_url_[place];
  if (at.intent == intent) return;  // its status URL is its location, too
  at = {by, intent};
  urls_[intent].push_back(place);
}

void RemoteOperations::add(IntentId intent, const arm::Tracking& tracking) {
  MutexLock lock(&mutex_);
  add_url(intent, tracking.status_url, arm::TrackedBy::StatusUrl);
  add_url(intent, tracking.location_url, arm::TrackedBy::LocationUrl);
  count_.store(urls_.size(), std::memory_order_relaxed);
}

void RemoteOperations::remove(IntentId intent) {
  if (count_.load(std::memory_order_relaxed) == 0) return;
  MutexLock lock(&mutex_);
  const auto found = urls_.find(intent);
  if (found == urls_.end()) return;
  for (const Hash128& place : found->second) {
    const auto at = by_url_.find(place);
    if (at != by_url_.end() && at->second.intent == intent) by_url_.erase(at);
  }
  urls_.erase(found);
  count_.store(urls_.size(), std::memory_order_relaxed);
}

bool RemoteOperations::runs(IntentId intent) const {
  if (count_.load(std::memory_order_relaxed) == 0) return false;
  MutexLock lock(&mutex_);
  return urls_.contains(intent);
}

arm::TrackedBy RemoteOperations::find(std::string_view host, std::string_view target) const {
  if (count_.load(std::memory_order_relaxed) == 0) return arm::TrackedBy::Nothing;
  MutexLock lock(&mutex_);
  const auto found = by_url_.find(hasher_.hash_fields(host, target));
  return found == by_url_.end() ? arm::TrackedBy::Nothing : found->second.by;
}

}  // namespace armgate
