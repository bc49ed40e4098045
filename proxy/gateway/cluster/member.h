// member.h – this process as one replica of a cluster: its engine, its replica, and what that needs of the shared tables.
//
// Threads   the owner's, before the event loops run and after they ended; the rest is the engine's own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "proxy/config/config.h"
#include "proxy/request/parts.h"
#include "proxy/seams/real_clock.h"
#include "proxy/state/memory_store.h"

namespace armgate {

class Log;
class RulesOfOthers;
struct ClusterView;
namespace cluster {
class Engine;
}  // namespace cluster

class ClusterMember {
 public:
  // BadInput as cluster::Engine::join. `log` and `clock` must outlive it.
  static Result<std::unique_ptr<ClusterMember>> join(const Config& config, Log& log, RealClock& clock,
                                                     MemoryStore::Options history);

  ~ClusterMember();

  HashKey hash_key() const;
  cluster::Replica& replica() { return *replica_; }
  bool is_apart() const;
  ClusterView view() const;

  std::unique_ptr<Store> store(const Config& config);
  // What people may ask about the writes of all replicas.
  const MemoryStore& history() const { return history_; }

  // Reads what the others told. From then on what changes the tables goes through the log. `parts`: of the loop that follows
  // what dead replicas began.
  Result<void> start(Parts& parts);
  // The last of it is told, and that this replica ends by itself.
  void leave();
  // Before the tables die.
  void end();
  // Configured so from now on: the other replicas are told, and compare. Any thread.
  void set_configured(const Config& config);
  // Called, on any thread, a moment before the process ends because the others took it for dead.
  void on_lapse(std::function<void()> told);

 private:
  struct Lapse;
  ClusterMember(RealClock& clock, MemoryStore::Options history);
  RealClock& clock_;
  MemoryStore history_;
  std::unique_ptr<cluster::Replica> replica_;
  std::unique_ptr<cluster::Engine> engine_;
  std::shared_ptr<Lapse> lapse_;
  std::function<void(const std::string& text)> alert_;
  std::unique_ptr<RulesOfOthers> rules_;
  std::string root_;  // of the authority
};

// What the tables are to be like; `member` may be null.
SharedState::Options shared_options(const Config& config, ClusterMember* member);

}  // namespace armgate
