// engine.h – the log of a cluster in PostgreSQL, and the thread that writes and reads it for one replica.
//
// One thread with one connection appends all waiting events in one commit, as the journal's writer does. Others' rows come when
// the engine notifies, else within a second.
//
// A commit that waits for the standby may wait for long. Its connection is kept as long as the engine says that it waits: each
// one given up would leave a process of the engine waiting. Another one that can be written to takes its place at once, as at a
// failover.
//
// Several servers may take writes: an old primary does not know that another was promoted. So all of them are asked now and
// then, and the newest is the engine.
//
// Invariant  a replica that the others took for dead ends at once (`end`): what it goes on to do is done without its locks.
// Threads   open and close: the owner's. Everything else is the engine's own thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "proxy/cluster/engine/pg.h"
#include "proxy/cluster/engine/seal.h"
#include "proxy/cluster/health.h"
#include "proxy/cluster/replica.h"

namespace armgate::cluster {

struct Found;
class RulesToShare;

struct EngineOptions {
  std::string url;
  std::filesystem::path key_file;
  std::string name;                        // of this replica, for people
  std::string configured;                  // to_text(Configured)
  Duration keep = std::chrono::hours(13);  // how long rows stay
  Duration connect_max = std::chrono::seconds(5);
};

// A cluster as a replica finds it.
struct Joined {
  ReplicaId id = 0;
  Duration membership_lease{};
  HashKey hash_key{};
  Duration known_for{};  // since when nothing is missing in the log
};

class Engine {
 public:
  struct Calls {
    std::function<void(const std::string& message)> alert;
    std::function<void(const std::string& why)> end;  // of the process
  };

  // Registers this replica. BadInput: no such cluster, of another version, of another key; all else may pass by itself.
  static Result<std::unique_ptr<Engine>> join(EngineOptions options, Calls calls);
  ~Engine();
  const Joined& joined() const { return joined_; }

  // Reads the log into the replica, learns the others' rules, and from then on tells what the replica posts. Both must outlive
  // this.
  Result<void> start(Replica& replica, RulesToShare& rules);
  // Tells what waits, for a moment, and that this replica ends by itself. Called once.
  void close();

  Health health() const { return health_.get(); }

  // The replica is configured otherwise from now on, or has other rules: the others are told. Any thread.
  void set_configured(std::string configured);

 private:
  struct RowIdentity {
    uint64_t number = 0;
    EngineTime begun = 0;
    ReplicaId author = 0;
    uint64_t batch = 0;
  };
  static TimePoint now();
  void wake() const;
  Duration beat_every() const { return joined_.membership_lease / 10; }
  Engine(EngineOptions options, Calls calls, ClusterKey key, PgConnection connection);
  Result<std::vector<Row>> rows_of(const PgRows& rows) const;
  Result<void> apply(const PgRows& rows);
  Error unreadable(Error error) const;
  Result<bool> read_some(Duration silence);  // false: there is nothing more
  Result<void> read_all(Duration silence);
  Result<void> append(const std::optional<Replica::Batch>& batch);
  Result<void> learn_time();
  Result<PgConnection> open() const;
  Result<void> connect_again();
  Result<void> stay_alive(PgConnection& connection) const;
  Result<void> wait_on();
  Result<void> take(PgConnection connection);
  Result<void> set_up();
  Result<bool> has_what_was_applied();  // as the engine showed it
  Result<void> end_if_idle_for(Duration most);
  Result<void> check_hash_key(const Found& found) const;
  Result<void> look_again();
  void ask_servers();
  Result<void> heed_servers();
  Result<std::vector<std::string>> compare_configured();
  Result<void> share_rules();
  void note_found(const Found& found, const std::vector<std::string>& more);
  Result<void> do_round();
  Result<void> delete_old();
  Result<void> now_and_then();
  void fail(const Error& error);
  void sleep(Duration most);
  void run();

  const EngineOptions options_;
  const Calls calls_;
  const ClusterKey key_;
  Joined joined_;
  std::optional<PgConnection> connection_;
  Replica* replica_ = nullptr;
  RulesToShare* rules_ = nullptr;
  int wake_ = -1;                 // an eventfd
  std::optional<Primary> known_;  // the newest server that was seen to take writes
  std::future<std::vector<Primary>> asked_servers_;
  std::optional<std::string> rivals_;  // rivals_among()
  KeptHealth health_;
  std::atomic<bool> configured_changed_{false};
  std::atomic<bool> closing_{false};
  TimePoint next_beat_{};
  TimePoint next_delete_{};
  TimePoint next_look_{};
  TimePoint next_ask_{};
  int tries_ = 0;
  bool is_set_up_ = true;              // the connection: the first one is when the thread begins
  bool has_applied_ = false;           // a row of the log
  std::optional<RowIdentity> newest_;  // of those that were applied
  bool is_one_of_them_ = false;        // it has read the log and goes on
  std::thread thread_;
};

}  // namespace armgate::cluster
