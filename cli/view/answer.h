// answer.h – what a running service answers (cli/view/ask_service.h), read for those who show it to people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/tree_fwd.h"

namespace armgate {

// A write of the status page (admin.h). Its texts are safe for a terminal.
struct ShownWrite {
  uint64_t id = 0;
  std::string what;  // "PUT /subscriptions/..."
  std::string client;
  std::string state;
  std::string phase;  // of one that runs
  int64_t since_ms = 0;
  size_t ahead = 0;                  // writes that stand in its way
  uint64_t behind = 0;               // the first of them; 0: none
  std::optional<int64_t> seen_ms{};  // of an operation: for how long nobody has asked ARM how it goes
  bool unseen = false;               // of one of an earlier process: nobody has since

  // Its client, as far as a table has room for the name.
  std::string who() const;
  const std::string& word() const { return phase.empty() ? state : phase; }
  // Whether it is a write to the resource or to what is below it; the canonical id.
  bool is_below(std::string_view resource) const;
  // ", as of 12.0 s ago", or that nobody knows since the restart; empty: it is so now.
  std::string as_of() const;
};

// What ARM said is left of the requests that it takes of a principal for a subscription.
struct ShownBudgets {
  struct Told {
    std::string budget;
    uint64_t left = 0;
    uint64_t most = 0;  // that it said lately
  };
  std::string subscription;  // empty: of the tenant
  std::string principal;
  std::vector<Told> told;
  int64_t come_again_ms = 0;  // its last 429 asks to wait still
  struct Waiting {
    std::string client;
    std::string what;
    int64_t waited_ms = 0;
  };
  std::vector<Waiting> waiting{};  // for their part of it
};

// An operation that failed or was canceled.
struct ShownFailure {
  std::string when;
  std::string what;  // "PUT /subscriptions/..."
  std::string client;
  std::string result;
  std::string error;  // "Code (MessageCode)"; empty: none was told
};

// A resource whose operations keep failing, or that never comes to rest.
struct ShownSick {
  std::string resource;
  std::string why;  // "10 operations have failed with ..."
  std::string since;
  std::string state;  // provisioningState; empty: not known
};

struct ShownStatus {
  std::string version;
  std::string mode;
  std::string started;
  std::string config;  // the file; empty: the built-in defaults
  int64_t up_ms = 0;
  bool draining = false;
  bool journal_writable = true;
  bool reload_good = true;
  size_t rules = 0;
  size_t connections = 0;
  int64_t requests = 0;
  std::string summary;  // empty: all passed on as they were
  struct Counts {
    uint64_t guarded = 0;
    uint64_t stale = 0;
    uint64_t refused = 0;
    uint64_t repeated = 0;
    uint64_t recovered = 0;
    uint64_t unanswered = 0;
  } counts;
  std::vector<ShownBudgets> budgets;
  // How accepted writes have ended.
  struct Results {
    uint64_t succeeded = 0;
    uint64_t failed = 0;
    uint64_t canceled = 0;
    uint64_t unknown = 0;
  } results;
  std::vector<ShownFailure> failures;  // the newest first
  std::vector<ShownSick> sick;         // by age
  std::vector<ShownWrite> writes;      // the oldest first
  size_t left_out = 0;                 // newer ones
  // How many there are in each state, also of those that are left out.
  struct Totals {
    size_t runs = 0;
    size_t waits = 0;
    size_t kept = 0;
  } totals{};
  struct Cluster {
    bool ready = true;
    bool engine_up = true;
    int64_t lease_ms = 0;
    size_t alive = 0;  // replicas
    std::vector<std::string> warnings{};
  };
  std::optional<Cluster> cluster{};  // nothing: it is alone
};

// A write and, in the order in which they come, those that wait for it or for somebody who does.
struct ShownQueue {
  ShownWrite first;
  std::vector<ShownWrite> waiting;
};

struct ShownRelease {
  std::string what;
  std::string client;
  int64_t held_ms = 0;
};

struct ShownUnlock {
  std::vector<ShownRelease> released;
  bool on_its_way = false;   // a write that cannot be released has the resource still
  bool others_told = false;  // another replica has it, and was asked to
  std::string lease_of;      // whose lease it is that the other ends
};

// Unreachable if it is no such page: then something else answers there.
Result<ShownStatus> read_status(std::string_view json);
Result<ShownUnlock> read_unlock(std::string_view json);

// The records of writes that the service remembers (record_view.h).
Result<nlohmann::json> read_history(std::string_view json);

// Every write, the longest queues first, then by age.
std::vector<ShownQueue> queues_of(const ShownStatus& status);

// "2.3 s", "1 min 15 s", "30 h 5 min".
std::string age_text(int64_t milliseconds);

}  // namespace armgate
