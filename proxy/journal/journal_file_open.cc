// journal_file_open.cc – how the file is made, locked, recognised and brought to this version.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "proxy/journal/journal_file.h"
#include "proxy/journal/journal_schema.h"

namespace armgate::journal {
namespace {

Error bad_file(std::string_view what, const std::filesystem::path& file) {
  const int number = errno;
  if (auto known = known_obstacle(file.string(), number)) return *std::move(known);
  return gateway_error(ErrorKind::BadInput,
                       fmt::format("cannot {} the journal {}: {}", what, file.string(), std::strerror(number)));
}

// As a secret: the hashes in it are only as good as their key. A file of this user's own that others may read is made private
// again: the kubelet lets the group at each file of a volume with an fsGroup, whatever mode it was made with.
Result<void> make_private(const std::filesystem::path& file, int more_flags) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | more_flags, 0600);
  if (descriptor < 0 && errno == ENOENT) return {};  // SQLite makes it, as private as the journal
  if (descriptor < 0) return bad_file("open", file);
  struct stat status {};
  const bool was_seen = ::fstat(descriptor, &status) == 0;
  const bool is_file = was_seen && S_ISREG(status.st_mode);
  const bool is_open = is_file && (status.st_mode & 0077) != 0;
  const bool is_mended = is_open && status.st_uid == ::geteuid() && ::fchmod(descriptor, 0600) == 0;
  ::close(descriptor);
  if (!was_seen) return bad_file("look at", file);
  if (!is_file) return gateway_error(ErrorKind::BadInput, JournalFile::no_regular_file(file));
  if (!is_open || is_mended) return {};
  return gateway_error(ErrorKind::BadInput, JournalFile::open_to_others(file, status));
}

Result<void> make_all_private(const std::filesystem::path& file) {
  if (auto made = make_private(file, O_CREAT); !made) return made;
  for (const char* suffix : {"-wal", "-shm"}) {
    if (auto made = make_private(file.string() + suffix, 0); !made) return made;
  }
  return {};
}

// It may be about to end: no fault of what was configured.
Error of_another(const std::filesystem::path& file) {
  return gateway_error(ErrorKind::Internal,
                       fmt::format("the journal {} belongs to another armgate that runs; each needs its own", file.string()));
}

// On the page that SQLite never reads or writes, behind the 512 bytes on it that SQLite locks.
constexpr off_t kClaimedByte = 0x40000000 + 1024;

// So much is looked through at a start, in a second or less.
constexpr int64_t kCheckedBytesMax = 128 << 20;

}  // namespace

std::string JournalFile::no_regular_file(const std::filesystem::path& file) {
  return fmt::format("the journal {} is no regular file (a pipe or a device); name one, or a name that is free", file.string());
}

std::string JournalFile::open_to_others(const std::filesystem::path& file, const struct stat& status) {
  return fmt::format(
      "the journal {0} belongs to user {1}, who lets others at it (mode {2:04o}), and armgate runs as user {3}: run it "
      "as user {1} (sudo -u '#{1}' armgate ...), or move the journal away",
      file.string(), status.st_uid, status.st_mode & 07777, ::geteuid());
}

JournalFile::FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
JournalFile::FileLock& JournalFile::FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}
JournalFile::FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

// For the file's name, on a file of its own: an armgate of before, too, looks there, and the database may be moved away.
Result<JournalFile::FileLock> JournalFile::lock(const std::filesystem::path& file) {
  const std::string beside = file.string() + "-lock";
  FileLock lock(::open(beside.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.descriptor() < 0) return bad_file("lock", file);
  if (::flock(lock.descriptor(), LOCK_EX | LOCK_NB) == 0) return lock;
  return errno == EWOULDBLOCK ? of_another(file) : bad_file("lock", file);
}

// For the file itself: the one beside it may be removed. The lock belongs to this descriptor alone, so that no other one that
// is closed takes it along. This one is closed after the database, whose own locks (POSIX) go with any descriptor of the file.
// Where a file system knows no such locks, the lock beside it has to do.
Result<JournalFile::FileLock> JournalFile::claim(const std::filesystem::path& file) {
  FileLock claim(::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (claim.descriptor() < 0) return bad_file("lock", file);
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = kClaimedByte;
  range.l_len = 1;
  const bool is_anothers = ::fcntl(claim.descriptor(), F_OFD_SETLK, &range) != 0 && (errno == EAGAIN || errno == EACCES);
  if (is_anothers) return of_another(file);
  return claim;
}

Result<JournalFile> JournalFile::open(const std::filesystem::path& file, Durability durability, HashKey fresh_key) {
  JournalFile journal;
  if (auto made = make_all_private(file); !made) return std::move(made).error();
  auto locked = lock(file);
  if (!locked) return std::move(locked).error();
  journal.name_lock_ = *std::move(locked);
  auto claimed = claim(file);
  if (!claimed) return std::move(claimed).error();
  journal.file_claim_ = *std::move(claimed);
  if (auto known = journal.attach(file, Database::Access::Write); !known) return std::move(known).error();
  if (auto whole = journal.look_for_damage(file); !whole) return std::move(whole).error();
  const std::string settings = fmt::format(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = {}; PRAGMA journal_size_limit = 16777216; PRAGMA secure_delete = ON;",
      durability == Durability::Power ? "FULL" : "NORMAL");
  if (auto set = journal.database_->run(settings); !set) return std::move(set).error();
  if (journal.is_new_) {
    if (auto made = journal.make_schema(fresh_key); !made) return std::move(made).error();
  }
  for (int64_t schema = journal.former_schema_; schema != 0 && schema < kSchemaVersion; ++schema) {
    if (auto changed = journal.database_->run(kUpgrades[schema - 1]); !changed) return std::move(changed).error();
  }
  if (auto read = journal.read_key(file); !read) return std::move(read).error();
  if (auto prepared = journal.prepare_statements(); !prepared) return std::move(prepared).error();
  if (auto written = journal.prove_writable(); !written) return std::move(written).error();
  return journal;
}

Result<void> JournalFile::check(const std::filesystem::path& file) {
  JournalFile journal;
  if (auto known = journal.attach(file, Database::Access::Read); !known) return known;
  if (auto whole = journal.look_for_damage(file); !whole || journal.is_new_) return whole;
  return journal.read_key(file);
}

Result<JournalFile> JournalFile::open_to_read(const std::filesystem::path& file) {
  JournalFile journal;
  if (auto known = journal.attach(file, Database::Access::Read); !known) return std::move(known).error();
  if (auto shown = journal.show_former(); !shown) return std::move(shown).error();
  return journal;
}

// Of an earlier schema, which the next start brings to this one: before that people are shown it as if it were. The views are
// this reader's own; the file stays as it is.
Result<void> JournalFile::show_former() {
  if (former_schema_ == 0) return {};
  std::string lacks;
  for (int64_t schema = former_schema_; schema < kSchemaVersion; ++schema) lacks += kLacks[schema - 1];
  std::string views = "PRAGMA temp_store = MEMORY; CREATE TEMP VIEW writes AS SELECT *" + lacks + " FROM main.writes; ";
  if (former_schema_ < kStatesSince) views += "CREATE TEMP TABLE states (resource, state, since);";
  return database_->run(views);
}

Result<void> JournalFile::attach(const std::filesystem::path& file, Database::Access access) {
  auto database = Database::open(file, access);
  if (!database) return std::move(database).error();
  database_ = *std::move(database);
  return identify(file);
}

Result<void> JournalFile::identify(const std::filesystem::path& file) {
  const auto application = database_->number("PRAGMA application_id");
  const auto version = database_->number("PRAGMA user_version");
  const auto tables = database_->number("SELECT count(*) FROM sqlite_master");
  if (!application) return application.error();
  if (!version) return version.error();
  if (!tables) return tables.error();
  is_new_ = *tables == 0;
  const bool is_former = *application == kApplicationId && *version >= 1 && *version < kSchemaVersion;
  if (is_former) {
    former_schema_ = *version;
    return {};
  }
  if (is_new_ || (*application == kApplicationId && *version == kSchemaVersion)) return {};
  if (*application != kApplicationId) {
    return gateway_error(
        ErrorKind::BadInput,
        fmt::format("{} is the database of another program, not armgate's journal: name another file", file.string()));
  }
  return gateway_error(
      ErrorKind::BadInput,
      fmt::format("the journal {} was made by another version of armgate (schema {}, this one has {}): move it away, "
                  "or use that version",
                  file.string(), *version, kSchemaVersion));
}

// Else a damaged page would be met by the first write that needs it, when the service has long begun.
Result<void> JournalFile::look_for_damage(const std::filesystem::path& file) {
  const auto bytes = database_->number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
  if (!bytes) return bytes.error();
  if (*bytes > kCheckedBytesMax) return {};
  auto check = database_->prepare("PRAGMA quick_check(1)");
  if (!check) return std::move(check).error();
  const auto row = check->step();
  if (!row) return row.error();
  std::string found = check->text(0);
  if (!*row || found == "ok") return {};
  std::replace(found.begin(), found.end(), '\n', ' ');
  return gateway_error(ErrorKind::BadInput,
                       fmt::format("the journal {} is damaged ({}): move it away, or name another file", file.string(), found));
}

Result<void> JournalFile::make_schema(HashKey fresh_key) {
  return database_->run(
      fmt::format("BEGIN; {} INSERT INTO hash_key VALUES ('{}'); PRAGMA application_id = {}; "
                  "PRAGMA user_version = {}; COMMIT;",
                  kSchema, Hash128{fresh_key.first, fresh_key.second}.hex(), kApplicationId, kSchemaVersion));
}

// Else a full disk would be met by the first write, when the service has long begun.
Result<void> JournalFile::prove_writable() {
  if (auto begun = begin(); !begun) return begun;
  if (auto written = rewrite_version(); !written) return written;
  return commit();
}

// SQLite writes the number also if it is the same.
Result<void> JournalFile::rewrite_version() { return database_->run(fmt::format("PRAGMA user_version = {}", kSchemaVersion)); }

Result<void> JournalFile::read_key(const std::filesystem::path& file) {
  auto statement = database_->prepare("SELECT digits FROM hash_key");
  if (!statement) return std::move(statement).error();
  const auto row = statement->step();
  if (!row) return row.error();
  const auto key = *row ? Hash128::from_hex(statement->text(0)) : std::nullopt;
  if (!key) {
    return gateway_error(ErrorKind::BadInput,
                         fmt::format("the journal {} has lost the key of its hashes: move it away", file.string()));
  }
  key_ = {key->high, key->low};
  return {};
}

}  // namespace armgate::journal
