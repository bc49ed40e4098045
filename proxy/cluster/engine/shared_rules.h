// shared_rules.h – the rules of all replicas, told and learned at the cluster's engine.
//
// Why: replicas whose rules differ (a rollout) would lock different things, and what one of them protects the other would
// neither look at nor record. So each goes by the rules of all of them (proxy/state/rules_in_force.h).
//
// Threads   the engine's own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "proxy/cluster/engine/pg.h"
#include "proxy/cluster/engine/seal.h"
#include "proxy/cluster/event.h"

namespace armgate::cluster {

// This replica's side.
class RulesToShare {
 public:
  struct Own {
    Hash128 hash;
    std::string document;
  };
  virtual ~RulesToShare() = default;
  virtual std::vector<Own> own() = 0;  // that it goes by, the current ones first
  virtual bool knows(const Hash128& hash) const = 0;
  virtual void learn(const Hash128& hash, std::optional<std::string> document) = 0;  // nothing: it cannot be had
  // Those were told, and the others go by these.
  virtual void use(const Hash128& told, const std::vector<Hash128>& others) = 0;
};

// Tells, then learns: of two replicas that do so at the same time at least one learns of the other. Rules count of replicas
// that are not known to have ended, and of those whose writes keep keys still.
Result<void> share_rules(PgConnection& connection, const ClusterKey& key, ReplicaId id, const std::vector<ReplicaId>& keep_keys,
                         RulesToShare& rules);
// Forgets what no replica goes by any more.
Result<void> forget_rules(PgConnection& connection);

}  // namespace armgate::cluster
