#include "proxy/net/client/client_input.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "proxy/async/spawn.h"

namespace armgate::net {

void ClientInput::consume(size_t count) {
  buffer_.consume(count);
  before_latest_ -= std::min(before_latest_, count);
  if (before_latest_ == 0) arrived_ = latest_;
}

Task<Result<size_t>> ClientInput::more(TimePoint deadline) {
  GATE_CHECK(watcher_ == nullptr, "read while a watch is set");
  const size_t before = bytes().size();
  if (in_background_) co_await stop();
  if (bytes().size() > before) co_return bytes().size() - before;
  if (end_ == End::Closed) co_return size_t{0};
  if (end_ == End::Broken) co_return *broken_;
  auto outcome = co_await stream_.read_some(scratch_area(), deadline);
  note_read(outcome);
  co_return outcome;
}

void ClientInput::watch(Waiter* waiter, uint32_t bits) {
  watcher_ = waiter;
  watcher_bits_ = bits;
  if (waiter == nullptr) {
    stream_.tell_readable(nullptr);
  } else if (gone()) {
    waiter->signal(bits);
  } else if (!in_background_ && !stream_.tell_readable([this] { start_reading(); })) {
    start_reading();
  }
}

// Nearly every request is answered before its client does anything: only then is there something to read.
void ClientInput::start_reading() {
  if (in_background_ || watcher_ == nullptr) return;
  in_background_ = true;
  spawn(executor_, read_in_background());
}

Task<void> ClientInput::stop() {
  watch(nullptr, 0);
  while (in_background_) {
    stream_.cancel_read();
    co_await stopped_.wait();
  }
}

Task<void> ClientInput::read_in_background() {
  while (watcher_ != nullptr && !gone() && bytes().size() < early_bytes_max_) {
    const auto outcome = co_await stream_.read_some(scratch_area(), kNever);
    if (!outcome && outcome.error().kind == ErrorKind::Cancelled) break;
    note_read(outcome);
  }
  in_background_ = false;
  stopped_.signal(1);
}

void ClientInput::note_read(const Result<size_t>& outcome) {
  if (outcome && *outcome > 0) {
    before_latest_ = bytes().size();
    latest_ = early_since_ ? *std::exchange(early_since_, std::nullopt) : clock_.next_moment();
    if (before_latest_ == 0) arrived_ = latest_;
    buffer_.append(std::string_view(scratch_area().data(), *outcome));
    return;
  }
  if (outcome) {
    end_ = End::Closed;
  } else if (outcome.error().kind == ErrorKind::TimedOut || outcome.error().kind == ErrorKind::Cancelled) {
    return;
  } else {
    end_ = End::Broken;
    broken_ = outcome.error();
  }
  presence_->gone.store(true, std::memory_order_release);
  wake_watcher();
}

void ClientInput::wake_watcher() {
  if (watcher_ != nullptr) watcher_->signal(watcher_bits_);
}

}  // namespace armgate::net
