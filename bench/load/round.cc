#include "bench/load/round.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>

#include "bench/load/workload.h"

namespace armgate::load {
namespace {

using Clock = std::chrono::steady_clock;
using Instant = Clock::time_point;

const char* name_of(Kind kind) { return kind == Kind::Get ? "get" : kind == Kind::Put ? "put" : "rmw"; }

// One connection and the operation on it.
struct Lane {
  Lane(const Route& route, size_t which) : connection(route, which), number(which) {}
  Connection connection;
  const size_t number;
  Operation operation;
  bool busy = false;
  bool reading = false;  // the first half of a read-modify-write
  Instant due;           // when the operation should have begun: latency counts from here
  Instant began;         // the request on the wire
};

class Round {
 public:
  Round(const LoadOptions& options, const Target& target, const Route& route, uint64_t seed)
      : options_(options),
        target_(target),
        route_(route),
        workload_(options, route.authority, seed),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  ~Round() { ::close(epoll_); }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  Result<RoundResult> run(const std::function<void(const Snapshot&)>& on_progress);

 private:
  bool is_open_loop() const { return options_.rate > 0; }
  bool is_measured(Instant when) const { return when >= measure_from_ && when < measure_to_; }
  void start_due(Instant now);
  void start(Lane& lane, Instant due);
  void send(Lane& lane, const std::string& request, arm::Method method, KeepBody keep);
  void go_on(Lane& lane);
  void request_ended(Lane& lane, Connection::Progress how);
  void operation_ended(Lane& lane, Instant now);
  void wait_for_events(Instant until);
  void end_late_ones(Instant now);
  void measure(Instant now);
  Instant next_due() const;

  const LoadOptions& options_;
  const Target& target_;
  const Route& route_;
  Workload workload_;
  const int epoll_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Lane*> idle_;
  std::deque<Instant> waiting_;  // open loop: due, and no connection was free
  Instant begin_, measure_from_, measure_to_;
  uint64_t scheduled_ = 0;
  size_t busy_ = 0;
  std::optional<ProcessMeter> meter_;
  std::optional<ProcessCost> cost_before_;
  bool measured_ = false;
  Instant really_from_;
  uint64_t all_operations_ = 0;
  uint64_t all_unsuccessful_ = 0;
  RoundResult result_;
};

void Round::send(Lane& lane, const std::string& request, arm::Method method, KeepBody keep) {
  lane.began = Clock::now();
  lane.connection.begin(request, method, keep);
  const auto opened = lane.connection.ensure_open();
  if (!opened) {
    ++result_.failures[opened.error().context];
    request_ended(lane, Connection::Progress::Failed);
    return;
  }
  if (*opened) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLET;
    event.data.u64 = lane.number;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, lane.connection.socket(), &event);
  }
  go_on(lane);
}

void Round::start(Lane& lane, Instant due) {
  lane.busy = true;
  ++busy_;
  lane.due = due;
  lane.operation = workload_.next(lane.number);
  lane.reading = lane.operation.kind == Kind::Update;
  if (lane.operation.kind == Kind::Put)
    return send(lane, workload_.put_request(lane.operation), arm::Method::Put, KeepBody::No);
  send(lane, workload_.get_request(lane.operation), arm::Method::Get, lane.reading ? KeepBody::Yes : KeepBody::No);
}

void Round::go_on(Lane& lane) {
  if (!lane.busy) return;
  const auto progress = lane.connection.advance();
  if (progress == Connection::Progress::Failed) ++result_.failures[lane.connection.failure()];
  if (progress != Connection::Progress::Working) request_ended(lane, progress);
}

void Round::request_ended(Lane& lane, Connection::Progress how) {
  const auto now = Clock::now();
  const int status = how == Connection::Progress::Done ? lane.connection.status() : 0;
  if (!arm::is_success(status)) ++all_unsuccessful_;
  if (is_measured(lane.due)) ++result_.statuses[status];
  if (is_measured(now)) {
    ++result_.requests;
    result_.body_bytes += status == 0 ? 0 : lane.connection.body_bytes();
  }
  if (how == Connection::Progress::Done && !lane.connection.can_continue()) lane.connection.close();
  if (lane.reading && status == 200) {
    lane.reading = false;
    const std::string read = lane.connection.body();
    if (const auto* request = workload_.update_request(lane.operation, read)) {
      return send(lane, *request, arm::Method::Put, KeepBody::No);
    }
    ++result_.failures["what was read for a read-modify-write is no JSON object"];
  }
  operation_ended(lane, now);
}

void Round::operation_ended(Lane& lane, Instant now) {
  lane.busy = false;
  --busy_;
  ++all_operations_;
  if (options_.reuse == Connections::New) lane.connection.close();
  if (is_measured(lane.due)) {
    result_.all.record(now - lane.due);
    result_.latency[name_of(lane.operation.kind)].record(now - lane.due);
  }
  if (is_measured(now)) {
    ++result_.operations;
    const auto second = static_cast<size_t>(std::chrono::duration_cast<std::chrono::seconds>(now - measure_from_).count());
    if (result_.per_second.size() <= second) result_.per_second.resize(second + 1);
    ++result_.per_second[second];
  }
  idle_.push_back(&lane);
}

Instant Round::next_due() const {
  return begin_ + std::chrono::duration_cast<Clock::duration>(
                      std::chrono::duration<double>(static_cast<double>(scheduled_) / options_.rate));
}

void Round::start_due(Instant now) {
  if (now < measure_to_ && is_open_loop()) {
    for (; next_due() <= now; ++scheduled_) waiting_.push_back(next_due());
  }
  // What fails at once comes back idle at once, so that a pass takes each connection at most once.
  for (size_t left = idle_.size(); left > 0 && !idle_.empty(); --left) {
    if (is_open_loop() ? waiting_.empty() : now >= measure_to_) return;
    Lane& lane = *idle_.back();
    idle_.pop_back();
    Instant due = now;
    if (is_open_loop()) {
      due = waiting_.front();
      waiting_.pop_front();
    }
    start(lane, due);
  }
}

void Round::wait_for_events(Instant until) {
  static constexpr int kEvents = 256;
  std::array<epoll_event, kEvents> events;
  const auto wait = std::max(Clock::duration::zero(), until - Clock::now());
  timespec timeout{};
  timeout.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(wait).count();
  timeout.tv_nsec = (wait % std::chrono::seconds(1)).count();
  const int count = ::epoll_pwait2(epoll_, events.data(), kEvents, &timeout, nullptr);
  for (int i = 0; i < count; ++i) go_on(*lanes_[events[static_cast<size_t>(i)].data.u64]);
}

void Round::end_late_ones(Instant now) {
  for (auto& lane : lanes_) {
    if (!lane->busy || now - lane->began < options_.timeout) continue;
    lane->connection.close();
    ++result_.failures["no answer within the timeout"];
    request_ended(*lane, Connection::Progress::Failed);
  }
}

// Takes the process's counters at the beginning and at the end of the measured time.
void Round::measure(Instant now) {
  if (!cost_before_ && now >= measure_from_) {
    cost_before_ = meter_ ? meter_->read() : ProcessCost{};
    really_from_ = now;
  }
  if (measured_ || now < measure_to_) return;
  measured_ = true;
  result_.seconds = std::chrono::duration<double>(now - really_from_).count();
  if (!meter_) return;
  const ProcessCost after = meter_->read();
  result_.cpu_user_us = after.user_us - cost_before_->user_us;
  result_.cpu_system_us = after.system_us - cost_before_->system_us;
  result_.instructions = after.instructions - cost_before_->instructions;
  result_.user_instructions = after.user_instructions - cost_before_->user_instructions;
  result_.resident_kb = meter_->resident_kb();
}

Result<RoundResult> Round::run(const std::function<void(const Snapshot&)>& on_progress) {
  if (target_.pid != 0) {
    auto meter = ProcessMeter::open(target_.pid);
    if (!meter) return meter.error();
    meter_.emplace(*std::move(meter));
  }
  for (size_t i = 0; i < options_.connections; ++i) {
    lanes_.push_back(std::make_unique<Lane>(route_, i));
    idle_.push_back(lanes_.back().get());
  }
  begin_ = Clock::now();
  measure_from_ = begin_ + options_.warm_up;
  measure_to_ = measure_from_ + options_.duration;
  Instant next_look = begin_;
  for (Instant now = begin_; now < measure_to_ || busy_ > 0 || !waiting_.empty(); now = Clock::now()) {
    measure(now);
    start_due(now);
    if (now >= next_look) {
      end_late_ones(now);
      on_progress({std::chrono::duration<double>(now - begin_).count(), all_operations_, all_unsuccessful_});
      next_look = now + std::chrono::milliseconds(250);
    }
    if (now > measure_to_ + options_.timeout) break;
    Instant until = next_look;
    if (now < measure_to_) until = std::min(until, now < measure_from_ ? measure_from_ : measure_to_);
    if (is_open_loop() && now < measure_to_) until = std::min(until, next_due());
    const bool has_more_to_start = !idle_.empty() && (is_open_loop() ? !waiting_.empty() : now < measure_to_);
    wait_for_events(has_more_to_start ? now : until);
  }
  measure(Clock::now());
  result_.not_ended = busy_ + waiting_.size();
  // What never ended has waited this long at least; left out, it would make the percentiles better.
  for (const Instant due : waiting_) result_.all.record(Clock::now() - due);
  for (const auto& lane : lanes_) {
    if (lane->busy && is_measured(lane->due)) result_.all.record(Clock::now() - lane->due);
  }
  return std::move(result_);
}

}  // namespace

uint64_t RoundResult::unsuccessful() const {
  uint64_t count = 0;
  for (const auto& [status, times] : statuses) count += arm::is_success(status) ? 0 : times;
  return count;
}

Result<RoundResult> run_round(const LoadOptions& options, const Target& target, const Route& route, uint64_t seed,
                              const std::function<void(const Snapshot&)>& on_progress) {
  return Round(options, target, route, seed).run(on_progress);
}

}  // namespace armgate::load
