// lease_keeper.h – the run lease on the cluster and its pools, kept as long as this lives.
//
// Threads   one of its own renews; the owner asks. All signals stay with the owner's thread.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/time.h"
#include "cli/heal/facts/cluster.h"
#include "proxy/config/config.h"

namespace armgate::heal {

class LeaseKeeper {
 public:
  // Asks the service with this configuration. `client` is the name under which the run's requests go through it.
  LeaseKeeper(const Config& config, const Target& target, std::string client, std::string who);
  ~LeaseKeeper();  // gives it back
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  // Takes it, or renews it, or, if it was lost, takes it again. True: it is held; false: an earlier write still runs.
  // BadInput: somebody else has it, or there can be none.
  Result<bool> held();
  std::string behind() const;  // what it waits for
  // Since when ARM may be at that; nothing: it waits for nothing that was sent.
  std::optional<Duration> behind_age() const;
  // Whether it was lost and taken again since this was asked last.
  bool was_taken_anew();

 private:
  Result<bool> renew();
  void keep();

  const Config config_;
  const std::string wanted_;
  const std::string who_;
  mutable std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;
  std::string id_;  // empty: none
  std::string behind_;
  std::optional<Duration> behind_age_;
  bool was_taken_anew_ = false;
  Duration ttl_ = std::chrono::seconds(60);
  std::thread thread_;
};

}  // namespace armgate::heal
