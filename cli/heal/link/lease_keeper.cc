#include "cli/heal/link/lease_keeper.h"

#include <signal.h>

#include <utility>

#include "cli/view/ask_service.h"
#include "json/tree.h"

namespace armgate::heal {
namespace {

std::string wanted_text(const Target& target, const std::string& client) {
  return nlohmann::json{{"client", client},
                        {"purpose", "armgate heal aks-system-pool"},
                        {"resources", {target.cluster, target.pool_id(), target.stand_in_id()}}}
      .dump();
}

}  // namespace

LeaseKeeper::LeaseKeeper(const Config& config, const Target& target, std::string client, std::string who)
    : config_(config), wanted_(wanted_text(target, client)), who_(std::move(who)) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread(&LeaseKeeper::keep, this);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LeaseKeeper::~LeaseKeeper() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    if (!id_.empty()) release_lease(config_, id_, who_).ok();
  }
  ends_.notify_all();
  thread_.join();
}

// Requires: the mutex is held.
Result<bool> LeaseKeeper::renew() {
  auto answer = id_.empty() ? take_run_lease(config_, wanted_, who_) : renew_run_lease(config_, id_, who_);
  if (!answer && answer.error().kind == ErrorKind::Closed) {
    answer = take_run_lease(config_, wanted_, who_);
    was_taken_anew_ = was_taken_anew_ || answer.ok();
  }
  if (!answer) return std::move(answer).error();
  const auto lease = nlohmann::json::parse(*answer, nullptr, false);
  const bool complete = lease.is_object() && lease.contains("lease") && lease["lease"].is_string() && lease.contains("state") &&
                        lease["state"].is_string();
  if (!complete) return gateway_error(ErrorKind::BadInput, "what answers at listen.admin gives no leases");
  id_ = lease["lease"];
  behind_ = lease.value("behind", "");
  behind_age_.reset();
  if (lease.contains("behind_ms")) behind_age_ = std::chrono::milliseconds(lease.value("behind_ms", int64_t{0}));
  ttl_ = std::chrono::milliseconds(lease.value("ttl_ms", int64_t{60'000}));
  return lease["state"] == "held";
}

Result<bool> LeaseKeeper::held() {
  const std::lock_guard lock(mutex_);
  return renew();
}

std::string LeaseKeeper::behind() const {
  const std::lock_guard lock(mutex_);
  return behind_;
}

std::optional<Duration> LeaseKeeper::behind_age() const {
  const std::lock_guard lock(mutex_);
  return behind_age_;
}

bool LeaseKeeper::was_taken_anew() {
  const std::lock_guard lock(mutex_);
  return std::exchange(was_taken_anew_, false);
}

void LeaseKeeper::keep() {
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, ttl_ / 3, [this] { return ending_; })) {
    if (!id_.empty()) renew().ok();  // whoever asks next is told if it failed
  }
}

}  // namespace armgate::heal
