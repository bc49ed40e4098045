#include "proxy/state/operation/owned_operations.h"

#include <algorithm>
#include <utility>

#include "base/mutant.h"
#include "proxy/policy/late_failure.h"

namespace armgate {

OwnedOperation::OwnedOperation(const Hash128& id, std::string host, std::string target, IntentId first, arm::Tracking tracking,
                               std::shared_ptr<const SendAgain> again)
    : id_(id), host_(std::move(host)), target_(std::move(target)), first_(first), again_(std::move(again)) {
  known_.newest = first;
  known_.tracking = std::move(tracking);
}

OwnedOperation::Known OwnedOperation::snapshot() const {
  MutexLock lock(&mutex_);
  return known_;
}

IntentId OwnedOperation::stands_for(IntentId sending) const {
  MutexLock lock(&mutex_);
  return known_.newest == sending ? first_ : 0;
}

void OwnedOperation::note_poll(const Hash128& principal, std::string_view authorization, TimePoint now) {
  MutexLock lock(&mutex_);
  if (!again_ || again_->principal != principal || authorization.empty()) return;
  token_ = authorization;
  last_poll_ = now;
}

bool OwnedOperation::note_poll_elsewhere(const Hash128& principal, TimePoint now) {
  MutexLock lock(&mutex_);
  if (!again_ || again_->principal != principal) return false;
  last_poll_ = now;
  return true;
}

void OwnedOperation::keep_token(std::string_view authorization) {
  MutexLock lock(&mutex_);
  token_ = authorization;
}

std::string OwnedOperation::token(TimePoint since) const {
  MutexLock lock(&mutex_);
  return last_poll_ >= since ? token_ : std::string();
}

void OwnedOperation::distrust(std::string_view authorization) {
  MutexLock lock(&mutex_);
  if (token_ == authorization) token_.clear();
}

TimePoint OwnedOperation::last_poll() const {
  MutexLock lock(&mutex_);
  return last_poll_;
}

void OwnedOperation::note_failure(IntentId sending, const policy::LateFailure& failure) {
  MutexLock lock(&mutex_);
  if (sending == known_.newest && known_.phase == Phase::Follows) {
    failed_as_ = failure.kind;
    come_back_ = failure.come_back;
  }
}

std::optional<TimePoint> OwnedOperation::schedule(const policy::LateFailure& failure, const rules::LateRetry& rule,
                                                  TimePoint now, Rng& rng) {
  due_.reset();
  if (!again_) return std::nullopt;
  const policy::SentSoFar so_far{sendings_, superseded_, now - again_->taken};
  if (const auto pause = policy::pause_before_next(failure, so_far, rule, rng)) due_ = now + *pause;
  if (due_ && failure.kind == rules::ErrorClass::Superseded) ++superseded_;
  return due_;
}

std::optional<TimePoint> OwnedOperation::fail(IntentId sending, arm::Progress how, const rules::LateRetry& rule, TimePoint now,
                                              Rng& rng) {
  MutexLock lock(&mutex_);
  if (known_.phase == Phase::Again) return due_;
  if (sending != known_.newest || known_.phase != Phase::Follows || known_.in_doubt) return std::nullopt;
  const bool is_wanted = how == arm::Progress::Canceled && failed_as_ != rules::ErrorClass::Superseded;
  const auto due = is_wanted ? std::nullopt : schedule({failed_as_, come_back_}, rule, now, rng);
  if (due)
    known_.phase = Phase::Again;
  else
    forget_what_is_kept();
  return due;
}

std::optional<TimePoint> OwnedOperation::refuse(const policy::LateFailure& failure, const rules::LateRetry& rule, TimePoint now,
                                                Rng& rng) {
  MutexLock lock(&mutex_);
  return schedule(failure, rule, now, rng);
}

std::optional<TimePoint> OwnedOperation::due() const {
  MutexLock lock(&mutex_);
  return known_.phase == Phase::Again ? due_ : std::nullopt;
}

std::shared_ptr<const SendAgain> OwnedOperation::again() const {
  MutexLock lock(&mutex_);
  return again_;
}

void OwnedOperation::note_sending() {
  MutexLock lock(&mutex_);
  ++sendings_;
}

int OwnedOperation::sendings() const {
  MutexLock lock(&mutex_);
  return sendings_;
}

void OwnedOperation::follow(IntentId sending, arm::Tracking tracking) {
  MutexLock lock(&mutex_);
  known_.phase = Phase::Follows;
  known_.newest = sending;
  if (!is_mutant(Mutant::FirstOperationTold)) known_.tracking = std::move(tracking);
  failed_as_ = rules::ErrorClass::Final;
  come_back_.reset();
  due_.reset();
}

void OwnedOperation::doubt(IntentId sending) {
  MutexLock lock(&mutex_);
  known_.phase = Phase::Follows;
  known_.newest = sending;
  known_.tracking = {};
  known_.in_doubt = true;
  forget_what_is_kept();
}

void OwnedOperation::give_up() {
  MutexLock lock(&mutex_);
  if (known_.phase == Phase::Again) known_.phase = Phase::Follows;
  forget_what_is_kept();
}

void OwnedOperation::lead_elsewhere(bool is_led) {
  MutexLock lock(&mutex_);
  known_.is_led_elsewhere = is_led;
}

void OwnedOperation::end(IntentId sending, const OperationResult& result) {
  MutexLock lock(&mutex_);
  if (sending != known_.newest) return;
  known_.phase = Phase::Over;
  known_.result = result;
  forget_what_is_kept();
}

void OwnedOperation::forget_what_is_kept() {
  known_.is_led_elsewhere = false;
  again_.reset();
  token_.clear();
  due_.reset();
}

std::unique_ptr<KeptBytes> OwnedOperations::keep(size_t bytes) {
  const size_t before = bytes_->fetch_add(bytes, std::memory_order_relaxed);
  auto share = std::make_unique<KeptBytes>(bytes_, bytes);
  if (before + bytes > options_.bytes_max) share.reset();
  return share;
}

bool OwnedOperations::add(const std::shared_ptr<OwnedOperation>& operation) {
  MutexLock lock(&mutex_);
  const auto is_over = [](const Hash128&, const auto& one) { return one->snapshot().phase == OwnedOperation::Phase::Over; };
  if (!all_.make_room(options_.operations_max, is_over)) return false;
  if (auto* earlier = all_.find(operation->id()))
    *earlier = operation;
  else
    all_.add(operation->id(), operation);
  count_.store(all_.size(), std::memory_order_relaxed);
  return true;
}

void OwnedOperations::note_poll(OwnedOperation& operation, const Hash128& principal, std::string_view authorization,
                                TimePoint now) const {
  operation.note_poll(principal, authorization, now);
  if (sink_ != nullptr && operation.snapshot().is_led_elsewhere) sink_->tell_owned_poll(operation.id(), principal);
}

void OwnedOperations::tell_left(const OwnedOperation& operation) const {
  if (sink_ != nullptr) sink_->tell_owned_left(operation.id());
}

std::shared_ptr<OwnedOperation> OwnedOperations::find(const Hash128& id) const {
  if (empty()) return nullptr;
  MutexLock lock(&mutex_);
  const auto* found = all_.find(id);
  return found == nullptr ? nullptr : *found;
}

}  // namespace armgate
