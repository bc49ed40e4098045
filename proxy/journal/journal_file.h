// journal_file.h – the journal on disk: one row for each write, in a SQLite database.
//
// The rows hold who (keyed hash, label and tool), what (method, host, path, api-version, keyed hashes, names of the members
// that it changed), when and how it went, with the codes of ARM's errors. No body and no token is in them, nor what a request
// had in its query. An operation's URL is there as long as the operation may run, without its query, which is signed, from then
// on. The key of the hashes is in the file too: it is the file of one armgate, mode 0600.
// Threads   one at a time.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "proxy/journal/durability.h"
#include "proxy/journal/sqlite.h"
#include "proxy/seams/store.h"

namespace armgate {
enum class WhichWrites : uint8_t;  // proxy/seams/which_writes.h
}  // namespace armgate

namespace armgate::journal {

class JournalFile {
 public:
  // Makes the file if there is none, with `fresh_key`, and writes to it. BadInput, with the remedy: others can read it, it is
  // another user's, a newer armgate made it, it is damaged or no journal. Internal, what may pass: another process has it, the
  // disk is full.
  static Result<JournalFile> open(const std::filesystem::path& file, Durability durability, HashKey fresh_key);
  // Whether open() would take what is in the file, which is there; nothing is changed.
  static Result<void> check(const std::filesystem::path& file);
  // For people who ask, also while a gateway has it open, and of an earlier schema. Only newest() and state_of() may be called.
  static Result<JournalFile> open_to_read(const std::filesystem::path& file);

  // Why open() refuses a device or a pipe, or a file of another user that others can read, and the remedy.
  static std::string no_regular_file(const std::filesystem::path& file);
  static std::string open_to_others(const std::filesystem::path& file, const struct stat& status);

  HashKey key() const { return key_; }
  bool is_new() const { return is_new_; }
  Result<IntentId> last_id();

  // Open writes, and what may have changed something and ended at most `recent` before the newest was begun; the oldest first.
  // `now`: a newest one from later than that was begun by a wrong clock, and what is recent is measured from `now`.
  Result<PreviousProcess> previous_process(Duration recent, WallTime now);
  // The newest `most` of those that are asked for, the newest first; with `resource`, only its own and those below it.
  Result<std::vector<JournaledWrite>> newest(size_t most, std::string_view resource = {}, WhichWrites which = WhichWrites{});

  // What the resource's provisioningState was last; nothing: not known.
  Result<std::optional<ResourceState>> state_of(std::string_view resource);

  // Between begin() and commit() all is written or nothing.
  Result<void> begin();
  Result<void> commit();
  void roll_back();
  // Between the two: writes what is there already, so that commit() tells whether the file can be written.
  Result<void> rewrite_version();
  Result<void> add(const JournaledWrite& write);
  Result<void> set_outcome(IntentId id, const WriteOutcome& outcome);
  Result<void> set_end(IntentId id, WallTime when, EndSeen seen, const OperationResult& result = {});
  Result<void> count_replay(IntentId id);
  Result<void> set_touched(IntentId id, std::string_view members);
  // Since when it has it stays, if it had it already.
  Result<void> set_state(const ResourceState& state);
  // Of what has ended the oldest go, some thousands at once.
  Result<void> keep_at_most(size_t records);

 private:
  // Kept as long as the file is open, and longer than the database: another armgate must not write to it.
  class FileLock {
   public:
    FileLock() = default;
    explicit FileLock(int descriptor) : descriptor_(descriptor) {}
    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&& other) noexcept;
    ~FileLock();
    int descriptor() const { return descriptor_; }

   private:
    int descriptor_ = -1;
  };
  static Result<FileLock> lock(const std::filesystem::path& file);
  static Result<FileLock> claim(const std::filesystem::path& file);

  Result<void> attach(const std::filesystem::path& file, Database::Access access);
  Result<void> identify(const std::filesystem::path& file);
  Result<void> show_former();
  Result<void> look_for_damage(const std::filesystem::path& file);  // in a file that is not too large for that
  Result<void> make_schema(HashKey fresh_key);
  Result<void> prove_writable();
  Result<void> read_key(const std::filesystem::path& file);
  Result<void> prepare_statements();
  Result<std::vector<ResourceState>> unsettled_states();
  Result<std::vector<JournaledWrite>> select(Statement& statement);

  FileLock name_lock_, file_claim_;
  std::optional<Database> database_;
  Statement add_, outcome_, end_, strip_, touched_, replay_, state_, forget_, forget_states_, begin_, commit_, roll_back_;
  HashKey key_;
  bool is_new_ = false;
  int64_t former_schema_ = 0;       // an earlier one, which is brought to this one; 0: it is this one
  std::optional<int64_t> records_;  // how many there are; nothing: to be counted
};

}  // namespace armgate::journal
