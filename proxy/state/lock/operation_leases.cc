#include "proxy/state/lock/operation_leases.h"

#include <algorithm>
#include <utility>

#include "arm/identity.h"
#include "arm/url.h"

namespace armgate {

OperationLease::OperationLease(LeasedWrite write, WriteLease lease, std::string authorization, const Executor& executor)
    : write_(std::move(write)),
      keys_(lease.keys()),
      waiter_(executor),
      pace_{TimePoint{}, write_.interval, TimePoint{}},
      lease_(std::move(lease)),
      authorization_(std::move(authorization)) {
  lease_.tell_when_wanted(&waiter_, kWake);
}

bool OperationLease::has_waiter() const {
  MutexLock lock(&mutex_);
  return lease_.has_waiter();
}

bool OperationLease::is_open() const {
  MutexLock lock(&mutex_);
  return !finished_.has_value();
}

OperationLease::Pace OperationLease::pace() const {
  MutexLock lock(&mutex_);
  return pace_;
}

void OperationLease::note_running(TimePoint now) {
  MutexLock lock(&mutex_);
  pace_.seen_running = std::max(pace_.seen_running, now);
  lease_.note_seen(pace_.seen_running);
}

void OperationLease::note_named(Duration between_looks) {
  MutexLock lock(&mutex_);
  pace_.named = between_looks;
}

void OperationLease::note_end_expected(TimePoint now) {
  {
    MutexLock lock(&mutex_);
    pace_.end_expected = now;
  }
  waiter_.signal(kWake);
}

std::string OperationLease::authorization() const {
  MutexLock lock(&mutex_);
  const bool has_good_one = !authorization_.empty() && !is_distrusted_;
  return has_good_one || lent_.empty() ? authorization_ : lent_.front().authorization;
}

void OperationLease::distrust(std::string_view authorization) {
  MutexLock lock(&mutex_);
  if (authorization_ == authorization) {
    // Of an earlier process nobody recorded with which of its client's principals it came: the next one may be the right one.
    if (write_.inherited)
      authorization_.clear();
    else
      is_distrusted_ = true;
  } else if (lent_.size() > 1 && lent_.front().authorization == authorization) {
    std::rotate(lent_.begin(), lent_.begin() + 1, lent_.end());
  }
}

bool OperationLease::has_lost_its_keys() const {
  MutexLock lock(&mutex_);
  return lease_.is_over();
}

bool OperationLease::lend_credentials(const void* lender, std::string_view authorization) {
  MutexLock lock(&mutex_);
  const bool has_it = std::ranges::find(lent_, lender, &Lent::lender) != lent_.end();  // it waits for several of its keys
  const bool takes = !finished_ && !authorization.empty() && !has_it;
  if (takes) lent_.push_back({lender, std::string(authorization)});
  return takes;
}

void OperationLease::take_back(const void* lender) {
  MutexLock lock(&mutex_);
  std::erase_if(lent_, [lender](const Lent& lent) { return lent.lender == lender; });
}

void OperationLease::renew_token(std::string_view authorization) {
  MutexLock lock(&mutex_);
  if (finished_ || authorization_ == authorization) return;
  // A client may use several principals (two tenants): only a newer token of the same one may take the place.
  const auto before = arm::claims_of(authorization_);
  const auto now = arm::claims_of(authorization);
  const bool is_first = write_.inherited && authorization_.empty();  // which of them it was is not recorded
  const bool same = before && now && before->tenant == now->tenant && before->principal == now->principal;
  if (!is_first && !same) return;
  authorization_ = std::string(authorization);
  is_distrusted_ = false;
}

void OperationLease::note_operation_end(arm::Progress last) {
  {
    MutexLock lock(&mutex_);
    if (operation_end_) return;
    operation_end_ = last;
  }
  waiter_.signal(kWake);
}

std::optional<arm::Progress> OperationLease::operation_end() const {
  MutexLock lock(&mutex_);
  return operation_end_;
}

void OperationLease::note_error(arm::ErrorCodes error) {
  MutexLock lock(&mutex_);
  if (error_.empty()) error_ = std::move(error);
}

arm::ErrorCodes OperationLease::error() const {
  MutexLock lock(&mutex_);
  return error_;
}

bool OperationLease::finish(arm::Progress last) {
  {
    MutexLock lock(&mutex_);
    if (finished_) return false;
    finished_ = last;
    authorization_.clear();
    lent_.clear();
  }
  waiter_.signal(kWake);
  return true;
}

std::optional<arm::Progress> OperationLease::finished() const {
  MutexLock lock(&mutex_);
  return finished_;
}

void OperationLease::release() { WriteLease let_go = take_lease(); }

uint64_t OperationLease::claim() const {
  MutexLock lock(&mutex_);
  return lease_.kept_as();
}

WriteLease OperationLease::take_lease() {
  MutexLock lock(&mutex_);
  lease_.tell_when_wanted(nullptr, 0);
  lease_.note_seen(TimePoint{});
  return std::move(lease_);
}

Hash128 OperationLeases::url_key(std::string_view host, std::string_view target) const {
  return hasher_.hash_fields(host, target);
}

std::vector<Hash128> OperationLeases::url_keys(const OperationLease& op_lease) const {
  std::vector<Hash128> keys;
  for (const auto* text : {&op_lease.write().tracking.status_url, &op_lease.write().tracking.location_url}) {
    if (const auto url = arm::parse_url(*text)) keys.push_back(url_key(url->host, url->target));
  }
  return keys;
}

void OperationLeases::add(const std::shared_ptr<OperationLease>& op_lease) {
  MutexLock lock(&mutex_);
  for (const auto& key : url_keys(*op_lease)) by_url_[key].push_back(op_lease);
  by_resource_[op_lease->write().planned.plan->resource_key].push_back(op_lease);
  for (const auto& key : op_lease->keys()) by_key_[key].push_back(op_lease);
  by_client_[op_lease->write().client].push_back(op_lease);
  for (const auto& key : op_lease->keys()) {
    const auto waiting = lenders_.find(key);
    if (waiting == lenders_.end()) continue;
    for (CredentialLoan* loan : waiting->second) {
      if (op_lease->lend_credentials(loan, loan->authorization_)) loan->taken_by_.push_back(op_lease);
    }
  }
  count_.fetch_add(1, std::memory_order_relaxed);
}

void OperationLeases::drop(Index& index, const Hash128& key, const std::shared_ptr<OperationLease>& op_lease) {
  const auto it = index.find(key);
  if (it == index.end()) return;
  std::erase(it->second, op_lease);
  if (it->second.empty()) index.erase(it);
}

void OperationLeases::close(const std::shared_ptr<OperationLease>& op_lease) {
  MutexLock lock(&mutex_);
  for (const auto& key : url_keys(*op_lease)) drop(by_url_, key, op_lease);
  drop(by_resource_, op_lease->write().planned.plan->resource_key, op_lease);
  for (const auto& key : op_lease->keys()) drop(by_key_, key, op_lease);
  drop(by_client_, op_lease->write().client, op_lease);
  count_.fetch_sub(1, std::memory_order_relaxed);
}

std::vector<OperationLeases::Match> OperationLeases::find(std::string_view host, std::string_view target,
                                                          const Hash128& resource) const {
  std::vector<Match> matches;
  if (empty()) return matches;
  MutexLock lock(&mutex_);
  const auto by_url = by_url_.find(url_key(host, target));
  if (by_url != by_url_.end()) {
    for (const auto& op_lease : by_url->second) {
      const auto status = arm::parse_url(op_lease->write().tracking.status_url);
      const bool is_status = status && status->host == host && status->target == target;
      matches.push_back({op_lease, is_status ? arm::TrackedBy::StatusUrl : arm::TrackedBy::LocationUrl});
    }
  }
  const auto by_resource = resource.is_zero() ? by_resource_.end() : by_resource_.find(resource);
  if (by_resource != by_resource_.end()) {
    for (const auto& op_lease : by_resource->second) {
      const bool deletes = op_lease->write().method == arm::Method::Delete;
      const bool by_state = op_lease->write().tracking.by == arm::TrackedBy::ResourceState;
      if (deletes)
        matches.push_back({op_lease, arm::TrackedBy::ResourceGone});
      else if (by_state)
        matches.push_back({op_lease, arm::TrackedBy::ResourceState});
    }
  }
  return matches;
}

std::vector<std::shared_ptr<OperationLease>> OperationLeases::on_key(const Hash128& key) const {
  MutexLock lock(&mutex_);
  const auto it = by_key_.find(key);
  return it == by_key_.end() ? std::vector<std::shared_ptr<OperationLease>>() : it->second;
}

bool OperationLeases::runs_on(const Hash128& resource) const {
  MutexLock lock(&mutex_);
  return by_resource_.contains(resource);
}

OperationLeases::CredentialLoan::~CredentialLoan() {
  if (table_ != nullptr) table_->end(*this);
}

void OperationLeases::end(CredentialLoan& loan) {
  MutexLock lock(&mutex_);
  for (const auto& key : loan.keys_) {
    const auto it = lenders_.find(key);
    std::erase(it->second, &loan);
    if (it->second.empty()) lenders_.erase(it);
  }
  for (const auto& op_lease : loan.taken_by_) op_lease->take_back(&loan);
}

void OperationLeases::lend_credentials(const std::vector<Hash128>& keys, std::string_view authorization, CredentialLoan& loan) {
  MutexLock lock(&mutex_);
  loan.table_ = this;
  loan.authorization_ = authorization;
  for (const auto& key : keys) {
    if (!std::ranges::count(loan.keys_, key)) {
      loan.keys_.push_back(key);
      lenders_[key].push_back(&loan);
    }
    const auto it = by_key_.find(key);
    if (it == by_key_.end()) continue;
    for (const auto& op_lease : it->second) {
      if (op_lease->lend_credentials(&loan, authorization)) loan.taken_by_.push_back(op_lease);
      op_lease->waiter().signal(OperationLease::kWake);
    }
  }
}

void OperationLeases::renew_token(const Hash128& client, std::string_view authorization) const {
  if (empty() || authorization.empty()) return;
  MutexLock lock(&mutex_);
  const auto it = by_client_.find(client);
  if (it == by_client_.end()) return;
  for (const auto& op_lease : it->second) op_lease->renew_token(authorization);
}

}  // namespace armgate
