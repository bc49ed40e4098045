#include "proxy/journal/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <utility>

namespace armgate::journal {
namespace {

constexpr int kBusyMilliseconds = 2000;  // for whoever reads the file meanwhile

Error failure(const std::string& file, sqlite3* database, int code) {
  const char* const why = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  const int kind = code & 0xff;
  if (kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB) {
    return gateway_error(
        ErrorKind::BadInput,
        fmt::format("the journal {} is damaged or no journal at all ({}): move it away, or name another file", file, why));
  }
  const bool by_system = database != nullptr && (kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR);
  const int number = by_system ? sqlite3_system_errno(database) : 0;
  if (auto known = known_obstacle(file, kind == SQLITE_FULL ? ENOSPC : number)) return *std::move(known);
  const bool no_place = kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY || kind == SQLITE_PERM;
  return gateway_error(
      no_place ? ErrorKind::BadInput : ErrorKind::Internal,
      fmt::format("the journal {} cannot be used: {}{}", file, why,
                  no_place ? "; its directory must exist and be writable for the user that runs armgate" : ""));
}

}  // namespace

std::optional<Error> known_obstacle(const std::string& file, int number) {
  switch (number) {
    case EACCES:
    case EPERM:
      return gateway_error(
          ErrorKind::BadInput,
          fmt::format("the journal {} is not to be opened by this user: run armgate as the user whose it is, with "
                      "`sudo -u` for instance",
                      file));
    case ENOSPC:
    case EDQUOT:
      return gateway_error(
          ErrorKind::Internal,
          fmt::format(
              "the journal {} cannot be used: there is no room to write to it; make some on its disk, or name a file on another",
              file));
    default: return std::nullopt;
  }
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Statement& Statement::bind(int64_t number) {
  sqlite3_bind_int64(statement_.get(), ++next_, number);
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  sqlite3_bind_text64(statement_.get(), ++next_, text.data() != nullptr ? text.data() : "", text.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_nothing() {
  sqlite3_bind_null(statement_.get(), ++next_);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  auto* const database = sqlite3_db_handle(statement_.get());
  std::optional<Error> error;
  if (code != SQLITE_DONE) error = failure(file_, database, code);
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  next_ = 0;
  if (error) return *std::move(error);
  return false;
}

Result<void> Statement::run() {
  auto stepped = step();
  if (!stepped) return std::move(stepped).error();
  return {};
}

int64_t Statement::number(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::string Statement::text(int column) const {
  const void* const text = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return text == nullptr ? std::string() : std::string(static_cast<const char*>(text), static_cast<size_t>(size));
}

bool Statement::is_nothing(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

Result<Database> Database::open(const std::filesystem::path& file, Access access) {
  Database database;
  database.file_ = file.string();
  const int flags = access == Access::Write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &opened, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  database.database_.reset(opened);
  if (code != SQLITE_OK && access == Access::Read && sqlite3_system_errno(opened) == ENOENT) {
    return gateway_error(ErrorKind::BadInput,
                         fmt::format("there is no journal {}: armgate makes it when it runs", database.file_));
  }
  if (code != SQLITE_OK) return failure(database.file_, opened, code);
  sqlite3_extended_result_codes(opened, 1);
  sqlite3_busy_timeout(opened, kBusyMilliseconds);
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) {
  Statement statement;
  statement.file_ = file_;
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &prepared, nullptr);
  if (code != SQLITE_OK) return failure(file_, database_.get(), code);
  statement.statement_.reset(prepared);
  return statement;
}

Result<void> Database::run(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(file_, database_.get(), code);
  return {};
}

int64_t Database::changed() const { return sqlite3_changes64(database_.get()); }

Result<int64_t> Database::number(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) return std::move(statement).error();
  auto row = statement->step();
  if (!row) return std::move(row).error();
  return *row ? statement->number(0) : 0;
}

}  // namespace armgate::journal
