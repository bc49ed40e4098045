#include "tests/support/world/sim_link.h"

namespace armgate::world {

Result<void> SimLink::state() const {
  if (leaving_ == Leaving::Reset) return client_error(ErrorKind::Reset, "the simulated client has left");
  return {};
}

Task<void> SimLink::take_time() {
  if (slowness_ > Duration{}) co_await clock_.sleep_for(slowness_);
  if (server_ != nullptr) co_await server_->until_it_runs();
}

Task<Result<void>> SimLink::write_head(const arm::ResponseHead& head, BodyLength length) {
  ++heads_;
  begun_ = clock_.now();
  promised_ = length;
  co_await take_time();
  answer_.head = head;
  co_return state();
}

Task<Result<void>> SimLink::write_body(std::string_view piece) {
  answer_.body.append(piece);
  co_await take_time();
  co_return state();
}

// That the last byte was written does not mean that it arrived.
Task<Result<void>> SimLink::finish() {
  ++ends_;
  if (auto written = state(); !written) co_return written;
  if (loses_answer_) {
    leave(Leaving::Reset);
  } else {
    complete_ = true;
    client_.signal(kEnded);
  }
  co_return Result<void>{};
}

void SimLink::watch(Waiter* waiter, uint32_t bits) {
  watcher_ = waiter;
  watcher_bits_ = bits;
  if (watcher_ != nullptr && gone()) watcher_->signal(watcher_bits_);
}

void SimLink::leave(Leaving how) {
  leaving_ = how;
  if (server_ == nullptr) {
    notice();
  } else {
    server_->when_it_runs([self = shared_from_this()] { self->notice(); });
  }
  if (how == Leaving::Reset) client_.signal(kEnded);
}

void SimLink::notice() {
  presence_->gone = true;
  if (watcher_ != nullptr) watcher_->signal(watcher_bits_);
}

void SimLink::close() {
  closing_ = true;
  if (watcher_ != nullptr) watcher_->signal(watcher_bits_);
}

bool SimLink::body_fits() const {
  return promised_.kind == BodyLength::Kind::Unknown || promised_.bytes == answer_.body.size();
}

}  // namespace armgate::world
