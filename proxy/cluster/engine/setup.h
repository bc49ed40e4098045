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
  bool commits_locally = false;    // synchronous_commit is off or local
  size_t synchronous = 0;          // standbys that a commit waits for
  bool waits_for_standby = false;  // synchronous_standby_names is not empty
  std::optional<int> version;      // of the tables; nothing: there are none
  std::string fingerprint;
  std::string hash_key;  // sealed; empty: the key file's own
  Duration lease{};
  Duration known_for{};
  struct Member {
    int64_t id = 0;
    std::string name;
    std::string program;
    std::string state;    // "alive", "silent", "left", "dead"
    int64_t seconds = 0;  // since it joined
  };
  std::vector<Member> members;  // the newest first
  int64_t rows = 0;
  int64_t bytes = 0;
};

Result<Found> look_at(PgConnection& connection);

// Whether a replica with that key can join. BadInput, with what to do.
Result<void> check_joinable(const Found& found, const ClusterKey& key);
// The key of the hashes that stand for clients and resources. Internal: it cannot be opened.
Result<HashKey> hash_key_of(const Found& found, const ClusterKey& key);
std::string seal_hash_key(HashKey hash_key, const ClusterKey& key);
// What is weaker than it could be, for people.
std::vector<std::string> warnings_of(const Found& found);

// Makes the tables; `lease`: how long a replica lives without a word. BadInput: there are some.
Result<void> make_tables(PgConnection& connection, const ClusterKey& key, Duration lease);
// Gives the version that they had.
Result<int> upgrade_tables(PgConnection& connection);

}  // namespace armgate::cluster
