// judge.h – counts the harm that clients do to each other.
//
// Why: a lost update leaves no trace in ARM. The judge sees every write in the order it was applied, so it can say what
// vanished, and by whose write. It is sound: it reports only what the clients' own declarations prove, and stays silent
// where a client declared nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arm/http.h"
#include "json/tree_fwd.h"
#include "sim/judge/intentions.h"
#include "sim/resource_type.h"
#include "sim/sim_options.h"

namespace armgate::sim {

// What one write declared, and whether its answer will be delivered.
struct WriteFacts {
  std::string write_key;  // empty: it cannot be recognised when it comes again
  std::string client;
  std::string base_version;  // x-sim-base-version
  std::string base_etag;     // x-sim-base-etag
  std::set<std::string> deletes;
  std::vector<std::pair<std::string, int64_t>> increments;
  std::optional<Intentions> changes;  // x-sim-changes
  bool acknowledged = true;
};

WriteFacts read_write_facts(const arm::Request& request);

class Judge {
 public:
  // A write was accepted and has its effect.
  void applied(const WriteFacts& facts);
  void action_applied(const std::string& action, const WriteFacts& facts);

  // Its content: `before` and `after` are the whole resource's, null where it does not exist.
  void changed(const std::string& entity_key, const ResourceType& traits, const nlohmann::json& before,
               const nlohmann::json& after, const WriteFacts& facts);

  // The resource is gone because somebody deleted it.
  void removed(const std::string& entity_key);

  // The write's operation failed and the service put the old content back: nobody was promised anything. What an earlier
  // sending of the write had done is there still.
  void rolled_back(const std::string& entity_key, const ResourceType& traits, const nlohmann::json& content,
                   const std::string& write_key);

  // The resource had this ETag while its content had this version.
  void remember(const std::string& entity_key, const std::string& etag, const std::string& version);

  // Before changed(): a full PUT was accepted. Has it the effect that its client meant? A child's intentions are those below()
  // its place.
  enum class AsMeant { No, Yes, Unknown };
  AsMeant check_effect(const std::string& entity_key, const nlohmann::json& before, const nlohmann::json& after,
                       const WriteFacts& facts);
  // Before changed(): was it built from the current state? Another one does no harm if its effect is as meant.
  void check_base(const std::string& entity_key, const std::string& current_version, const WriteFacts& facts, AsMeant effect);
  void refused_412(const std::string& entity_key, const std::string& current_version, const WriteFacts& facts);
  bool had_version(std::string_view entity_key, std::string_view etag, std::string_view version) const;
  // Whether somebody else than `client` changed the resource after it had `base` and until it had `etag`. ETags may begin again
  // with a new resource of the same name: what came up twice proves nothing.
  bool is_newer(std::string_view entity_key, std::string_view etag, std::string_view base, std::string_view client) const;

  enum class Taken { No, Yes };
  void overlapped(const std::string& lock_key, const std::string& running_client, const WriteFacts& facts, Taken taken);

  // The counts that only the judge keeps, added to `report`.
  void add_to(Report& report) const;

 private:
  struct Member {
    std::string write_key;
    bool acknowledged = false;
    bool present = true;
  };
  struct Increment {
    int64_t amount = 0;
    bool acknowledged = false;
  };
  struct Counter {
    int64_t initial = 0;
    int64_t latest = 0;
    std::map<std::string, Increment> increments;  // by write key
  };
  struct State {
    std::string etag;
    std::string version;
    std::string made_by;  // the client whose write made it; empty: nobody knows, or only the ETag moved
  };
  using States = std::deque<State>;
  struct Watched {
    std::map<std::string, Member> members;
    std::map<std::string, Counter> counters;  // by JSON pointer
    std::string changed_by;                   // whose write was applied and has no state yet
    States states;                            // newest last
  };

  void update_members(const std::string& entity_key, Watched& watched, const std::set<std::string>& before,
                      const std::set<std::string>& after, const WriteFacts& facts);
  void update_counters(Watched& watched, const nlohmann::json& before, const nlohmann::json& after, const WriteFacts& facts);
  std::string base_version(const std::string& entity_key, const WriteFacts& facts) const;
  static bool another_changed(States::const_iterator from, States::const_iterator end, std::string_view client);
  bool knew_all(const std::string& entity_key, std::string_view version, std::string_view client) const;
  void add_finding(std::string sentence);

  Report counts_;
  std::map<std::string, Watched, std::less<>> watched_;
  IntentionJudge intentions_;
  std::map<std::string, uint64_t> applications_;
  uint64_t anonymous_ = 0;
};

}  // namespace armgate::sim
