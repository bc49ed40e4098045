#include "proxy/state/newcomers.h"

#include "base/text.h"

namespace armgate {

Hash128 Newcomers::key(std::string_view scope, std::string_view object_id) const {
  return hasher_.hash_fields(scope, lower_text(object_id));
}

void Newcomers::add(const Hash128& key, TimePoint when) {
  MutexLock lock(&mutex_);
  if (TimePoint* known = since_.use(key)) {
    *known = when;
    return;
  }
  since_.make_room(options_.kept_max, [](const auto&, TimePoint) { return true; });
  since_.add(key, when);
}

std::optional<TimePoint> Newcomers::find(const Hash128& key) const {
  MutexLock lock(&mutex_);
  const TimePoint* known = since_.find(key);
  return known == nullptr ? std::nullopt : std::optional(*known);
}

void Newcomers::principal(std::string_view object_id, TimePoint when) { add(key({}, object_id), when); }

void Newcomers::role(std::string_view scope, std::string_view object_id, TimePoint when) { add(key(scope, object_id), when); }

std::optional<TimePoint> Newcomers::principal_since(std::string_view object_id) const { return find(key({}, object_id)); }

std::optional<TimePoint> Newcomers::role_since(std::string_view scope, std::string_view object_id) const {
  return find(key(scope, object_id));
}

}  // namespace armgate
