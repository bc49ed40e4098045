// moved_stream.h – a connection whose far end is the test.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "proxy/async/waiter.h"
#include "proxy/net/socket/byte_stream.h"
#include "proxy/seams/clock.h"

namespace armgate::net {

class MovedStream final : public ByteStream {
 public:
  MovedStream(Clock& clock, const Executor& executor) : clock_(clock), executor_(executor), news_(executor) {}

  Task<Result<size_t>> read_some(std::span<char> into, TimePoint deadline) override {
    const auto timer = clock_.call_at(executor_, deadline, [this] { news_.signal(1); });
    while (true) {
      if (closed || std::exchange(cancelled_, false)) co_return failure_of(ErrorKind::Cancelled);
      if (!to_read_.empty()) {
        const size_t count = to_read_.copy(into.data(), into.size());
        to_read_.erase(0, count);
        co_return count;
      }
      if (end_ != StreamEnd::Open) co_return size_t{0};  // what came first is read first
      if (broken_) co_return failure_of(ErrorKind::Reset);
      if (clock_.now() >= deadline) co_return failure_of(ErrorKind::TimedOut);
      co_await news_.wait();
    }
  }
  Task<Result<void>> write_all(std::span<const std::string_view> pieces, TimePoint) override {
    if (takes_nothing) co_return failure_of(ErrorKind::TimedOut);
    for (const auto piece : pieces) written += piece;
    ++writes;
    co_return Result<void>{};
  }
  Task<void> shutdown(TimePoint) override {
    has_ended_writing = true;
    co_return;
  }
  void cancel_read() override {
    cancelled_ = true;
    news_.signal(1);
  }
  bool tell_readable(std::function<void()>) override { return true; }
  void close() override {
    closed = true;
    news_.signal(1);
  }
  StreamEnd end() const override { return end_; }
  size_t unacknowledged() const override { return written.size() - std::min(acknowledged, written.size()); }
  uint64_t bytes_written() const override { return written.size(); }
  bool has_input() const override { return !to_read_.empty() || end_ != StreamEnd::Open || broken_ || half_a_record; }
  bool is_quiet() override { return !has_input(); }
  bool is_broken() const override { return broken_; }
  void acknowledge_now() override { ++acknowledgements; }

  void send(std::string_view text) {
    to_read_ += text;
    news_.signal(1);
  }
  void leave() {
    end_ = StreamEnd::Notified;
    news_.signal(1);
  }
  void break_off() {
    broken_ = true;
    news_.signal(1);
  }

  std::string written;
  int writes = 0;
  bool takes_nothing = false;  // a write that waits until its deadline
  size_t acknowledged = 0;
  int acknowledgements = 0;  // that were asked for
  bool has_ended_writing = false;
  bool closed = false;
  bool half_a_record = false;  // it came, and nothing can be read of it yet

 private:
  static Error failure_of(ErrorKind kind) { return {kind, ErrorSource::Client, Sent::No, "as the test wants it"}; }

  Clock& clock_;
  const Executor executor_;
  Waiter news_;
  std::string to_read_;
  StreamEnd end_ = StreamEnd::Open;
  bool broken_ = false;
  bool cancelled_ = false;
};

}  // namespace armgate::net
