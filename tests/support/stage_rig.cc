#include "tests/support/stage_rig.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "proxy/async/spawn.h"
#include "proxy/request/operation/restore.h"
#include "tests/support/shipped_rules.h"

namespace armgate::world {
namespace {

class TextBody final : public BodySource {
 public:
  // Breaks off where `text` ends, or is whole then.
  TextBody(std::string text, size_t piece_bytes, bool breaks)
      : text_(std::move(text)), rest_(text_), piece_bytes_(piece_bytes), breaks_(breaks) {}
  Task<Result<std::string_view>> read() override {
    const std::string_view piece = rest_.substr(0, piece_bytes_);
    rest_.remove_prefix(piece.size());
    if (piece.empty() && breaks_) co_return upstream_error(ErrorKind::Reset, Sent::Answered, "the script says so");
    co_return piece;
  }
  bool ended() const override { return rest_.empty() && !breaks_; }

 private:
  const std::string text_;
  std::string_view rest_;
  const size_t piece_bytes_;
  const bool breaks_;
};

}  // namespace

std::shared_ptr<const rules::Ruleset> shipped_ruleset(const std::function<void(rules::Rule&)>& change) {
  rules::FaultList faults;
  rules::RuleBook all = shipped_rules(faults);
  if (change) std::for_each(all.rules.begin(), all.rules.end(), change);
  return std::make_shared<const rules::Ruleset>(std::move(all.rules), std::move(all.errors), std::move(all.queue_timeouts),
                                                rules::share(std::move(all.facts)));
}

void begin_exchange(Exchange& exchange, const std::string& client, std::string_view method_and_target, std::string body,
                    arm::Headers fields, Moment arrived) {
  const size_t space = method_and_target.find(' ');
  arm::RequestHead& head = exchange.request.head;
  head.method_token = std::string(method_and_target.substr(0, space));
  head.method = arm::method_of(head.method_token);
  head.target = std::string(method_and_target.substr(space + 1));
  head.host = "management.azure.com";
  head.fields = std::move(fields);
  if (!head.fields.has("authorization")) head.fields.add("Authorization", "Bearer of-" + client);
  exchange.request.body = std::move(body);
  exchange.arrived = arrived;
}

Task<bool> ScriptedUpstream::wait_for_connection(const SendLimits& limits) {
  if (limits.gate != nullptr && !limits.gate->may_wait()) co_return false;
  const Executor executor = co_await current_executor();
  const TimePoint due = std::min(clock_.now() + connects, limits.begin_by);
  Waiter own(executor);
  Waiter* waiter = limits.gate == nullptr ? nullptr : limits.gate->waiter();
  if (waiter == nullptr) waiter = &own;
  const auto timer = clock_.call_at(executor, due, [waiter] { waiter->signal(1u << 16); });
  while (clock_.now() < due) {
    if (limits.gate != nullptr && !limits.gate->may_wait()) co_return false;
    co_await waiter->wait();
  }
  co_return true;
}

Task<bool> ScriptedUpstream::wait_for_answer(Duration takes, const SendLimits& limits) {
  const TimePoint due = std::min(clock_.now() + takes, limits.answered_by());
  const bool looks = limits.gate != nullptr && limits.gate->may_be_given_up();
  while (looks && clock_.now() + kLookForAsker < due) {
    co_await clock_.sleep_until(clock_.now() + kLookForAsker);
    if (!limits.gate->is_awaited()) co_return false;
  }
  co_await clock_.sleep_until(due);
  co_return true;
}

Task<Result<UpstreamAnswer>> ScriptedUpstream::send(const arm::Request& request, SendLimits limits) {
  bool has_turn = true;
  if (connects > Duration{}) has_turn = co_await wait_for_connection(limits);
  if (!has_turn) co_return may_not_begin();
  if (clock_.now() >= limits.begin_by) co_return upstream_error(ErrorKind::TimedOut, Sent::No, "no connection in time");
  if (!limits.begin(clock_.now())) co_return may_not_begin();
  const std::string line = request.head.method_token + " " + request.head.target;
  if (steps.empty() && otherwise) steps.push_back(otherwise(request));
  if (steps.empty()) {
    ADD_FAILURE() << "nothing more was expected, but ARM got " << line;
    co_return upstream_error(ErrorKind::Reset, Sent::Maybe, "the script is over");
  }
  Step step = std::move(steps.front());
  steps.pop_front();
  EXPECT_TRUE(line.starts_with(step.expected)) << "expected " << step.expected << " but ARM got " << line;
  seen.push_back(request);
  bool is_awaited = true;
  if (step.takes > Duration{}) is_awaited = co_await wait_for_answer(step.takes, limits);
  if (!is_awaited) co_return given_up();
  if (clock_.now() >= limits.answered_by()) co_return upstream_error(ErrorKind::TimedOut, Sent::Maybe, "no answer in time");
  if (step.failure) co_return *step.failure;
  UpstreamAnswer answer;
  answer.head.status = step.status;
  answer.head.fields = std::move(step.fields);
  const bool has_content = step.status != 204 && step.status != 304 && request.head.method != arm::Method::Head;
  if (has_content && !step.chunked) answer.length = {BodyLength::Kind::Known, step.body.size()};
  if (has_content && step.chunked) answer.length.kind = BodyLength::Kind::Unknown;
  std::string body = has_content ? std::move(step.body) : std::string();
  if (step.breaks_at) body.resize(std::min(body.size(), *step.breaks_at));
  answer.body = std::make_unique<TextBody>(std::move(body), step.piece_bytes, step.breaks_at.has_value());
  co_return std::move(answer);
}

PipelineOptions StageRig::default_options() {
  PipelineOptions options;
  options.clients["one"].actors = policy::Actors::Single;
  options.clients["two"].actors = policy::Actors::Single;
  return options;
}

StageRig::StageRig(PipelineOptions options, Budgets::Options budgets)
    : StageRig(std::move(options), budgets, std::make_unique<MemoryStore>()) {}

StageRig::StageRig(SimJournal& journal, PipelineOptions options)
    : StageRig(std::move(options), {}, std::make_unique<SimStore>(journal, [] { return false; })) {
  take_up(journal);
}

void StageRig::take_up(const SimJournal& journal) {
  if (!journal.is_new()) restore(parts_, journal.previous_process(shared_.resources.limits().observation_age));
}

StageRig::StageRig(PipelineOptions options, const Budgets::Options& budgets, std::unique_ptr<Store> store)
    : clock_(loop_, 1),
      upstream_(clock_),
      shared_(
          SharedState::Options{.pipeline = std::move(options), .clients = {}, .resources = {}, .locks = {}, .budgets = budgets},
          Hasher(HashKey{1, 2}), shipped_ruleset()),
      store_(std::move(store)),
      parts_{shared_, clock_, upstream_, *store_, faults_, rng_, loop_.get_executor(), {}, {}},
      pipeline_(parts_) {
  shared_.begin(clock_);
  parts_.alert = [this](const std::string& message) { loud_.push_back(message); };
  parts_.report_finding = [this](const ObserveFinding& finding) { findings_.push_back(finding); };
}

void StageRig::arm(std::string expected, int status, arm::Headers fields, std::string body) {
  arm_takes(Duration{}, std::move(expected), status, std::move(fields), std::move(body));
}

void StageRig::arm_takes(Duration duration, std::string expected, int status, arm::Headers fields, std::string body) {
  Step step;
  step.expected = std::move(expected);
  step.status = status;
  step.fields = std::move(fields);
  step.body = std::move(body);
  step.takes = duration;
  upstream_.steps.push_back(std::move(step));
}

void StageRig::arm_fails(std::string expected, Sent sent) {
  Step step;
  step.expected = std::move(expected);
  step.failure = upstream_error(sent == Sent::No ? ErrorKind::Unreachable : ErrorKind::Reset, sent, "the script says so");
  upstream_.steps.push_back(std::move(step));
}

void StageRig::arm_breaks_off(std::string expected, int status, std::string body, size_t arrives, arm::Headers fields) {
  Step step;
  step.expected = std::move(expected);
  step.status = status;
  step.fields = std::move(fields);
  step.body = std::move(body);
  step.breaks_at = arrives;
  upstream_.steps.push_back(std::move(step));
}

Task<void> StageRig::serve(Pipeline& pipeline, std::shared_ptr<Running> running) {
  running->receipt = co_await pipeline.serve(running->link->exchange, *running->link);
  running->done = true;
}

std::shared_ptr<StageRig::Running> StageRig::start(const std::string& client, std::string_view method_and_target,
                                                   std::string body, arm::Headers fields) {
  auto running = std::make_shared<Running>();
  running->link = std::make_unique<SimLink>(clock_, loop_.get_executor());
  Exchange& exchange = running->link->exchange;
  begin_exchange(exchange, client, method_and_target, std::move(body), std::move(fields), clock_.next_moment());
  exchange.from = {++connections_, client, "127.0.0.1"};
  exchange.executor = loop_.get_executor();
  spawn(loop_.get_executor(), serve(pipeline_, running));
  return running;
}

void StageRig::run_until(const std::function<bool()>& condition) {
  clock_.settle();
  while (!condition()) {
    if (!clock_.step()) {
      ADD_FAILURE() << "nothing happens any more";
      return;
    }
  }
}

void StageRig::set_mode(rules::Mode mode) { shared_.use(shipped_ruleset(), mode, clock_); }
void StageRig::change_rules(const std::function<void(rules::Rule&)>& change) {
  shared_.rules.replace(shipped_ruleset(change), rules::Mode::Protect);
}

void StageRig::pass(Duration duration) {
  bool over = false;
  clock_.at(clock_.now() + duration, [&over] { over = true; });
  run_until([&over] { return over; });
  clock_.settle();
}

arm::Response StageRig::ask(const std::string& client, std::string_view method_and_target, std::string body,
                            arm::Headers fields, Arrived arrived) {
  const auto running = start(client, method_and_target, std::move(body), std::move(fields));
  run_until([&] { return running->done; });
  if (arrived == Arrived::Confirmed) running->receipt.confirm();
  return running->link->answer();
}

std::string_view StageRig::sent_field(size_t index, std::string_view name) const {
  if (index >= upstream_.seen.size()) return "(not sent)";
  return upstream_.seen[index].head.fields.get(name);
}

}  // namespace armgate::world
