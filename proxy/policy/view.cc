#include "proxy/policy/view.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/mutant.h"

namespace armgate::policy {
namespace {

bool earlier(const Delivery& a, const Delivery& b) { return a.at.order < b.at.order; }

void insert_in_order(std::vector<Delivery>& deliveries, Delivery delivery) {
  deliveries.insert(std::upper_bound(deliveries.begin(), deliveries.end(), delivery, earlier), std::move(delivery));
  if (deliveries.size() > View::kDeliveriesMax) deliveries.erase(deliveries.begin());
}

uint64_t newest_order(const Version& version) {
  return version.deliveries.empty() ? 0 : version.deliveries.back().at.order;
}

void remember_older(Version& version, std::string etag) {
  if (etag.empty()) return;
  version.older_etags.push_back(std::move(etag));
  if (version.older_etags.size() > View::kDeliveriesMax) version.older_etags.erase(version.older_etags.begin());
}

// One more ETag of the version's content. One that was known as older comes from a replica that lags.
void take_etag(Version& version, std::string etag, bool newest) {
  if (version.has_etag(etag)) return;
  if (!newest && !version.etag.empty()) {
    remember_older(version, std::move(etag));
    return;
  }
  remember_older(version, std::exchange(version.etag, std::move(etag)));
  // A refused ETag says nothing about the same content under a new one.
  if (newest) version.refused = false;
}

}  // namespace

bool Version::has_etag(std::string_view wanted) const {
  return !wanted.empty() &&
         (etag == wanted || std::find(older_etags.begin(), older_etags.end(), wanted) != older_etags.end());
}

Version* View::find_etag(std::string_view etag) {
  const auto it = std::find_if(versions_.begin(), versions_.end(), [&](const Version& v) { return v.has_etag(etag); });
  return it == versions_.end() ? nullptr : &*it;
}

Version* View::find(uint64_t id) {
  const auto it = std::find_if(versions_.begin(), versions_.end(), [&](const Version& v) { return v.id == id; });
  return it == versions_.end() ? nullptr : &*it;
}

uint64_t View::record(Observation observation, std::optional<uint64_t> same_as) {
  Version* version = same_as ? find(*same_as) : nullptr;
  if (version == nullptr) version = find_etag(observation.etag);
  if (version == nullptr) {
    if (versions_.size() == kVersionsMax) {
      versions_.erase(std::min_element(versions_.begin(), versions_.end(), [](const Version& a, const Version& b) {
        return newest_order(a) < newest_order(b);
      }));
    }
    version = &versions_.emplace_back();
    version->id = next_id_++;
  }
  const bool newest = observation.delivery.at.order >= newest_order(*version);
  if (!observation.etag.empty()) {
    take_etag(*version, std::move(observation.etag), newest);
  } else if (newest && version->refused) {
    // The content is back, but not under the ETag that was refused for it: it is to be compared before it is built on.
    remember_older(*version, std::exchange(version->etag, {}));
    version->refused = false;
  }
  if (observation.follows != version->id && observation.follows != 0) version->follows = observation.follows;
  if (newest && (observation.body || !version->body)) {
    version->body = std::move(observation.body);
    version->target = std::move(observation.target);
    version->api_version = std::move(observation.api_version);
  }
  insert_in_order(version->deliveries, std::move(observation.delivery));
  return version->id;
}

uint64_t View::record_absent(Delivery delivery) {
  const auto it = std::find_if(versions_.begin(), versions_.end(), [](const Version& v) { return v.absent; });
  const auto same_as = it == versions_.end() ? std::nullopt : std::optional<uint64_t>(it->id);
  Observation observation;
  observation.delivery = std::move(delivery);
  const uint64_t id = record(std::move(observation), same_as);
  find(id)->absent = true;
  return id;
}

void View::confirm(uint64_t order) {
  for (auto& version : versions_) {
    for (auto& delivery : version.deliveries) {
      if (delivery.at.order == order) delivery.confirmation = Confirmation::Confirmed;
    }
  }
}

void View::consume(uint64_t id, std::string_view request_id, Moment before) {
  Version* version = find(id);
  if (version == nullptr) return;
  Delivery* chosen = nullptr;
  for (auto& delivery : version->deliveries) {
    if (delivery.consumed || delivery.at.order > before.order) continue;
    if (!request_id.empty() && delivery.request_id == request_id) {
      chosen = &delivery;
      break;
    }
    if (chosen == nullptr) chosen = &delivery;
  }
  if (chosen != nullptr) chosen->consumed = true;
}

void View::refuse(uint64_t id) {
  Version* version = find(id);
  if (version != nullptr && !version->absent) version->refused = true;
}

void View::bury(uint64_t order) {
  if (is_mutant(Mutant::DeletedEtagsCount)) return;
  for (auto& version : versions_) {
    if (version.absent || newest_order(version) > order) continue;
    version.etag.clear();
    version.older_etags.clear();
  }
}

void View::expire(TimePoint oldest) {
  for (auto& version : versions_) {
    std::erase_if(version.deliveries, [&](const Delivery& d) { return d.at.time < oldest; });
  }
  std::erase_if(versions_, [](const Version& v) { return v.deliveries.empty(); });
}

size_t View::drop_bodies() {
  const size_t freed = body_bytes();
  for (auto& version : versions_) version.body.reset();
  return freed;
}

size_t View::body_bytes() const {
  size_t total = 0;
  for (const auto& version : versions_) total += version.body ? version.body->bytes.size() : 0;
  return total;
}

bool is_live(const View& view, const Version& version, const Liveness& liveness) {
  return !version.refused && is_recent(view, version, liveness);
}

bool is_recent(const View& view, const Version& version, const Liveness& liveness) {
  const bool has_delivery = std::any_of(version.deliveries.begin(), version.deliveries.end(), [&](const Delivery& d) {
    return !d.consumed && (version.absent || d.known_since() > liveness.deleted_order);
  });
  if (!has_delivery) return false;
  const uint64_t newest = newest_order(version);
  for (const auto& other : view.versions()) {
    if (other.id == version.id) continue;
    for (const auto& delivery : other.deliveries) {
      const bool outlives = delivery.confirmation == Confirmation::Confirmed && delivery.at.order > newest &&
                            liveness.now - delivery.at.time > liveness.think_max;
      if (outlives) return false;
    }
  }
  return true;
}

}  // namespace armgate::policy
