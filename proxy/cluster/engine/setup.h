// setup.h – a cluster's tables: made, brought to this version, looked at.
// Threads   any; one connection each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "proxy/cluster/engine/pg.h"
#include "proxy/cluster/engine/seal.h"

namespace armgate::cluster {

// What there is.
struct Found {
  bool is_standby = false;
  bool commits_locally = false;  // synchronous_commit is off or local
  // Standbys that a commit waits for; nothing: this user is not told.
  std::optional<size_t> synchronous = 0;
  bool waits_for_standby = false;  // synchronous_standby_names is not empty
  std::optional<int> version;      // of the tables; nothing: there are none
  std::string fingerprint;
  std::string hash_key;  // sealed; empty: the key file's own
  Duration membership_lease{};
  Duration known_for{};
  struct Member {
    int64_t id = 0;
    std::string name;
    std::string program;
    std::string state;       // "alive", "silent", "left", "dead"
    int64_t seconds = 0;     // since it joined
    std::string configured;  // cluster::to_text(Configured)
  };
  size_t alive = 0;
  // Of look_closely_at() alone:
  std::vector<Member> members;  // who lives first, then the newest; 100 at most
  int64_t rows = 0;
  int64_t bytes = 0;
};

Result<Found> look_at(PgConnection& connection);
// Goes through the whole log.
Result<Found> look_closely_at(PgConnection& connection);

// In what replicas that live are configured otherwise than the one that is `like`, a line for people each. Of members as in
// Found.
std::vector<std::string> differences(const Found::Member& like, const std::vector<Found::Member>& members);

// Tells how that replica is configured, and gives those that live and are configured otherwise.
Result<std::vector<Found::Member>> tell_configured(PgConnection& connection, const Found::Member& own);

// Whether a replica with that key can join. BadInput, with what to do.
Result<void> check_joinable(const Found& found, const ClusterKey& key);
// The key of the hashes that stand for clients and resources. Internal: it cannot be opened.
Result<HashKey> hash_key_of(const Found& found, const ClusterKey& key);
std::string seal_hash_key(HashKey hash_key, const ClusterKey& key);
// What is weaker than it could be, for people.
std::vector<std::string> warnings_of(const Found& found);
inline constexpr const char* kNoStandby =
    "no synchronous standby is connected to the cluster's engine: nothing can be recorded until one is";
// So that a commit would wait, and its process at the engine with it.
bool waits_in_vain(const Found& found);
// What to tell people when these warnings follow those.
std::vector<std::string> changes_of(const std::vector<std::string>& before, const std::vector<std::string>& after);

// Makes the tables; `membership_lease`: how long a replica lives without a word. BadInput: there are some.
Result<void> make_tables(PgConnection& connection, const ClusterKey& key, Duration membership_lease);
// Gives the version that they had.
Result<int> upgrade_tables(PgConnection& connection);

}  // namespace armgate::cluster
