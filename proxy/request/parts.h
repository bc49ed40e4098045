// parts.h – what a pipeline works with: the seams, the shared tables, and the limits it obeys.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/fingerprint.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/time.h"
#include "proxy/policy/bases.h"
#include "proxy/request/exchange.h"
#include "proxy/request/observe/observe_finding.h"
#include "proxy/seams/clock.h"
#include "proxy/seams/faults.h"
#include "proxy/seams/store.h"
#include "proxy/seams/upstream.h"
#include "proxy/state/budgets.h"
#include "proxy/state/client_table.h"
#include "proxy/state/lock/lock_table.h"
#include "proxy/state/lock/operation_leases.h"
#include "proxy/state/lock/reservations.h"
#include "proxy/state/lock/run_leases.h"
#include "proxy/state/lock/turns.h"
#include "proxy/state/observed_writes.h"
#include "proxy/state/operation/operation_results.h"
#include "proxy/state/operation/owned_operations.h"
#include "proxy/state/operation/remote_operations.h"
#include "proxy/state/recent_creations.h"
#include "proxy/state/resource_table.h"
#include "proxy/state/rules_in_force.h"
#include "proxy/state/running_actions.h"
#include "rules/plan.h"

namespace armgate {

namespace cluster {
class Replica;
}  // namespace cluster

// What the configuration says about a client.
struct DeclaredClient {
  policy::Actors actors = policy::Actors::Unknown;
  rules::Merging merge = rules::Merging::On;
};

struct PipelineOptions {
  rules::Mode mode = rules::Mode::Protect;               // at the start; from then on SharedState::rules has it
  Duration wait_max = std::chrono::seconds(50);          // how long a client is kept waiting before 503
  Duration retry_after = std::chrono::seconds(2);        // what the 503 says
  Duration answer_timeout = std::chrono::minutes(5);     // for the head of ARM's answer (ARM itself gives up after 60 s)
  size_t write_answer_bytes_max = 16u << 20;             // ARM's own limit for an answer is 8 MB
  size_t body_keep_max = 4u << 20;                       // of a longer point read no body is kept
  size_t versions_compared_max = 4;                      // other api-versions at which what is there is read for one comparison
  size_t list_scan_max = 4u << 20;                       // of a longer list nothing is kept (counted)
  Duration poll_first = std::chrono::seconds(1);         // own polls with a waiter, if ARM names no interval: at first,
  Duration poll_with_waiter = std::chrono::seconds(10);  // and at most, however long the operation has run
  Duration poll_without_waiter = std::chrono::seconds(60);  // own polls without a waiter: only to bound the operation lease
  Duration read_again_timeout = std::chrono::seconds(30);
  bool sends_fenced = false;                               // though it cannot be recorded: Config::Cluster::when_away
  rules::Merging merge = rules::Merging::On;               // the most that a rule or a client may allow
  std::map<std::string, DeclaredClient> clients;           // by the user name in the proxy URL
  std::function<bool(std::string_view host)> is_arm_host;  // where tokens may be sent; none: everywhere

  bool may_ask(std::string_view host) const { return !is_arm_host || is_arm_host(host); }
};

// What is worth counting (promise P10, docs/design.md: hitting a limit is counted). Nothing that happens with each request: all
// threads share it.
struct Counters {
  std::atomic<uint64_t> refused_stale{0};
  std::atomic<uint64_t> forced{0};
  std::atomic<uint64_t> queue_full{0};
  std::atomic<uint64_t> wait_timeouts{0};
  std::atomic<uint64_t> clients_left{0};
  std::atomic<uint64_t> reservations_kept{0};
  std::atomic<uint64_t> reservations_claimed{0};
  std::atomic<uint64_t> spurious_412s{0};
  std::atomic<uint64_t> merged{0};
  std::atomic<uint64_t> outcomes_unknown{0};
  std::atomic<uint64_t> replayed{0};
  std::atomic<uint64_t> leases_expired{0};
  std::atomic<uint64_t> leases_released{0};  // by an operator
  std::atomic<uint64_t> lists_too_long{0};
  std::atomic<uint64_t> references_cut{0};
  std::atomic<uint64_t> questions_held_back{0};  // armgate's own, as ARM's budget was scarce
  std::atomic<uint64_t> paced{0};                // clients' requests that waited for their part of a budget
  std::atomic<uint64_t> refused_sick{0};         // by a breaker
  std::atomic<uint64_t> sent_again_late{0};      // after their operations had failed
  std::atomic<uint64_t> given_up_late{0};        // the same, but then the client was told ARM's failure
  // In mode observe: what would have been done.
  std::atomic<uint64_t> would_be_stale{0};
  std::atomic<uint64_t> would_be_merged{0};
  std::atomic<uint64_t> would_overlap{0};
  std::atomic<uint64_t> would_be_duplicate{0};
  std::atomic<uint64_t> would_wait{0};
  std::atomic<uint64_t> would_be_sick{0};
};

// The tables and options that every event loop's pipeline shares.
struct SharedState {
  struct Options {
    PipelineOptions pipeline;
    ClientTable::Options clients;
    ResourceTable::Options resources;
    LockTable::Options locks;
    Reservations::Options reservations{};
    Turns::Options turns{};
    RunLeases::Options run_leases{};
    RecentCreations::Options recent_creations{};
    ObservedWrites::Options observed{};
    OperationResults::Options results{};
    OwnedOperations::Options owned{};
    Budgets::Options budgets{};
  };
  SharedState(Options given, Hasher keyed, std::shared_ptr<const rules::Ruleset> ruleset)
      : options(std::move(given.pipeline)),
        hasher(keyed),
        fingerprints(keyed),
        rules(std::move(ruleset), options.mode, keyed),
        clients(given.clients),
        resources(given.resources, keyed),
        locks(given.locks, keyed),
        reservations(given.reservations),
        turns(given.turns),
        op_leases(keyed),
        run_leases(given.run_leases, locks, keyed),
        recent_creations(given.recent_creations, keyed),
        observed(given.observed),
        results(given.results),
        owned(given.owned),
        remote_operations(keyed),
        budgets(given.budgets, keyed) {}

  const PipelineOptions options;
  const Hasher hasher;
  const Fingerprinter fingerprints;
  RulesInForce rules;
  ClientTable clients;
  ResourceTable resources;
  LockTable locks;
  Reservations reservations;
  Turns turns;
  OperationLeases op_leases;  // outlives those that lend to it
  RunLeases run_leases;
  RecentCreations recent_creations;
  ObservedWrites observed;
  RunningActions running_actions;
  OperationResults results;
  OwnedOperations owned;
  RemoteOperations remote_operations;  // of a cluster's other replicas
  Budgets budgets;
  Counters counters;
  // Since when this process knows what happens. What an earlier one's journal tells has an order up to `former` (restore.h),
  // which is set before the first request; 0: nothing.
  std::atomic<TimePoint> known_from{};
  uint64_t former = 0;
  // By the wall clock: since when all requests are known, and since when recorded ones are, which the journal may put earlier.
  std::atomic<WallTime> began{};
  std::atomic<WallTime> recorded_from{};

  // For what arrives from now on. In mode "off" nothing is looked at: when that ends, what happens is known from then on.
  void use(std::shared_ptr<const rules::Ruleset> next, rules::Mode mode, Clock& clock) {
    const bool was_off = rules.mode() == rules::Mode::Off;
    rules.replace(std::move(next), mode);
    if (was_off && mode != rules::Mode::Off) begin(clock);
  }

  // Before the first request. `known_for`: for how long others have told what
  // happened before.
  void begin(Clock& clock, Duration known_for = {}) {
    known_from = clock.next_moment().time - known_for;
    began = clock.wall() - std::chrono::duration_cast<WallTime::duration>(known_for);
    recorded_from = began.load();
  }
};

struct Parts {
  SharedState& shared;
  Clock& clock;
  Upstream& upstream;  // of this event loop
  Store& store;
  Faults& faults;
  Rng& rng;                                                     // of this event loop
  Executor executor;                                            // of this event loop; watchers run on it
  std::function<void(const Exchange&)> account;                 // one call per request, when all is known about it
  std::function<void(const std::string& message)> alert;        // an operator should know
  std::function<void(const ObserveFinding&)> report_finding{};  // mode observe
  cluster::Replica* cluster = nullptr;                          // this process as one of several; null: it is alone
};

}  // namespace armgate
