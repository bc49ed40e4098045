// replica_rig.h – several replicas, each with tables of its own, and the simulated log that they tell and hear.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/cluster/replica.h"
#include "proxy/state/memory_store.h"
#include "proxy/state/operation/operation_results.h"
#include "proxy/state/operation/remote_operations.h"
#include "tests/support/world/sim_log.h"

namespace armgate::cluster {

struct ReplicaRig {
  struct Process {
    Process(ReplicaRig& rig, const ResourceTable::Options& options)
        : clock(rig.clock),
          resources(options, Hasher(HashKey{1, 2})),
          clients(ClientTable::Options{}),
          locks(LockTable::Options{}, Hasher(HashKey{1, 2})),
          history(MemoryStore::Options{.kept = 10, .changes = 10}),
          replica(Replica::Options{.id = rig.log.next_id(), .membership_lease = rig.log.faults().membership_lease}) {
      replica.use({.clock = clock,
                   .resources = resources,
                   .clients = clients,
                   .locks = locks,
                   .results = results,
                   .owned = owned,
                   .remote_operations = remote_operations,
                   .turns = turns,
                   .reservations = reservations,
                   .pass = [this](uint64_t order) { clock.pass(order); },
                   .adopt = [this](AdoptedWrite one) { adopted.push_back(std::move(one)); },
                   .unlock = [this](const UnlockAsked& asked) { unlocks.push_back(asked.who); },
                   .abort_taken = [this](const AbortTaken& taken) { aborts.push_back(taken.key); },
                   .end_told = [this](const EndTold& told) { ends_told.push_back(told.target); },
                   .owned_polled = [this](const OwnedPolled& polled) { owned_polls.push_back(polled.operation); },
                   .history = &history,
                   .name_members = [](const AskedChange&) { return "/tags/a"; }});
      resources.set_sink(&replica);
      results.set_sink(&replica);
      member = rig.log.join(replica, clock, [this] { was_ended = true; });
    }
    ~Process() { member->leave(); }

    world::GateClock clock;
    ResourceTable resources;
    ClientTable clients;
    LockTable locks;
    OperationResults results;
    OwnedOperations owned;
    RemoteOperations remote_operations{Hasher(HashKey{1, 2})};
    Turns turns{{}};
    Reservations reservations{{}};
    MemoryStore history;
    Replica replica;
    std::vector<AdoptedWrite> adopted;
    std::vector<Hash128> aborts;
    std::vector<std::string> unlocks;  // who asked for them
    std::vector<std::string> ends_told;
    std::vector<Hash128> owned_polls;
    bool was_ended = false;
    std::shared_ptr<world::SimLog::Member> member;
  };

  explicit ReplicaRig(uint64_t seed = 1) : clock(loop, seed), log(clock, world::LogFaults{}, seed) {}

  Process& begin(const ResourceTable::Options& options = {}) {
    return *processes.emplace_back(std::make_unique<Process>(*this, options));
  }
  void pass(Duration time) {
    const TimePoint until = clock.now() + time;
    while (clock.now() < until && clock.step()) {
    }
    clock.settle();
  }

  boost::asio::io_context loop;
  world::SimClock clock;
  world::SimLog log;
  std::vector<std::unique_ptr<Process>> processes;
};

}  // namespace armgate::cluster
