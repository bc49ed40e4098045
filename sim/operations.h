// operations.h – the long-running operations of the simulated ARM and their signed URLs.
//
// Why: operation URLs carry a signature in their query, so a gateway that re-encodes a single byte breaks every poll.
// They are compared here byte for byte (docs/arm.md, "Operation URLs").
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
#include "base/rng.h"
#include "base/time.h"
#include "json/tree_fwd.h"
#include "sim/entity.h"
#include "sim/sim_options.h"

namespace armgate::sim {

enum class OperationOf { Create, Update, Delete, Action };

struct Operation {
  std::string id;
  OperationOf kind = OperationOf::Update;
  std::string entity_key;
  std::vector<std::string> lock_keys;  // what it excludes other writes from
  const ChildKind* child_kind = nullptr;
  std::string child;   // lower-case name of the child it is about; empty: the whole resource
  std::string client;  // x-sim-client of the write
  std::string write_key;
  TimePoint start;
  TimePoint end;
  std::string result = "Succeeded";  // what it will be, and once ended is
  std::string error_code;            // of a failure that was asked for; empty: any
  bool partly = false;               // what it has done stays although it fails
  bool ended = false;
  bool aborts = false;             // ends what ran before it
  std::vector<std::string> moved;  // keys of resources that go to another group when it ends...
  std::string moved_to;            // ...whose id this is
  Content before;                  // comes back if it fails...
  Content after;                   // ...and this is still the content
  std::string status_target;
  std::string location_target;  // empty: there is none
};

class Operations {
 public:
  Operations(const SimOptions& options, Rng& rng) : options_(options), rng_(rng) {}

  // Names the operation, makes its URLs in the style of the type and starts it.
  Operation& start(Operation operation, OperationUrls urls, const Address& address);

  // A running operation that excludes other writes from `lock_key`; the oldest one. Null: none.
  Operation* running_on(std::string_view lock_key);
  const Operation* running_on(std::string_view lock_key) const;

  // The word of the running operation on the entity or the child: Creating, Updating, Deleting; empty: none runs.
  std::string state_word(const Entity& entity, const ChildKind* child_kind, std::string_view child) const;

  std::optional<TimePoint> next_end() const;

  // Takes the next operation that is due out of the running ones; null: none is due. Its effects are the caller's.
  Operation* end_next(TimePoint now);

  // Ends a running operation now, as Canceled.
  void cancel(Operation& operation, TimePoint now);

  // Adds Azure-AsyncOperation, Location and Retry-After.
  void announce(const Operation& operation, arm::Headers& fields) const;
  std::string url_of(const Operation& operation) const { return options_.origin + operation.status_target; }

  void clear();

  enum class Match { Status, Location, Forged, Unknown };
  std::pair<Match, const Operation*> find(const std::string& id, std::string_view target, TimePoint now) const;

 private:
  void retire(const Operation& operation);
  void make_urls(Operation& operation, OperationUrls urls, const Address& address);

  const SimOptions& options_;
  Rng& rng_;
  std::map<std::string, Operation> all_;
  std::set<std::pair<TimePoint, std::string>> by_end_;
  std::map<std::string, std::vector<std::string>, std::less<>> by_lock_;    // running, oldest first
  std::map<std::string, std::vector<std::string>, std::less<>> by_entity_;  // the same per entity
  std::deque<std::string> ended_;                                           // oldest first; the oldest are forgotten
};

// 8-4-4-4-12 hexadecimal digits.
std::string make_guid(Rng& rng);

}  // namespace armgate::sim
