// journal.h – the Store that outlives the process: the journal file, written by a thread of its own.
//
// A write waits until its intent is in the file; all that came meanwhile goes with it in one transaction. Outcomes and ends
// wait for nobody. While the file cannot be written, intents fail, so that nothing is sent, and outcomes are kept for the next
// try. It is tried once a second, also if nobody wants to write.
// Threads   any; close() and the destructor the owner's, the latter when nobody waits for a record any more.
// Limits    Options.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "proxy/journal/journal_file.h"
#include "proxy/seams/clock.h"
#include "proxy/state/memory_store.h"

namespace armgate::journal {

class Journal final : public Store {
 public:
  struct Options {
    std::filesystem::path file;
    Durability durability = Durability::Process;
    Duration write_max = std::chrono::seconds(5);  // how long a write waits for its record
    size_t records_max = 100'000;
    size_t queue_max = 10'000;                 // records that wait for being written; then intents fail, and make_room()
    Duration recent = std::chrono::hours(12);  // how far previous_process() looks back
  };
  // The members that a write changed, one a line; nothing: not known. Called on the writer's thread.
  using NameMembers = std::function<std::optional<std::string>(const AskedChange& change)>;
  // An operator should know. Any thread; must not wait, and not call the journal.
  using Alert = std::function<void(const std::string& message)>;

  // Errors as of JournalFile::open.
  static Result<std::unique_ptr<Journal>> open(Options options, Clock& clock, HashKey fresh_key, Alert alert,
                                               NameMembers name_members = {});
  ~Journal() override;

  // Writes what is left, waits for it, and refuses what has not been begun: nobody is to send anything any more. Called once.
  void close();

  HashKey key() const { return key_; }
  // Of the processes that had the file before; nothing if it is new.
  const std::optional<PreviousProcess>& previous_process() const { return previous_process_; }

  Task<Result<IntentId>> record_intent(const IntentRecord& record) override;
  void record_outcome(IntentId id, const WriteOutcome& outcome) override;
  void record_end(IntentId id, WallTime when, EndSeen seen, const OperationResult& result) override;
  void record_replay(IntentId id) override { enqueue(Replay{id}); }
  void record_state(const ResourceState& state) override { enqueue(state); }
  bool writable() const override { return !unwritable_.load(std::memory_order_relaxed); }
  std::vector<Unfinished> unfinished() const override { return under_way_.unfinished(); }
  size_t queued() const;  // records that wait for being written
  size_t unfinished_count() const override { return under_way_.unfinished_count(); }

 private:
  class Pending;  // whoever waits for a record
  struct Intent {
    JournaledWrite write;
    std::shared_ptr<Pending> pending;
  };
  struct OutcomeRecord {
    IntentId id;
    WriteOutcome outcome;
  };
  struct End {
    IntentId id;
    WallTime when;
    EndSeen seen;
    OperationResult result;
  };
  struct Replay {
    IntentId id;
  };
  using Entry = std::variant<Intent, OutcomeRecord, End, Replay, ResourceState>;

  Journal(Options options, Clock& clock, JournalFile file, Alert alert, NameMembers name_members);
  bool enqueue(Entry entry);  // false: there is no room
  void make_room();
  std::deque<Entry> gather();
  void write_until_closed();
  Result<void> write(const std::deque<Entry>& entries);
  Result<void> write(const Entry& entry);
  Result<void> write(const OutcomeRecord& outcome);
  void finish(std::deque<Entry> entries, const Result<void>& written);
  void note_late();
  void note_result(const Result<void>& written);
  void alert(const std::string& message) const;

  const Options options_;
  Clock& clock_;
  const Alert alert_;
  const NameMembers name_members_;
  HashKey key_;
  std::optional<PreviousProcess> previous_process_;
  IntentId before_ = 0;  // the last id of earlier lives
  MemoryStore under_way_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Entry> queue_;              // with mutex_
  size_t crowded_;                       // with mutex_; of so many make_room() looks for what may go
  size_t awaited_ = 0;                   // with mutex_; of these, how many somebody waits for
  bool asleep_ = false;                  // with mutex_; until there is something at all
  bool closing_ = false;                 // with mutex_
  std::atomic<bool> unwritable_{false};  // changed with mutex_; it fails, or somebody waited for too long

  // The writer's own.
  JournalFile file_;
  bool fails_ = false;
  size_t written_;  // since the oldest were last looked for
  std::thread writer_;
};

}  // namespace armgate::journal
