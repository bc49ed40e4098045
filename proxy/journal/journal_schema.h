// journal_schema.h – the tables of the journal file, how those of earlier versions are brought to them, and the longer
// commands.
//
// Invariant  a file of any earlier schema can be opened and read: what its writes lack is not known of them.
#pragma once

#include <cstdint>
#include <string_view>

namespace armgate::journal {

inline constexpr int64_t kApplicationId = 0x61726d67;  // "armg"
inline constexpr int64_t kSchemaVersion = 5;

inline constexpr const char* kSchema = R"sql(
CREATE TABLE hash_key (digits TEXT NOT NULL);
CREATE TABLE writes (
  id INTEGER PRIMARY KEY,
  begun INTEGER NOT NULL,      -- milliseconds since 1970, as all times
  client TEXT NOT NULL,        -- keyed hashes, in hexadecimal digits
  bytes TEXT NOT NULL,
  resend TEXT NOT NULL,
  client_label TEXT NOT NULL,
  request_id TEXT NOT NULL,
  method TEXT NOT NULL,
  host TEXT NOT NULL,
  path TEXT NOT NULL,
  api_version TEXT NOT NULL,
  resource TEXT NOT NULL,
  if_match TEXT NOT NULL,      -- what armgate had added
  also_locked TEXT NOT NULL,   -- what its body named
  outcome TEXT,                -- nothing: not known
  status INTEGER,
  known INTEGER,               -- when the outcome was
  tracked_by TEXT,
  status_url TEXT,
  location_url TEXT,
  ended INTEGER,               -- nothing: it may be at ARM, or its operation may run
  given_up INTEGER,            -- not nothing: its end was not seen
  merged INTEGER,              -- how many of others' changes were sent along; nothing: none
  tool TEXT,
  touched TEXT,                -- members that it changed, one a line; nothing: not known
  result TEXT,                 -- nothing: not known
  error_code TEXT,
  message_code TEXT,
  named TEXT,                  -- keyed hash of the name that its client gave it; nothing: none
  first_sent INTEGER,          -- the same, by its client's clock
  answer_etag TEXT,            -- that ARM's answer showed, if that may be asked for again
  replays INTEGER,             -- how often it was given again; nothing: never
  owned TEXT                   -- the operation of armgate's own that it is a sending of; nothing: none
);
CREATE TABLE states (
  resource TEXT PRIMARY KEY,
  state TEXT NOT NULL,         -- provisioningState
  since INTEGER NOT NULL
);
CREATE INDEX open_writes ON writes (id) WHERE ended IS NULL;
)sql";

// What brings a file of an earlier schema to the next one.
inline constexpr const char* kUpgrades[kSchemaVersion - 1] = {
    "BEGIN; ALTER TABLE writes ADD COLUMN given_up INTEGER; PRAGMA user_version = 2; COMMIT;",
    "BEGIN; ALTER TABLE writes ADD COLUMN merged INTEGER; PRAGMA user_version = 3; COMMIT;",
    "BEGIN; ALTER TABLE writes ADD COLUMN tool TEXT; ALTER TABLE writes ADD COLUMN touched TEXT; ALTER TABLE writes ADD COLUMN result TEXT; "
    "ALTER TABLE writes ADD COLUMN error_code TEXT; ALTER TABLE writes ADD COLUMN message_code TEXT; "
    "CREATE TABLE states (resource TEXT PRIMARY KEY, state TEXT NOT NULL, since INTEGER NOT NULL); PRAGMA user_version = 4; COMMIT;",
    "BEGIN; ALTER TABLE writes ADD COLUMN named TEXT; ALTER TABLE writes ADD COLUMN first_sent INTEGER; "
    "ALTER TABLE writes ADD COLUMN answer_etag TEXT; ALTER TABLE writes ADD COLUMN replays INTEGER; "
    "ALTER TABLE writes ADD COLUMN owned TEXT; PRAGMA user_version = 5; COMMIT;"};

// What the writes of a schema lack in comparison with the next one, as columns of a view.
inline constexpr const char* kLacks[kSchemaVersion - 1] = {
    ", NULL AS given_up", ", NULL AS merged",
    ", NULL AS tool, NULL AS touched, NULL AS result, NULL AS error_code, NULL AS message_code",
    ", NULL AS named, NULL AS first_sent, NULL AS answer_etag, NULL AS replays, NULL AS owned"};
inline constexpr int64_t kStatesSince = 4;  // the schema that began with that table

// ---- the longer commands

inline constexpr std::string_view kColumns =
    "id, begun, client, bytes, resend, client_label, request_id, method, host, path, api_version, resource, outcome, status, known, "
    "tracked_by, status_url, location_url, ended, if_match, also_locked, given_up, merged, tool, touched, result, error_code, "
    "message_code, named, first_sent, answer_etag, replays, owned";

inline constexpr std::string_view kAddWrite =
    "INSERT INTO writes (id, begun, client, bytes, resend, client_label, request_id, method, host, path, api_version, resource, if_match, "
    "also_locked, tool, named, first_sent, owned) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), nullif(?, 0), nullif(?, ''))";

inline constexpr std::string_view kSetOutcome =
    "UPDATE writes SET outcome = ?, status = ?, known = ?, tracked_by = ?, status_url = ?, location_url = ?, "
    "ended = coalesce(ended, ?), merged = ?, result = coalesce(result, nullif(?, '')), error_code = coalesce(error_code, nullif(?, '')), "
    "message_code = coalesce(message_code, nullif(?, '')), answer_etag = nullif(?, ''), owned = coalesce(owned, nullif(?, '')) WHERE id = ?";

inline constexpr std::string_view kSetEnd =
    "UPDATE writes SET ended = ?, given_up = ?, result = nullif(?, ''), error_code = nullif(?, ''), message_code = nullif(?, '') "
    "WHERE id = ? AND ended IS NULL";

inline constexpr std::string_view kKeepState =
    "INSERT INTO states (resource, state, since) VALUES (?, ?, ?) ON CONFLICT (resource) DO UPDATE SET "
    "since = CASE WHEN state = excluded.state THEN since ELSE excluded.since END, state = excluded.state";

inline constexpr std::string_view kForgetStates =
    "DELETE FROM states WHERE rowid IN "
    "(SELECT rowid FROM states ORDER BY since LIMIT max(0, (SELECT count(*) FROM states) - ?))";

inline constexpr std::string_view kStripUrls =
    "UPDATE writes SET status_url = substr(status_url, 1, instr(status_url || '?', '?') - 1), "
    "location_url = substr(location_url, 1, instr(location_url || '?', '?') - 1) WHERE id = ? AND ended IS NOT NULL";

// From when on all that may have changed something is read back: by age, and by how many records are looked at.
inline constexpr std::string_view kKnownSince =
    "SELECT max((SELECT min(begun) FROM writes), ?), "
    "(SELECT begun FROM writes ORDER BY id DESC LIMIT 1 OFFSET ?)";

}  // namespace armgate::journal
