#include "proxy/state/recent_creations.h"

#include "base/text.h"

namespace armgate {

Hash128 RecentCreations::key(std::string_view scope, std::string_view object_id) const {
  return hasher_.hash_fields(scope, lower_text(object_id));
}

void RecentCreations::add(const Hash128& key, TimePoint when) {
  MutexLock lock(&mutex_);
  if (TimePoint* known = since_.use(key)) {
    *known = when;
    return;
  }
  since_.make_room(options_.kept_max, [](const auto&, TimePoint) { return true; });
  since_.add(key, when);
}

std::optional<TimePoint> RecentCreations::find(const Hash128& key) const {
  MutexLock lock(&mutex_);
  const TimePoint* known = since_.find(key);
  return known == nullptr ? std::nullopt : std::optional(*known);
}

void RecentCreations::principal(std::string_view object_id, TimePoint when) { add(key({}, object_id), when); }

void RecentCreations::role(std::string_view scope, std::string_view object_id, TimePoint when) {
  add(key(scope, object_id), when);
}

std::optional<TimePoint> RecentCreations::principal_since(std::string_view object_id) const { return find(key({}, object_id)); }

std::optional<TimePoint> RecentCreations::role_since(std::string_view scope, std::string_view object_id) const {
  return find(key(scope, object_id));
}

}  // namespace armgate
