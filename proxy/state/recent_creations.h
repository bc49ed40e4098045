// recent_creations.h – principals and role assignments that armgate saw come into being (docs/design.md,
// "Propagation").
//
// Why: what Entra and ARM have just taken is not known everywhere at once, and the answer to that looks like one to a mistake
// (400 PrincipalNotFound, 403 AuthorizationFailed). Only who saw it come into being may wait for it.
//
// Invariants  forgetting only means that an error is passed on at once.
// Threads     any; one short mutex.
// Limits      Options; the oldest are forgotten first.
#pragma once

#include <optional>
#include <string_view>

#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/mutex.h"
#include "proxy/state/aged_map.h"

namespace armgate {

class RecentCreations {
 public:
  struct Options {
    size_t kept_max = 10'000;
  };
  RecentCreations(Options options, Hasher hasher) : options_(options), hasher_(hasher) {}

  // ARM said that this principal (its object id) belongs to something that was written.
  void principal(std::string_view object_id, TimePoint when);
  // ARM took a role assignment for the principal at the scope (a canonical id).
  void role(std::string_view scope, std::string_view object_id, TimePoint when);

  std::optional<TimePoint> principal_since(std::string_view object_id) const;
  std::optional<TimePoint> role_since(std::string_view scope, std::string_view object_id) const;

 private:
  Hash128 key(std::string_view scope, std::string_view object_id) const;
  void add(const Hash128& key, TimePoint when);
  std::optional<TimePoint> find(const Hash128& key) const;

  const Options options_;
  const Hasher hasher_;
  mutable Mutex mutex_;
  AgedMap<Hash128, TimePoint> since_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armgate
