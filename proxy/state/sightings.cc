#include "proxy/state/sightings.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace armgate {

void Sightings::add(const Hash128& resource, Sighting sighting) {
  MutexLock lock(&mutex_);
  auto found = entries_.find(resource);
  if (found == entries_.end()) {
    if (entries_.size() >= std::max<size_t>(1, options_.resources_max)) {
      entries_.erase(by_age_.front());
      by_age_.pop_front();
    }
    found = entries_.emplace(resource, Entry{}).first;
    found->second.age = by_age_.insert(by_age_.end(), resource);
  } else {
    by_age_.splice(by_age_.end(), by_age_, found->second.age);
  }
  const bool written = sighting.how == Sighting::How::Written;
  auto& kept = written ? found->second.writes : found->second.reads;
  if (!written) std::erase_if(kept, [&](const Sighting& s) { return s.client == sighting.client; });
  kept.push_back(std::move(sighting));
  if (kept.size() > (written ? options_.writes_kept : options_.readers_kept)) kept.erase(kept.begin());
}

std::vector<Sighting> Sightings::after(const Hash128& resource, uint64_t since) const {
  MutexLock lock(&mutex_);
  std::vector<Sighting> newer;
  const auto found = entries_.find(resource);
  if (found == entries_.end()) return newer;
  const auto is_newer = [&](const Sighting& s) { return s.since > since; };
  std::copy_if(found->second.writes.begin(), found->second.writes.end(), std::back_inserter(newer), is_newer);
  std::copy_if(found->second.reads.begin(), found->second.reads.end(), std::back_inserter(newer), is_newer);
  std::sort(newer.begin(), newer.end(), [](const Sighting& a, const Sighting& b) { return a.since > b.since; });
  return newer;
}

size_t Sightings::size() const {
  MutexLock lock(&mutex_);
  return entries_.size();
}

}  // namespace armgate
