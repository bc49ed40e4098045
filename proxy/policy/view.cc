#include "proxy/policy/view.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/mutant.h"

namespace armgate::policy {
namespace {

bool earlier(const Delivery& a, const Delivery& b) { return a.at.order < b.at.order; }

// The oldest go several at once: to move all the others up for each new one costs more than the rest of remembering it. One that
// went does not come back by a list page that is read later.
void insert_in_order(std::vector<Delivery>& deliveries, Delivery delivery) {
  if (deliveries.size() >= View::kDeliveriesMax && earlier(delivery, deliveries.front())) return;
  deliveries.insert(std::upper_bound(deliveries.begin(), deliveries.end(), delivery, earlier), std::move(delivery));
  if (deliveries.size() < View::kDeliveriesMax + View::kDeliveriesSlack) return;
  deliveries.erase(deliveries.begin(), deliveries.end() - View::kDeliveriesMax);
}

uint64_t newest_order(const Version& version) { return version.deliveries.empty() ? 0 : version.deliveries.back().at.order; }

void remember_older(Version& version, std::string etag) {
  if (etag.empty()) return;
  version.older_etags.push_back(std::move(etag));
  if (version.older_etags.size() > View::kDeliveriesMax) version.older_etags.erase(version.older_etags.begin());
}

// Without a body it shows nothing that is worth forgetting another for.
void take_rendering(std::vector<Rendering>& all, Rendering one, bool newest) {
  const auto same = std::find_if(all.begin(), all.end(), [&](const Rendering& r) { return r.api_version == one.api_version; });
  if (same == all.end()) {
    if (!one.body && (one.api_version.empty() || !all.empty())) return;
    all.insert(newest ? all.begin() : all.end(), std::move(one));
    if (all.size() > View::kRenderingsMax) all.pop_back();
    return;
  }
  if (!newest || (!one.body && same->body)) return;
  *same = std::move(one);
  std::rotate(all.begin(), same, std::next(same));
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

uint32_t shape_of(std::string_view api_version) {
  return api_version.empty() ? kAnyShape : static_cast<uint32_t>(std::hash<std::string_view>{}(api_version)) | 1u;
}

const Rendering* Version::rendered_at(std::string_view api_version) const {
  const auto it =
      std::find_if(renderings.begin(), renderings.end(), [&](const Rendering& r) { return r.api_version == api_version; });
  return it == renderings.end() ? nullptr : &*it;
}

const Rendering& Version::rendering_for(std::string_view api_version) const {
  static const Rendering none;
  const Rendering* own = rendered_at(api_version);
  if (own != nullptr) return *own;
  return renderings.empty() ? none : renderings.front();
}

bool Version::has_etag(std::string_view wanted) const {
  return !wanted.empty() && (etag == wanted || std::find(older_etags.begin(), older_etags.end(), wanted) != older_etags.end());
}

Version* View::find_etag(std::string_view etag) {
  const auto it = std::find_if(versions_.begin(), versions_.end(), [&](const Version& v) { return v.has_etag(etag); });
  return it == versions_.end() ? nullptr : &*it;
}

Version* View::find(uint64_t id) {
  const auto it = std::find_if(versions_.begin(), versions_.end(), [&](const Version& v) { return v.id == id; });
  return it == versions_.end() ? nullptr : &*it;
}

const Version* View::delivered_at(uint64_t order) const {
  const auto has_it = [order](const Version& version) {
    return std::any_of(version.deliveries.begin(), version.deliveries.end(),
                       [order](const Delivery& d) { return d.at.order == order; });
  };
  const auto it = std::find_if(versions_.begin(), versions_.end(), has_it);
  return it == versions_.end() ? nullptr : &*it;
}

uint64_t View::record(Observation observation, std::optional<uint64_t> same_as) {
  if (observation.delivery.kind == DeliveryKind::ListItem) {
    if (const Version* taken = delivered_at(observation.delivery.at.order)) return taken->id;
  }
  Version* version = same_as ? find(*same_as) : nullptr;
  if (version == nullptr) version = find_etag(observation.etag);
  if (version == nullptr) {
    if (versions_.size() == kVersionsMax) {
      versions_.erase(std::min_element(versions_.begin(), versions_.end(),
                                       [](const Version& a, const Version& b) { return newest_order(a) < newest_order(b); }));
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
  observation.delivery.shape = shape_of(observation.api_version);
  take_rendering(version->renderings,
                 {std::move(observation.api_version), std::move(observation.target), std::move(observation.body)}, newest);
  insert_in_order(version->deliveries, std::move(observation.delivery));
  return version->id;
}

void View::record_not_modified(std::string_view etag, std::string_view api_version, Delivery delivery) {
  const Version* version = find_etag(etag);
  if (version == nullptr) return;
  Observation observation;
  observation.etag = std::string(etag);
  observation.api_version = std::string(api_version);
  if (const Rendering* known = version->rendered_at(api_version)) {
    observation.body = known->body;
    observation.target = known->target;
  }
  observation.delivery = std::move(delivery);
  record(std::move(observation), version->id);
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
    auto& deliveries = version.deliveries;
    for (auto it = deliveries.rbegin(); it != deliveries.rend() && it->at.order >= order; ++it) {
      if (it->at.order == order) it->confirmation = Confirmation::Confirmed;
    }
  }
}

void View::consume(uint64_t id, const Builder& write) {
  Version* version = find(id);
  if (version == nullptr) return;
  Delivery* chosen = nullptr;
  const uint32_t own_shape = shape_of(write.api_version);
  for (auto& delivery : version->deliveries) {
    if (delivery.consumed || delivery.at.order > write.arrived.order) continue;
    if (!write.request_id.empty() && delivery.request_id == write.request_id) {
      chosen = &delivery;
      break;
    }
    const bool better = chosen == nullptr || (delivery.shape == own_shape && chosen->shape != own_shape);
    if (better) chosen = &delivery;
  }
  if (chosen != nullptr) chosen->consumed = true;
}

void View::refuse(uint64_t id) {
  Version* version = find(id);
  if (version != nullptr && (!version->absent || is_mutant(Mutant::AbsenceRefusedForAll))) version->refused = true;
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
  bool any_gone = false;
  for (auto& version : versions_) {
    auto& deliveries = version.deliveries;
    const auto kept =
        std::find_if(deliveries.begin(), deliveries.end(), [&](const Delivery& d) { return d.at.time >= oldest; });
    deliveries.erase(deliveries.begin(), kept);
    any_gone |= deliveries.empty();
  }
  if (any_gone) std::erase_if(versions_, [](const Version& v) { return v.deliveries.empty(); });
}

size_t View::drop_bodies() {
  const size_t freed = body_bytes();
  for (auto& version : versions_) {
    for (auto& rendering : version.renderings) rendering.body.reset();
  }
  return freed;
}

size_t View::body_bytes() const {
  size_t total = 0;
  for (const auto& version : versions_) {
    for (const auto& rendering : version.renderings) total += rendering.body ? rendering.body->bytes.size() : 0;
  }
  return total;
}

bool is_live(const View& view, const Version& version, const Liveness& liveness) {
  return !version.refused && is_recent(view, version, liveness);
}

bool is_recent(const View& view, const Version& version, const Liveness& liveness) {
  // The newest first: the oldest are used up first.
  const bool has_delivery = std::any_of(version.deliveries.rbegin(), version.deliveries.rend(), [&](const Delivery& d) {
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
