#include "proxy/journal/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <set>
#include <utility>

#include "proxy/async/waiter.h"

namespace armgate::journal {
namespace {

constexpr std::chrono::seconds kTryAgain{1};  // while the file cannot be written
constexpr std::chrono::milliseconds kGather{1};
constexpr size_t kLookForOldest = 1'000;  // records between two looks
constexpr uint32_t kWritten = 1;
constexpr uint32_t kTooLate = 2;

}  // namespace

class Journal::Pending {
 public:
  explicit Pending(const Executor& executor) : waiter(executor) {}
  Waiter waiter;
  std::atomic<bool> failed{false};

  void fail() {
    failed.store(true, std::memory_order_release);
    waiter.signal(kWritten);
  }

  // By the writer thread: false if nobody waits any more; then it is not written.
  bool take() { return move_to(State::Taken); }
  // By whoever waited: false if it is being written.
  bool abandon() { return move_to(State::Abandoned); }

 private:
  enum class State { Waiting, Taken, Abandoned };
  bool move_to(State next) {
    State expected = State::Waiting;
    return state_.compare_exchange_strong(expected, next) || expected == next;
  }
  std::atomic<State> state_{State::Waiting};
};

Result<std::unique_ptr<Journal>> Journal::open(Options options, Clock& clock, HashKey fresh_key, Alert alert,
                                               NameMembers name_members) {
  auto file = JournalFile::open(options.file, options.durability, fresh_key);
  if (!file) return std::move(file).error();
  std::optional<PreviousProcess> former;
  IntentId before = 0;
  if (!file->is_new()) {
    auto read = file->previous_process(options.recent, clock.wall());
    if (!read) return std::move(read).error();
    former = *std::move(read);
    const auto last = file->last_id();
    if (!last) return last.error();
    before = *last;
  }
  std::unique_ptr<Journal> journal(
      new Journal(std::move(options), clock, *std::move(file), std::move(alert), std::move(name_members)));
  journal->previous_process_ = std::move(former);
  journal->before_ = before;
  journal->writer_ = std::thread([owner = journal.get()] { owner->write_until_closed(); });
  return journal;
}

Journal::Journal(Options options, Clock& clock, JournalFile file, Alert alert, NameMembers name_members)
    : options_(std::move(options)),
      clock_(clock),
      alert_(std::move(alert)),
      name_members_(std::move(name_members)),
      key_(file.key()),
      crowded_(options_.queue_max),
      file_(std::move(file)),
      written_(kLookForOldest) {}

Journal::~Journal() { close(); }

void Journal::close() {
  if (!writer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    // Nobody is to send anything any more.
    std::erase_if(queue_, [](const Entry& entry) {
      const auto* const intent = std::get_if<Intent>(&entry);
      if (intent != nullptr) intent->pending->fail();
      return intent != nullptr;
    });
  }
  wake_.notify_one();
  writer_.join();
}

bool Journal::enqueue(Entry entry) {
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    const bool is_awaited = std::holds_alternative<Intent>(entry);
    if (is_awaited && queue_.size() >= options_.queue_max) return false;
    if (is_awaited) ++awaited_;
    queue_.push_back(std::move(entry));
    make_room();
    wakes = is_awaited || asleep_;
  }
  if (wakes) wake_.notify_one();
  return true;
}

// Requires: the mutex is held. Beyond the bound goes what can be done without: counts of replays, and all but a resource's last
// state. Outcomes and ends stay: there are no more of them than intents. What is left is looked through again when it has
// doubled.
void Journal::make_room() {
  if (queue_.size() <= crowded_) return;
  std::set<std::string, std::less<>> seen;
  std::deque<Entry> left;
  for (auto entry = queue_.rbegin(); entry != queue_.rend(); ++entry) {
    const auto* const state = std::get_if<ResourceState>(&*entry);
    const bool goes = std::holds_alternative<Replay>(*entry) || (state != nullptr && !seen.insert(state->resource).second);
    if (!goes) left.push_front(std::move(*entry));
  }
  queue_ = std::move(left);
  crowded_ = std::max(options_.queue_max, 2 * queue_.size());
}

size_t Journal::queued() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

Task<Result<IntentId>> Journal::record_intent(const IntentRecord& record) {
  JournaledWrite write;
  write.id = before_ + record.started.order;
  describe(record, write);
  const IntentId id = write.id;
  const auto pending = std::make_shared<Pending>(record.executor);
  if (!enqueue(Intent{std::move(write), pending})) {
    co_return gateway_error(ErrorKind::TooLarge, "too many records wait for the journal");
  }
  const auto timer = clock_.call_at(record.executor, clock_.now() + options_.write_max,
                                    [late = pending.get()] { late->waiter.signal(kTooLate); });
  const uint32_t what = co_await pending->waiter.wait();
  if ((what & kWritten) == 0) {
    note_late();  // before the writer can find that it has nothing to write
    if (!pending->abandon()) {
      WriteOutcome never_sent;
      never_sent.kind = OutcomeKind::NotSent;
      never_sent.known = clock_.wall();
      enqueue(OutcomeRecord{id, never_sent});
    }
    co_return gateway_error(ErrorKind::TimedOut, "the journal is not written in time");
  }
  if (pending->failed.load(std::memory_order_acquire)) {
    co_return gateway_error(ErrorKind::Internal, "the journal cannot be written");
  }
  under_way_.begin(id, record.method, record.resource, record.client_label);
  co_return id;
}

void Journal::record_outcome(IntentId id, const WriteOutcome& outcome) {
  under_way_.forget(id);
  enqueue(OutcomeRecord{id, outcome});
}

void Journal::record_end(IntentId id, WallTime when, EndSeen seen, const OperationResult& result) {
  enqueue(End{id, when, seen, result});
}

// Waking this thread costs more than a record. So what nobody waits for lies for a moment, to go along with what somebody does.
std::deque<Journal::Entry> Journal::gather() {
  std::unique_lock lock(mutex_);
  const auto is_awaited = [this] { return awaited_ > 0 || closing_; };
  if (fails_) {
    wake_.wait_for(lock, kTryAgain, [this] { return closing_; });
  } else if (!wake_.wait_for(lock, kGather, is_awaited) && queue_.empty()) {
    asleep_ = true;
    wake_.wait(lock, [this] { return !queue_.empty() || closing_ || !writable(); });
    asleep_ = false;
    wake_.wait_for(lock, kGather, is_awaited);
  }
  awaited_ = 0;
  crowded_ = options_.queue_max;
  return std::exchange(queue_, {});
}

void Journal::write_until_closed() {
  while (true) {
    std::deque<Entry> entries = gather();
    if (!entries.empty() || !writable()) {
      const auto written = write(entries);
      finish(std::move(entries), written);
    }
    const std::lock_guard lock(mutex_);
    const bool has_more = !queue_.empty() && !fails_;  // what cannot be written was tried often enough
    if (closing_ && !has_more) return;
  }
}

Result<void> Journal::write(const Entry& entry) {
  if (const auto* intent = std::get_if<Intent>(&entry)) {
    return intent->pending->take() ? file_.add(intent->write) : Result<void>();
  }
  if (const auto* outcome = std::get_if<OutcomeRecord>(&entry)) return write(*outcome);
  if (const auto* state = std::get_if<ResourceState>(&entry)) return file_.set_state(*state);
  if (const auto* replay = std::get_if<Replay>(&entry)) return file_.count_replay(replay->id);
  const End& end = std::get<End>(entry);
  return file_.set_end(end.id, end.when, end.seen, end.result);
}

Result<void> Journal::write(const OutcomeRecord& outcome) {
  if (auto set = file_.set_outcome(outcome.id, outcome.outcome); !set || !name_members_) return set;
  const auto touched = name_members_(outcome.outcome.change);
  return touched ? file_.set_touched(outcome.id, *touched) : Result<void>();
}

Result<void> Journal::write(const std::deque<Entry>& entries) {
  if (auto begun = file_.begin(); !begun) return begun;
  Result<void> written;
  for (const Entry& entry : entries) {
    written = write(entry);
    if (!written) break;
  }
  written_ += entries.size();
  if (written && written_ >= kLookForOldest) {
    written_ = 0;
    written = file_.keep_at_most(options_.records_max);
  }
  // A write that gave up waiting left nothing here, and none may come: only what is written proves that it can be.
  if (written && !writable()) written = file_.rewrite_version();
  if (written) written = file_.commit();
  if (!written) file_.roll_back();
  return written;
}

// A disk that hangs gives no error. The writer may be free again: then it is to look whether it can write.
void Journal::note_late() {
  {
    const std::lock_guard lock(mutex_);
    if (unwritable_.exchange(true)) return;
    alert(fmt::format(
        "the journal {} is not written in time: its disk hangs, or is too slow; until it is written again no write is sent",
        options_.file.string()));
  }
  wake_.notify_one();
}

void Journal::note_result(const Result<void>& written) {
  const std::lock_guard lock(mutex_);
  const bool failed_before = std::exchange(fails_, !written.ok());
  const bool was_unwritable = unwritable_.exchange(fails_);
  if (fails_ && !failed_before)
    alert(fmt::format("{}; until it can be written again no write is sent", written.error().context));
  if (!fails_ && was_unwritable) alert("the journal is written again");
}

// Requires: the mutex is held, so that what is told last is true.
void Journal::alert(const std::string& message) const {
  if (alert_) alert_(message);
}

void Journal::finish(std::deque<Entry> entries, const Result<void>& written) {
  note_result(written);
  std::deque<Entry> left;
  for (Entry& entry : entries) {
    if (const auto* intent = std::get_if<Intent>(&entry)) {
      intent->pending->failed.store(fails_, std::memory_order_release);
      intent->pending->waiter.signal(kWritten);
    } else if (fails_) {
      left.push_back(std::move(entry));
    }
  }
  if (left.empty()) return;
  const std::lock_guard lock(mutex_);
  queue_.insert(queue_.begin(), std::make_move_iterator(left.begin()), std::make_move_iterator(left.end()));
  make_room();
}

}  // namespace armgate::journal
