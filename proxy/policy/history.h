// history.h – one resource as its clients were shown it and have changed it: what a write may have been built from.
//
// Why: a full PUT must account for the state that it was built from (docs/whose-write.md). That state is one of those that were
// shown to its client. So the states are kept in the order in which they became known, shared by all clients, beside who was
// shown which of them, and what was refused to whom. Everything else (is it stale, may it create, has it read again since its
// refusal) is a question to these records, asked when a write comes.
//
// Invariants
//   1. Entries stand in the order of their numbers. A number is the order of a moment and never comes back.
//   2. Two entries may have the same ETag, or the same content: a state that comes back is a new entry.
//   3. Forgetting is remembered: `ClientRecord::forgotten` says that an observation may be missing (of reads; own answers go
//      without a mark).
//   4. It changes by apply() only, so that several processes can share it by sharing the events.
// Pure values; time is passed in. Threads: none of its own (proxy/state/resource_table guards it).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/hash.h"
#include "base/time.h"
#include "proxy/policy/recent.h"

namespace armgate::arm {
class BodyFacts;
}  // namespace armgate::arm

namespace armgate::policy {

// A body as it was received or sent; shared by whoever needs it.
struct KeptBody {
  std::string bytes;
  bool compressed = false;  // gzip or deflate, exactly as received
  // It lacks members that the state has: what was sent stands in for an answer without a body, or it is an item of a list.
  bool is_partial = false;
  std::string target{};               // the resource's URL as it was read, for reading it again; empty: it was not read
  std::optional<std::string> etag{};  // that stands in it, if that was looked for (empty: none)
};
using SharedBody = std::shared_ptr<const KeptBody>;
std::shared_ptr<KeptBody> kept_body(std::string bytes, bool is_partial = false);  // not compressed

// Adds to what is bounded: the oldest makes room.
template <class T>
void add_bounded(std::vector<T>& all, T one, size_t most) {
  all.push_back(std::move(one));
  if (all.size() > most) all.erase(all.begin());
}

// What a state looks like at one api-version.
struct Rendering {
  std::string api_version;
  SharedBody body;  // null: not kept
};

enum class Cause : uint8_t {
  Seen,          // a read showed it; who made it is not known
  Written,       // a write through armgate that ARM accepted
  ChildWritten,  // the same of something below: the content is another then, and the ETag need not be
  Acted,         // an action through armgate (restart): what it does to the content is not known, and it may be nothing
  Deleted,
};

struct Entry {
  uint64_t number = 0;
  Cause cause = Cause::Seen;
  // Written: false if it may have had no effect (its answer was lost, its operation failed). Seen: false if the read lacked a
  // write.
  bool certain = true;
  bool absent = false;  // there is no such resource
  std::string etag;     // exact bytes; empty: none
  std::vector<Rendering> renderings;
  Moment known;                // when ARM's answer came
  Hash128 writer{};            // who caused it; zero: not known
  Hash128 request_hash{};      // method, host, URL and body of that write
  Hash128 write_key{};         // the same for all sendings of one write
  std::string if_match;        // what a write in doubt was sent with: while that ETag stands it may yet take effect
  SharedBody requested_body;   // the body of that write, if it was kept
  bool asked_for_all = false;  // that is a whole resource: it was a PUT
  uint64_t ended = 0;          // Written: order of its operation's end; 0 while it runs
  bool failed = false;         // that was told as failed or canceled
  TimePoint ended_at{};

  const Rendering* rendered_at(std::string_view api_version) const;
  bool is_of(const Hash128& client, const Hash128& write) const { return writer == client && write_key == write; }
};

enum class ShownAs : uint8_t { PointRead, ListItem, OwnAnswer };

// That a client was shown an entry, once or several times in a row, with no 412 in between.
struct Observation {
  uint64_t entry = 0;
  ShownAs as = ShownAs::PointRead;
  bool lagging = false;  // a write is missing in it that was accepted before: it supersedes nothing and gives no right
  bool lost = false;     // its connection was reset before it was surely read
  std::string request_id;
  std::string api_version;
  Moment first_shown;
  uint64_t last_asked = 0;  // order
  Moment last_shown;
};

// A 412 that a client was given.
struct Refusal {
  Hash128 request_hash{};
  std::string request_id;
  uint64_t arrived = 0;
  uint64_t told = 0;          // order of when its answer was written; 0: not yet
  bool lost = false;          // its connection was reset: the client may not know of it
  bool used = false;          // a later write had its right by it
  bool reread = false;        // its client had read again after an earlier refusal
  SharedBody requested_body;  // what it asked for
  SharedBody found;           // what was there; null: not known
};

// A write of a client's that was merged with what others had changed. The client may go on from what it asked for, and not know
// of the rest, until it sends something that contains it.
struct MergedWrite {
  uint64_t entry = 0;  // of the write
  TimePoint at{};
  Hash128 write_key{};
  std::string request_id;
  std::string api_version;
  SharedBody base;            // what it was built from
  SharedBody requested_body;  // what its client asked for
  SharedBody sent;            // what was sent instead
};

// A write that is under way.
struct UnderWay {
  uint64_t id = 0;
  Hash128 request_hash{};
  std::string request_id;
};

struct WriteAccepted;
struct HistoryLimits;

// What is known of one client and this resource.
struct ClientRecord {
  Recent<Observation> shown;                   // in the order of last_shown
  std::vector<Refusal> refusals;               // oldest first
  std::vector<MergedWrite> merged;             // of which it may not know yet, oldest first
  TimePoint unmerged_until{TimePoint::min()};  // it took back what others had changed and was merged into its write
  std::vector<UnderWay> under_way;
  std::vector<std::string> overlapped_ids;    // request ids under which two writes were under way at once
  TimePoint several_until{TimePoint::min()};  // two different writes at once: it is more than one actor
  uint64_t forgotten = 0;                     // reads up to this order may be missing
  TimePoint forgotten_at{TimePoint::min()};   // when the last of them was
  int refused_in_a_row = 0;
  uint64_t right_taken = 0;  // Refusal::told of the one by which the write goes that is to be accepted next

  void accept(const HistoryLimits& limits, WriteAccepted write);  // one of its own (merged_base.cc)
  void forget_one();
  void forget_oldest();
};

// ---- events -----------------------------------------------------------------------------------------------------------------

// An answer that shows a state, or that there is none, is about to be written to a client.
struct StateShown {
  Hash128 client{};
  ShownAs as = ShownAs::PointRead;
  std::string request_id;
  uint64_t asked = 0;  // order of when ARM was asked
  Moment at;
  Hash128 write_key{};  // OwnAnswer: of the write, as in WriteAccepted
  bool absent = false;
  std::string etag;
  Rendering rendering;
};

// ARM said 304 to a client that named the ETag.
struct NotModified {
  Hash128 client{};
  std::string request_id;
  uint64_t asked = 0;
  Moment at;
  std::string etag;
  std::string api_version;
};

// POST .../list has shown the state: it is read so from now on (arm/operation.h).
struct ShownByPost {};

// ARM accepted a write, or may have.
struct WriteAccepted {
  Cause cause = Cause::Written;
  Hash128 client{};
  Hash128 request_hash{};
  Hash128 write_key{};
  SharedBody requested_body;
  Moment at;
  bool certain = true;                  // false: its answer was lost
  std::optional<MergedWrite> merged{};  // if what was asked of ARM is not what the client asked for
  bool knows_merges = false;            // its client knows of all that was merged into its earlier writes
  bool asked_for_all = false;           // what was asked for is a whole resource
  bool deletes = false;                 // it was a delete, whose end is ResourceDeleted
  std::string if_match{};               // that it was sent with, if it is not certain
};

// The operation of that write has ended.
struct OperationEnded {
  Hash128 request_hash{};
  Moment at;
  bool succeeded = true;
  bool failed = false;  // as ARM told; neither: it is not known
};

// A delete has ended with success, whoever's it was.
struct ResourceDeleted {
  Hash128 client{};
  Moment at;
};

// armgate's own read, asked for at that order, has shown that there is something.
struct Found {
  uint64_t asked = 0;
};

// ARM made it for an accepted create.
struct ResourceCreated {
  TimePoint at{};
};

struct WriteArrived {
  Hash128 client{};
  UnderWay write;
  TimePoint at{};
};

struct WriteLeft {
  Hash128 client{};
  uint64_t write = 0;
};

struct Refused {
  Hash128 client{};
  Refusal refusal;
  std::optional<TimePoint> took_back{};  // it lacked what was merged into an earlier write of its client
};

// The connection that an answer was written to was reset before its next request: of that order nobody knows whether it was
// read.
struct AnswerLost {
  Hash128 client{};
  uint64_t shown = 0;  // Observation::last_shown or Refusal::told
};

// The write of a client was sent by the right that its refusal gave it.
struct RightUsed {
  Hash128 client{};
};

using Event = std::variant<StateShown, NotModified, WriteAccepted, OperationEnded, ResourceDeleted, Found, ResourceCreated,
                           WriteArrived, WriteLeft, Refused, AnswerLost, RightUsed, ShownByPost>;

struct HistoryLimits {
  size_t entries_max = 64;
  size_t observations_max = 64;  // of one client
  size_t refusals_max = 8;       // of one client
  size_t merged_max = 4;         // writes of one client that it may not know of: then it is not merged any more
  size_t merged_kept = 16;       // the same with those of commands, of which each knows its own alone
  size_t clients_max = 1'000;
  Duration think_max = std::chrono::minutes(5);
  Duration observation_age = std::chrono::hours(12);
  Duration lag_max = std::chrono::seconds(60);
};

class History {
 public:
  void apply(const HistoryLimits& limits, Event event);

  const Recent<Entry>& entries() const { return entries_; }
  const Entry* find(uint64_t number) const;
  // Null if nothing is known of the client here.
  const ClientRecord* client(const Hash128& client) const;

  // Whether another's write was accepted after `since`, here or below: `mine` says which are not another's.
  template <class Mine>
  bool written_since(uint64_t since, Mine mine) const {
    return forgotten_ > since || is_known_written_since(since, mine);
  }
  // The same of what is not forgotten.
  template <class Mine>
  bool is_known_written_since(uint64_t since, Mine mine) const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const Entry& e) { return e.cause != Cause::Seen && e.number > since && !mine(e); });
  }
  // Whether one was accepted, or ended, after `since`: the end of the write that was accepted at that very moment is its own.
  template <class Mine>
  bool ended_since(uint64_t since, Mine mine) const {
    return written_since(since, mine) || std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) {
             return e.cause != Cause::Seen && e.ended > since && e.number != since && !mine(e);
           });
  }
  bool child_written_since(uint64_t since) const;
  // Whether it is read by POST, as far as that is known: a fact of the resource, whatever bodies are kept of it.
  bool is_read_by_post() const { return read_by_post_; }
  // Whether a read or a list has shown anybody, of whom it is remembered, that there is something.
  bool was_ever_read() const;
  // True if a read that shows this, asked for at `asked`, lacks a write that was accepted before: what it shows had been known
  // before that write, which has not ended, or not for longer than lag_max, and it is not what that write asked for.
  bool lags(const HistoryLimits& limits, const StateShown& shown, const arm::BodyFacts& facts) const;
  // Whether a read that was told that there is nothing may lag as well, although what was written has been read since: one look
  // proves no deletion.
  bool may_lag(const HistoryLimits& limits, const StateShown& shown) const {
    return shown.absent && fresh_write(limits, shown) != nullptr;
  }
  // When it was created, if that passed by and no delete has begun since: what refers to it may not be shown it everywhere yet.
  std::optional<TimePoint> created() const { return created_; }
  // Whether there was something after that order, as far as reads have shown it to anybody.
  bool was_seen_since(uint64_t since) const;
  // Order of the last delete of the resource itself; 0: none.
  uint64_t deleted() const { return deleted_; }
  Hash128 deleted_by() const { return deleted_by_; }
  // Order of the last moment at which it is known to have been absent; 0: none.
  uint64_t absent() const;
  uint64_t forgotten() const { return forgotten_; }
  // Order of the newest thing that was told to a client of which nothing is known any more; 0: none.
  uint64_t clients_forgotten() const { return clients_forgotten_; }
  // Everything up to that order may be missing.
  void forget_until(uint64_t order);
  // The same of what clients were shown, and of nothing else.
  void forget_shown_until(uint64_t order) { clients_forgotten_ = std::max(clients_forgotten_, order); }

  // The whole body of the newest state of which one is kept at that api-version; null: there is none.
  SharedBody newest_body(std::string_view api_version) const;
  size_t body_bytes() const { return body_bytes_; }
  // Frees bodies, the oldest states' first, until no more than `most` bytes are left.
  void drop_bodies(size_t most);
  // Whether somebody's write is under way here.
  bool has_write_under_way() const;

 private:
  void on(const HistoryLimits& limits, StateShown event);
  void on(const HistoryLimits& limits, NotModified event);
  void on(const HistoryLimits& limits, WriteAccepted event);
  void on(const HistoryLimits& limits, OperationEnded event);
  void on(const HistoryLimits& limits, ResourceDeleted event);
  void on(const HistoryLimits&, Found event) { found_ = std::max(found_, event.asked); }
  void on(const HistoryLimits&, ResourceCreated event) { created_ = event.at; }
  void on(const HistoryLimits& limits, WriteArrived event);
  void on(const HistoryLimits& limits, WriteLeft event);
  void on(const HistoryLimits& limits, Refused event);
  void on(const HistoryLimits& limits, AnswerLost event);
  void on(const HistoryLimits& limits, RightUsed event);
  void on(const HistoryLimits&, ShownByPost) { read_by_post_ = true; }

  // Whether a read that was asked for after that write has shown that there is something.
  bool was_read_since(uint64_t number) const;
  Entry& add(const HistoryLimits& limits, Entry entry);
  void add_rendering(Entry& entry, Rendering rendering);
  static size_t bytes_of(const Entry& entry);
  void count_bodies();
  Entry* same_as(const StateShown& shown);
  // Whether something else was there between the entry and the asking for what shows the same.
  bool is_back(const Entry& entry, const StateShown& shown) const;
  const Entry* last_written_after(uint64_t number) const;
  const Entry* fresh_write(const HistoryLimits& limits, const StateShown& shown) const;  // null: none that it may lack
  // Whether a write was accepted between the asking for what was seen and its coming.
  bool is_overtaken(const StateShown& shown) const;
  void observe(const HistoryLimits& limits, const Hash128& client, Observation observation);
  ClientRecord& client_record(const HistoryLimits& limits, const Hash128& client);
  void forget_a_client();

  Recent<Entry> entries_;  // oldest first
  std::map<Hash128, ClientRecord> clients_;
  std::optional<TimePoint> created_;
  uint64_t deleted_ = 0;
  uint64_t found_ = 0;  // order of the last moment at which armgate itself asked, and found something
  Hash128 deleted_by_{};
  uint64_t forgotten_ = 0;          // entries up to this number may be missing
  uint64_t clients_forgotten_ = 0;  // and clients that were told something up to this order
  size_t body_bytes_ = 0;
  bool read_by_post_ = false;
};

}  // namespace armgate::policy
