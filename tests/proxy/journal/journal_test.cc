#include "proxy/journal/journal.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <mutex>
#include <thread>

#include "proxy/async/spawn.h"
#include "proxy/seams/real_clock.h"
#include "tests/support/small_files.h"
#include "tests/support/temporary_directory.h"

namespace armgate::journal {
namespace {

constexpr HashKey kKey{1, 2};

class JournalTest : public testing::Test {
 protected:
  std::unique_ptr<Journal> open(Journal::Options options = {}) {
    options.file = directory_.path() / "journal.db";
    auto journal = Journal::open(std::move(options), clock_, kKey, [this](const std::string& message) {
      const std::lock_guard lock(mutex_);
      loud_.push_back(message);
    });
    EXPECT_TRUE(journal.ok()) << journal.error().context;
    return *std::move(journal);
  }
  static Task<void> intend(Store& store, Clock& clock, Executor executor, Result<IntentId>& id) {
    IntentRecord record;
    record.method = "PUT";
    record.resource = "/subscriptions/s";
    record.path = "/subscriptions/S";
    record.started = clock.next_moment();
    record.begun = clock.wall();
    record.executor = executor;
    id = co_await store.record_intent(record);
  }
  Result<IntentId> intend(Store& store) {
    boost::asio::io_context loop;
    Result<IntentId> id = IntentId{0};
    spawn(loop.get_executor(), intend(store, clock_, loop.get_executor(), id));
    loop.run();
    return id;
  }
  static Task<void> sleep(Clock& clock, Duration duration) { co_await clock.sleep_for(duration); }
  void pause(Duration duration) {
    boost::asio::io_context loop;
    spawn(loop.get_executor(), sleep(clock_, duration));
    loop.run();
  }
  std::vector<std::string> loud() {
    const std::lock_guard lock(mutex_);
    return loud_;
  }
  // As a full disk has it: nothing can be written any more, and then again.
  void run_elsewhere(const std::string& sql) {
    auto database = Database::open(directory_.path() / "journal.db", Database::Access::Write);
    ASSERT_TRUE(database.ok());
    const auto ran = database->run(sql);
    EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().context);
  }

  const TemporaryDirectory directory_;
  RealClock clock_;
  std::mutex mutex_;
  std::vector<std::string> loud_;
};

WriteOutcome done() {
  WriteOutcome outcome;
  outcome.status = 200;
  outcome.known = RealClock().wall();
  return outcome;
}

TEST_F(JournalTest, AnIntentIsInTheFileWhenItReturns) {
  const auto journal = open();
  EXPECT_EQ(journal->previous_process(), std::nullopt) << "nobody was there before";
  const auto id = intend(*journal);
  ASSERT_TRUE(id.ok());
  auto file = JournalFile::open_to_read(directory_.path() / "journal.db");
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(file->newest(10)->size(), 1u);
  EXPECT_EQ(file->newest(10)->at(0).id, *id);
  EXPECT_EQ(file->newest(10)->at(0).path, "/subscriptions/S");
  EXPECT_EQ(journal->unfinished_count(), 1u);
  EXPECT_EQ(journal->unfinished().at(0).resource, "/subscriptions/s");
}

TEST_F(JournalTest, TheNextProcessKnowsWhatWasOpenAndGivesHigherIds) {
  IntentId last = 0;
  {
    const auto journal = open();
    ASSERT_TRUE(intend(*journal).ok());
    const auto second = intend(*journal);
    last = *intend(*journal);
    journal->record_outcome(*second, done());
    EXPECT_EQ(journal->unfinished_count(), 2u);
  }
  RealClock young;  // counts from one again
  Journal::Options options;
  options.file = directory_.path() / "journal.db";
  auto journal = Journal::open(options, young, HashKey{9, 9}, {});
  ASSERT_TRUE(journal.ok()) << journal.error().context;
  EXPECT_EQ((*journal)->key().first, 1u) << "hashes of the first life are hashes of the second";
  ASSERT_TRUE((*journal)->previous_process().has_value());
  EXPECT_EQ((*journal)->previous_process()->open.size(), 2u);
  EXPECT_EQ((*journal)->previous_process()->recent.size(), 1u);
  EXPECT_EQ((*journal)->unfinished_count(), 0u) << "of this life there is none";
  boost::asio::io_context loop;
  Result<IntentId> id = IntentId{0};
  spawn(loop.get_executor(), intend(**journal, young, loop.get_executor(), id));
  loop.run();
  ASSERT_TRUE(id.ok());
  EXPECT_GT(*id, last);
}

TEST_F(JournalTest, WhatIsRecordedLastIsWrittenBeforeItEnds) {
  {
    const auto journal = open();
    const auto id = intend(*journal);
    WriteOutcome running = done();
    running.is_running = true;
    journal->record_outcome(*id, running);
    journal->record_end(*id, clock_.wall(), EndSeen::Yes, {arm::Progress::Failed, {"Bad", ""}});
    journal->record_state({"/subscriptions/s", "Failed", clock_.wall()});
  }
  EXPECT_TRUE(open()->previous_process()->open.empty());
  auto file = JournalFile::open_to_read(directory_.path() / "journal.db");
  EXPECT_EQ(file->newest(1)->at(0).result.error.code, "Bad");
  EXPECT_EQ((*file->state_of("/subscriptions/s"))->state, "Failed");
}

TEST_F(JournalTest, ItsOwnThreadNamesWhatAWriteChanged) {
  Journal::Options options;
  options.file = directory_.path() / "journal.db";
  std::thread::id namer;
  const auto name_members = [&namer](const AskedChange& change) {
    namer = std::this_thread::get_id();
    return change.creates ? std::optional<std::string>("/tags/a") : std::nullopt;
  };
  {
    auto journal = Journal::open(options, clock_, kKey, {}, name_members);
    ASSERT_TRUE(journal.ok());
    for (const bool creates : {false, true}) {
      WriteOutcome outcome = done();
      outcome.change.creates = creates;
      (*journal)->record_outcome(*intend(**journal), outcome);
    }
  }
  EXPECT_NE(namer, std::this_thread::get_id());
  const auto written = JournalFile::open_to_read(options.file)->newest(2);
  EXPECT_EQ(written->at(0).touched, "/tags/a");
  EXPECT_FALSE(written->at(1).touched.has_value());
}

TEST_F(JournalTest, ManyThreadsWriteAtOnce) {
  const auto journal = open();
  std::atomic<int> good{0};
  constexpr size_t kThreads = 4;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  while (threads.size() < kThreads) {
    threads.emplace_back([&] {
      boost::asio::io_context loop;
      std::vector<Result<IntentId>> ids(50, IntentId{0});
      for (auto& id : ids) spawn(loop.get_executor(), intend(*journal, clock_, loop.get_executor(), id));
      loop.run();
      for (auto& id : ids) {
        good += id.ok() ? 1 : 0;
        if (id.ok()) journal->record_outcome(*id, done());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good.load(), 200);
  EXPECT_EQ(journal->unfinished_count(), 0u);
}

TEST_F(JournalTest, WhileItCannotBeWrittenNothingIsSentAndOutcomesAreKept) {
  Journal::Options options;
  options.write_max = std::chrono::seconds(10);
  auto journal = open(options);
  const auto before = intend(*journal);
  ASSERT_TRUE(before.ok());
  run_elsewhere(
      "CREATE TRIGGER full BEFORE INSERT ON writes BEGIN SELECT RAISE(ABORT, 'no space left'); END;"
      "CREATE TRIGGER full2 BEFORE UPDATE ON writes BEGIN SELECT RAISE(ABORT, 'no space left'); END;");
  const auto refused = intend(*journal);
  ASSERT_FALSE(refused.ok());
  ASSERT_EQ(loud().size(), 1u);
  EXPECT_NE(loud()[0].find("no space left"), std::string::npos) << loud()[0];
  journal->record_outcome(*before, done());
  EXPECT_FALSE(intend(*journal).ok());
  EXPECT_EQ(loud().size(), 1u) << "said once";
  run_elsewhere("DROP TRIGGER full; DROP TRIGGER full2;");
  EXPECT_TRUE(intend(*journal).ok());
  EXPECT_EQ(loud().size(), 2u);
  journal.reset();
  const auto again = open();
  ASSERT_EQ(again->previous_process()->open.size(), 1u) << "the outcome of the first has arrived after all";
  EXPECT_NE(again->previous_process()->open[0].id, *before);
}

// A full disk may last for days.
TEST_F(JournalTest, WhileItCannotBeWrittenWhatNobodyWaitsForIsBounded) {
  Journal::Options options;
  options.write_max = std::chrono::seconds(10);
  options.queue_max = 100;
  auto journal = open(options);
  const auto before = intend(*journal);
  ASSERT_TRUE(before.ok());
  run_elsewhere(
      "CREATE TRIGGER full BEFORE INSERT ON states BEGIN SELECT RAISE(ABORT, 'no space left'); END;"
      "CREATE TRIGGER full2 BEFORE UPDATE ON writes BEGIN SELECT RAISE(ABORT, 'no space left'); END;");
  journal->record_outcome(*before, done());
  for (int i = 0; i < 5'000; ++i) {
    journal->record_replay(*before);
    journal->record_state({"/subscriptions/s", "Failed" + std::to_string(i), clock_.wall()});
    if (i % 500 == 0) pause(std::chrono::milliseconds(3));
    EXPECT_LE(journal->queued(), 202u);
  }
  pause(std::chrono::milliseconds(1500));  // it has tried again
  EXPECT_LE(journal->queued(), 202u);
  run_elsewhere("DROP TRIGGER full; DROP TRIGGER full2;");
  journal.reset();
  auto file = JournalFile::open_to_read(directory_.path() / "journal.db");
  EXPECT_TRUE(file->newest(1)->at(0).outcome.has_value()) << "what became of a write is kept";
  EXPECT_EQ((*file->state_of("/subscriptions/s"))->state, "Failed4999");
}

TEST_F(JournalTest, AWriterThatCannotKeepUpRefusesInTime) {
  Journal::Options options;
  options.write_max = std::chrono::milliseconds(200);
  auto journal = open(options);
  {
    auto other = Database::open(directory_.path() / "journal.db", Database::Access::Write);
    ASSERT_TRUE(other->run("BEGIN IMMEDIATE").ok());  // for less long than SQLite waits for it
    const auto late = intend(*journal);
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error().kind, ErrorKind::TimedOut);
    EXPECT_EQ(journal->unfinished_count(), 0u);
    EXPECT_FALSE(journal->writable()) << "a disk that hangs gives no error";
    ASSERT_EQ(loud().size(), 1u);
    EXPECT_NE(loud()[0].find("is not written in time"), std::string::npos) << loud()[0];
    EXPECT_FALSE(intend(*journal).ok());
    EXPECT_EQ(loud().size(), 1u) << "said once";
    ASSERT_TRUE(other->run("ROLLBACK").ok());
  }
  EXPECT_TRUE(intend(*journal).ok());
  EXPECT_TRUE(journal->writable());
  ASSERT_EQ(loud().size(), 2u);
  EXPECT_EQ(loud()[1], "the journal is written again");
  journal.reset();
  auto file = JournalFile::open_to_read(directory_.path() / "journal.db");
  const auto all = file->newest(10);
  EXPECT_EQ(all->size(), 1u) << "what nobody waited for any more was not written";
}

// Nobody comes to write: who is refused goes elsewhere, and an operator looks at the metric.
TEST_F(JournalTest, ThatItCanBeWrittenAgainIsFoundWithoutAWrite) {
  const auto path = directory_.path() / "journal.db";
  const auto journal = open();
  const auto reader = JournalFile::open_to_read(path);  // keeps the log from being emptied
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(intend(*journal).ok());
  {
    const SmallFiles small(std::filesystem::file_size(path.string() + "-wal"));
    EXPECT_FALSE(intend(*journal).ok());
    EXPECT_EQ(journal->queued(), 0u);
    pause(std::chrono::milliseconds(1'500));  // it has tried
    EXPECT_FALSE(journal->writable());
    EXPECT_EQ(loud().size(), 1u);
  }
  for (int tries = 0; !journal->writable() && tries < 100; ++tries) pause(std::chrono::milliseconds(50));
  EXPECT_TRUE(journal->writable());
  ASSERT_EQ(loud().size(), 2u);
  EXPECT_EQ(loud()[1], "the journal is written again");
  EXPECT_EQ(JournalFile::open_to_read(path)->newest(100)->size(), 20u) << "which leaves no record";
}

// Whoever was cut off while it waited can never be sent.
TEST_F(JournalTest, WhatWaitsAtTheEndIsNotWritten) {
  auto journal = open();
  auto other = Database::open(directory_.path() / "journal.db", Database::Access::Write);
  ASSERT_TRUE(other->run("BEGIN IMMEDIATE").ok());
  boost::asio::io_context loop;
  std::vector<Result<IntentId>> ids(3, IntentId{0});
  for (auto& id : ids) {
    spawn(loop.get_executor(), intend(*journal, clock_, loop.get_executor(), id));
    loop.poll();
    pause(std::chrono::milliseconds(50));  // the first is in the writer's hands
  }
  std::thread ends([&] { journal->close(); });
  pause(std::chrono::milliseconds(50));
  ASSERT_TRUE(other->run("ROLLBACK").ok());
  ends.join();
  loop.restart();
  loop.run();
  EXPECT_TRUE(ids[0].ok()) << "it was in the writer's hands";
  EXPECT_FALSE(ids[1].ok());
  EXPECT_FALSE(ids[2].ok());
  auto file = JournalFile::open_to_read(directory_.path() / "journal.db");
  EXPECT_EQ(file->newest(10)->size(), 1u);
}

TEST_F(JournalTest, RecordsAreForgottenBeyondTheBound) {
  Journal::Options options;
  options.records_max = 100;
  auto journal = open(options);
  boost::asio::io_context loop;
  std::vector<Result<IntentId>> ids(1'200, IntentId{0});
  for (auto& id : ids) spawn(loop.get_executor(), intend(*journal, clock_, loop.get_executor(), id));
  loop.run();
  for (const auto& id : ids) journal->record_outcome(*id, done());
  ASSERT_TRUE(intend(*journal).ok());
  journal.reset();
  auto file = JournalFile::open_to_read(directory_.path() / "journal.db");
  const size_t kept = file->newest(10'000)->size();
  EXPECT_LE(kept, 1'100u) << "it looks for the oldest now and then";
  EXPECT_GE(kept, 100u);
}

}  // namespace
}  // namespace armgate::journal
