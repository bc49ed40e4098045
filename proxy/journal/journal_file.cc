#include "proxy/journal/journal_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "proxy/journal/journal_schema.h"
#include "proxy/seams/which_writes.h"

namespace armgate::journal {
namespace {

constexpr int64_t kForgottenAtOnce = 5'000;  // records; whoever writes waits for it
constexpr int kRecentMax = 100'000;          // records that are looked at for what was written lately

template <class Value>
using Names = std::pair<Value, std::string_view>;

constexpr Names<OutcomeKind> kOutcomes[] = {
    {OutcomeKind::Answered, "answered"}, {OutcomeKind::NotSent, "not-sent"}, {OutcomeKind::InDoubt, "in-doubt"}};
constexpr Names<arm::TrackedBy> kTracked[] = {{arm::TrackedBy::Nothing, ""},
                                              {arm::TrackedBy::StatusUrl, "status-url"},
                                              {arm::TrackedBy::LocationUrl, "location-url"},
                                              {arm::TrackedBy::ResourceState, "resource-state"},
                                              {arm::TrackedBy::ResourceGone, "resource-gone"}};
constexpr Names<arm::Progress> kResults[] = {
    {arm::Progress::Succeeded, "succeeded"}, {arm::Progress::Failed, "failed"}, {arm::Progress::Canceled, "canceled"}};

template <class Value, size_t kCount>
std::string_view name_of(const Names<Value> (&names)[kCount], Value value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return {};
}

template <class Value, size_t kCount>
Value value_of(const Names<Value> (&names)[kCount], std::string_view text, Value otherwise) {
  for (const auto& [value, name] : names) {
    if (name == text) return value;
  }
  return otherwise;
}

int64_t as_number(WallTime when) { return when.time_since_epoch().count(); }
WallTime as_time(int64_t number) { return WallTime(std::chrono::milliseconds(number)); }
Hash128 as_hash(const std::string& digits) { return Hash128::from_hex(digits).value_or(Hash128{}); }

JournaledWrite read_row(const Statement& row) {
  JournaledWrite write;
  write.id = static_cast<IntentId>(row.number(0));
  write.begun = as_time(row.number(1));
  write.client = as_hash(row.text(2));
  write.request_hash = as_hash(row.text(3));
  write.resend = as_hash(row.text(4));
  write.client_label = row.text(5);
  write.request_id = row.text(6);
  write.method = row.text(7);
  write.host = row.text(8);
  write.path = row.text(9);
  write.api_version = row.text(10);
  write.resource = row.text(11);
  if (!row.is_nothing(12)) {
    WriteOutcome outcome;
    outcome.kind = value_of(kOutcomes, row.text(12), OutcomeKind::InDoubt);
    outcome.status = static_cast<int>(row.number(13));
    outcome.known = as_time(row.number(14));
    outcome.tracking.by = value_of(kTracked, row.text(15), arm::TrackedBy::Nothing);
    outcome.tracking.status_url = row.text(16);
    outcome.tracking.location_url = row.text(17);
    outcome.is_running = row.is_nothing(18);
    if (!row.is_nothing(22)) outcome.merged = static_cast<size_t>(row.number(22));
    write.outcome = std::move(outcome);
  }
  write.if_match = row.text(19);
  write.also_locked = row.text(20);
  write.given_up = !row.is_nothing(21);
  if (!row.is_nothing(18)) write.ended = as_time(row.number(18));
  write.tool = row.text(23);
  if (!row.is_nothing(24)) write.touched = row.text(24);
  write.named = as_hash(row.text(28));
  if (!row.is_nothing(29)) write.first_sent = as_time(row.number(29));
  if (write.outcome) write.outcome->etag = row.text(30);
  if (!row.is_nothing(31)) write.replays = static_cast<uint64_t>(row.number(31));
  write.result = {value_of(kResults, row.text(25), arm::Progress::Unknown), {row.text(26), row.text(27)}};
  write.owned = as_hash(row.text(32));
  return write;
}

std::string digits_of(const Hash128& hash) { return hash.is_zero() ? std::string() : hash.hex(); }

// The first `most` of those that are wanted.
template <class Read, class IsWanted>
auto first_rows(Statement& statement, size_t most, Read read, IsWanted is_wanted)
    -> Result<std::vector<decltype(read(statement))>> {
  std::vector<decltype(read(statement))> rows;
  while (rows.size() < most) {
    const auto row = statement.step();
    if (!row) return row.error();
    if (!*row) break;
    auto one = read(statement);
    if (is_wanted(one)) rows.push_back(std::move(one));
  }
  return rows;
}

template <class Read>
auto all_rows(Statement& statement, Read read) {
  return first_rows(statement, SIZE_MAX, read, [](const auto&) { return true; });
}

void bind_result(Statement& statement, const OperationResult& result) {
  statement.bind(name_of(kResults, result.how)).bind(result.error.code).bind(result.error.message);
}

}  // namespace

Result<void> JournalFile::prepare_statements() {
  const std::pair<Statement*, std::string_view> commands[] = {
      {&add_, kAddWrite},
      {&outcome_, kSetOutcome},
      {&end_, kSetEnd},
      {&replay_, "UPDATE writes SET replays = coalesce(replays, 0) + 1 WHERE id = ?"},
      {&touched_, "UPDATE writes SET touched = ? WHERE id = ?"},
      {&state_, kKeepState},
      {&forget_states_, kForgetStates},
      {&strip_, kStripUrls},
      {&forget_, "DELETE FROM writes WHERE id IN (SELECT id FROM writes WHERE ended IS NOT NULL ORDER BY id LIMIT ?)"},
      {&begin_, "BEGIN IMMEDIATE"},
      {&commit_, "COMMIT"},
      {&roll_back_, "ROLLBACK"}};
  for (const auto& [statement, sql] : commands) {
    auto prepared = database_->prepare(sql);
    if (!prepared) return std::move(prepared).error();
    *statement = *std::move(prepared);
  }
  return {};
}

Result<IntentId> JournalFile::last_id() {
  const auto id = database_->number("SELECT max(id) FROM writes");
  if (!id) return id.error();
  return static_cast<IntentId>(*id);
}

Result<std::vector<JournaledWrite>> JournalFile::select(Statement& statement) { return all_rows(statement, read_row); }

Result<PreviousProcess> JournalFile::previous_process(Duration recent, WallTime now) {
  const auto newest = database_->number("SELECT begun FROM writes ORDER BY id DESC LIMIT 1");
  if (!newest) return newest.error();
  // The clock may have been ahead when the newest was begun.
  const int64_t begin = std::min(*newest, as_number(now)) - whole_milliseconds(recent);
  auto open = database_->prepare(fmt::format("SELECT {} FROM writes WHERE ended IS NULL ORDER BY id", kColumns));
  if (!open) return std::move(open).error();
  // What may have changed something; not what ARM refused, or never got. What was begun after a recent one is recent, too, even
  // if the clock was behind meanwhile.
  auto lately = database_->prepare(fmt::format(
      "WITH newest AS (SELECT * FROM writes ORDER BY id DESC LIMIT {1}) "
      "SELECT {0} FROM newest WHERE ended IS NOT NULL AND (ended >= ? OR id >= "
      "(SELECT min(id) FROM newest WHERE begun BETWEEN ? AND ?)) AND (outcome IS NULL "
      "OR outcome = 'in-doubt' OR tracked_by <> '' OR (outcome = 'answered' AND status BETWEEN 200 AND 299)) ORDER BY id",
      kColumns, kRecentMax));
  if (!lately) return std::move(lately).error();
  lately->bind(begin).bind(begin).bind(as_number(now));
  auto since = database_->prepare(kKnownSince);
  if (!since) return std::move(since).error();
  const auto known = since->bind(begin).bind(int64_t{kRecentMax}).step();
  if (!known) return known.error();
  auto running = select(*open);
  if (!running) return std::move(running).error();
  auto ended = select(*lately);
  if (!ended) return std::move(ended).error();
  PreviousProcess former{*std::move(running), *std::move(ended), std::nullopt};
  if (!since->is_nothing(0)) former.since = as_time(std::max(since->number(0), since->number(1)));
  auto states = unsettled_states();
  if (!states) return std::move(states).error();
  former.states = *std::move(states);
  return former;
}

Result<std::vector<ResourceState>> JournalFile::unsettled_states() {
  auto statement = database_->prepare(
      "SELECT resource, state, since FROM states WHERE state NOT IN ('', 'Succeeded') ORDER BY since DESC LIMIT 1000");
  if (!statement) return std::move(statement).error();
  return all_rows(*statement, [](const Statement& row) {
    return ResourceState{row.text(0), row.text(1), as_time(row.number(2))};
  });
}

Result<std::vector<JournaledWrite>> JournalFile::newest(size_t most, std::string_view resource, WhichWrites which) {
  // By bytes: names need not be ASCII.
  const std::string of_resource =
      resource.empty() ? "" : "WHERE resource = ? OR substr(CAST(resource AS BLOB), 1, ?) = CAST(? AS BLOB)";
  auto statement = database_->prepare(fmt::format("SELECT {} FROM writes {} ORDER BY id DESC", kColumns, of_resource));
  if (!statement) return std::move(statement).error();
  if (!resource.empty()) {
    const std::string below = std::string(resource) + "/";
    statement->bind(resource).bind(static_cast<int64_t>(below.size())).bind(below);
  }
  return first_rows(*statement, most, read_row,
                    [&](const JournaledWrite& write) { return is_asked_for(which, write, resource); });
}

Result<void> JournalFile::begin() { return begin_.run(); }
Result<void> JournalFile::commit() { return commit_.run(); }
void JournalFile::roll_back() {
  (void)roll_back_.run();
  records_.reset();
}

Result<void> JournalFile::add(const JournaledWrite& write) {
  if (records_) ++*records_;
  return add_.bind(static_cast<int64_t>(write.id))
      .bind(as_number(write.begun))
      .bind(write.client.hex())
      .bind(write.request_hash.hex())
      .bind(write.resend.hex())
      .bind(write.client_label)
      .bind(write.request_id)
      .bind(write.method)
      .bind(write.host)
      .bind(write.path)
      .bind(write.api_version)
      .bind(write.resource)
      .bind(write.if_match)
      .bind(write.also_locked)
      .bind(write.tool)
      .bind(digits_of(write.named))
      .bind(write.named.is_zero() ? int64_t{0} : as_number(write.first_sent))
      .bind(digits_of(write.owned))
      .run();
}

Result<void> JournalFile::set_outcome(IntentId id, const WriteOutcome& outcome) {
  outcome_.bind(name_of(kOutcomes, outcome.kind))
      .bind(int64_t{outcome.status})
      .bind(as_number(outcome.known))
      .bind(name_of(kTracked, outcome.tracking.by))
      .bind(outcome.tracking.status_url)
      .bind(outcome.tracking.location_url);
  if (outcome.is_running)
    outcome_.bind_nothing();
  else
    outcome_.bind(as_number(outcome.known));
  if (outcome.merged == 0)
    outcome_.bind_nothing();
  else
    outcome_.bind(static_cast<int64_t>(outcome.merged));
  bind_result(outcome_, outcome.result);
  outcome_.bind(outcome.etag).bind(digits_of(outcome.owned));
  if (auto set = outcome_.bind(static_cast<int64_t>(id)).run(); !set) return set;
  return outcome.tracking.by == arm::TrackedBy::Nothing ? Result<void>() : strip_.bind(static_cast<int64_t>(id)).run();
}

Result<void> JournalFile::set_end(IntentId id, WallTime when, EndSeen seen, const OperationResult& result) {
  end_.bind(as_number(when));
  if (seen == EndSeen::Yes)
    end_.bind_nothing();
  else
    end_.bind(int64_t{1});
  bind_result(end_, result);
  if (auto set = end_.bind(static_cast<int64_t>(id)).run(); !set) return set;
  return strip_.bind(static_cast<int64_t>(id)).run();
}

Result<void> JournalFile::count_replay(IntentId id) { return replay_.bind(static_cast<int64_t>(id)).run(); }

Result<void> JournalFile::set_touched(IntentId id, std::string_view members) {
  return touched_.bind(members).bind(static_cast<int64_t>(id)).run();
}

Result<void> JournalFile::set_state(const ResourceState& state) {
  return state_.bind(state.resource).bind(state.state).bind(as_number(state.since)).run();
}

Result<std::optional<ResourceState>> JournalFile::state_of(std::string_view resource) {
  auto statement = database_->prepare("SELECT state, since FROM states WHERE resource = ?");
  if (!statement) return std::move(statement).error();
  const auto row = statement->bind(resource).step();
  if (!row) return row.error();
  if (!*row || statement->text(0).empty()) return std::optional<ResourceState>();
  return std::optional(ResourceState{std::string(resource), statement->text(0), as_time(statement->number(1))});
}

Result<void> JournalFile::keep_at_most(size_t records) {
  if (!records_) {
    const auto counted = database_->number("SELECT count(*) FROM writes");
    if (!counted) return counted.error();
    records_ = *counted;
  }
  const int64_t surplus = *records_ - static_cast<int64_t>(records);
  if (surplus <= 0) return {};
  if (auto forgotten = forget_.bind(std::min(surplus, kForgottenAtOnce)).run(); !forgotten) return forgotten;
  *records_ -= database_->changed();
  return forget_states_.bind(static_cast<int64_t>(records)).run();
}

}  // namespace armgate::journal
