// store.h – the seam to where intents and outcomes are recorded (docs/design.md, "The journal").
//
// Why: a write is recorded before its first byte leaves, again when its outcome is known, and again when what it began has
// ended, so that "did it run?" has an answer, also for the process that comes after one that died. No bodies and no tokens are
// ever recorded (promise P8, docs/design.md): who asked and what for are keyed hashes.
// Threads   any.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/arm_error.h"
#include "arm/long_running.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "proxy/async/task.h"

namespace armgate::arm {
class BodyFacts;
}  // namespace armgate::arm
namespace armgate::policy {
struct KeptBody;
}  // namespace armgate::policy

namespace armgate {

using IntentId = uint64_t;  // given by the store; later writes have higher ones

// Views of what the write itself keeps: a store copies what it needs.
struct IntentRecord {
  Hash128 client{};
  Hash128 request_hash{};  // of method, host, target and body
  Hash128 resend{};        // the same with the credential: by it the client's own repetition is known again
  Hash128 named{};         // of the name that its client gave it (repeatability id); zero: none
  WallTime first_sent{};   // the same, by its client's clock
  std::string_view client_label;
  std::string_view tool;        // its User-Agent, cut
  std::string_view request_id;  // as the client gave it (x-ms-client-request-id), or its hash if it is long
  std::string_view method;
  std::string_view host;
  std::string_view path;  // without its query
  std::string_view api_version;
  std::string_view resource;     // canonical id
  std::string_view if_match;     // what armgate adds; empty: nothing
  std::string_view also_locked;  // what its body names: lines of references.h
  Hash128 owned{};  // the operation of armgate's own that it is another sending of (owned_operations.h); zero: none
  Moment started;
  WallTime begun;
  Executor executor;   // where its writer waits
  uint64_t claim = 0;  // by which it has its keys, if these are shared with other processes (WriteLease::kept_as)
};

enum class OutcomeKind { Answered, NotSent, InDoubt };

// How what a write began has ended, in words and codes; nothing of a body.
struct OperationResult {
  arm::Progress how = arm::Progress::Unknown;  // Unknown, or terminal
  arm::ErrorCodes error{};                     // of what failed, or of ARM's refusal
};

// What a write asked for and what it was built from, so that somebody can name the members that it changed. Nothing is compared
// before somebody asks, or the journal's own thread does.
struct AskedChange {
  std::shared_ptr<const policy::KeptBody> before{};          // null: not known
  std::shared_ptr<const policy::KeptBody> requested_body{};  // null: none, or it was too long
  std::shared_ptr<const arm::BodyFacts> facts{};
  bool asked_for_all = false;  // it was a PUT
  bool creates = false;        // its client knew of nothing there
};

// What became of its sending.
struct WriteOutcome {
  OutcomeKind kind = OutcomeKind::Answered;
  int status = 0;           // for Answered
  bool is_running = false;  // its operation has not ended, or nobody knows
  arm::Tracking tracking{};
  WallTime known;
  size_t merged = 0;         // others' changes that were sent along
  OperationResult result{};  // as far as the answer tells
  AskedChange change{};      // if ARM took it
  std::string etag{};        // that the answer showed, if the answer may be asked for again
  Hash128 owned{};           // the operation of armgate's own that its client polls instead; zero: none
};

// Whether the end was seen of what a write began, or nobody waits for it any more.
enum class EndSeen { Yes, No };

// A write as it is read back.
struct JournaledWrite {
  IntentId id = 0;
  Hash128 client{};
  Hash128 request_hash{};
  Hash128 resend{};
  Hash128 named{};
  WallTime first_sent{};
  std::string client_label;
  std::string tool;
  std::string request_id;
  std::string method;
  std::string host;
  std::string path;
  std::string api_version;
  std::string resource;
  std::string if_match;
  std::string also_locked;
  WallTime begun;
  std::optional<WriteOutcome> outcome;  // none: the process died before it was known
  std::optional<WallTime> ended;        // when nothing of it was left running, or was waited for any more
  bool given_up = false;                // the latter: it may run on
  OperationResult result{};
  uint64_t replays = 0;                  // how often its answer was given again
  Hash128 owned{};                       // the operation of armgate's own that it is a sending of; zero: none
  std::optional<std::string> touched{};  // the members that it changed, as JSON pointers, one a line; nothing: not known

  bool is_open() const { return !ended; }
};

// Where it went, as far as that is recorded.
inline std::string target_of(const JournaledWrite& write) {
  return write.api_version.empty() ? write.path : write.path + "?api-version=" + write.api_version;
}

// What a record says of a write before it is sent.
inline void describe(const IntentRecord& record, JournaledWrite& write) {
  write.client = record.client;
  write.request_hash = record.request_hash;
  write.resend = record.resend;
  write.named = record.named;
  write.first_sent = record.first_sent;
  write.client_label = record.client_label;
  write.tool = record.tool;
  write.request_id = record.request_id;
  write.method = record.method;
  write.host = record.host;
  write.path = record.path;
  write.api_version = record.api_version;
  write.resource = record.resource;
  write.if_match = record.if_match;
  write.also_locked = record.also_locked;
  write.owned = record.owned;
  write.begun = record.begun;
}

// What is recorded of another sending of the same write, but for what is new with it: its ETag and its time.
inline IntentRecord another_sending(const JournaledWrite& write) {
  IntentRecord record;
  record.client = write.client;
  record.request_hash = write.request_hash;
  record.resend = write.resend;
  record.client_label = write.client_label;
  record.tool = write.tool;
  record.request_id = write.request_id;
  record.method = write.method;
  record.host = write.host;
  record.path = write.path;
  record.api_version = write.api_version;
  record.resource = write.resource;
  record.also_locked = write.also_locked;
  record.owned = write.owned;
  return record;
}

// A resource's provisioningState, and since when it has it, as far as armgate saw.
struct ResourceState {
  std::string resource;  // canonical id
  std::string state;     // empty: it is not known any more
  WallTime since;
};

// What a process that died before it can tell.
struct PreviousProcess {
  std::vector<JournaledWrite> open;     // writes that may be at ARM now, or whose operations may run
  std::vector<JournaledWrite> recent;   // may have changed something, and ended a short while ago; the oldest first
  std::optional<WallTime> since{};      // all that was begun from then on is among them, or had no effect
  std::vector<ResourceState> states{};  // of resources that were not well when it ended, as far as it knew
};

class Store {
 public:
  virtual ~Store() = default;

  // Durable (as durable as this store is) when it returns. An error means that nothing may be sent.
  virtual Task<Result<IntentId>> record_intent(const IntentRecord& record) = 0;
  // Durable soon: what is missing is in doubt, which is the truth.
  virtual void record_outcome(IntentId id, const WriteOutcome& outcome) = 0;
  // What the write began has ended, or is given up.
  virtual void record_end(IntentId id, WallTime when, EndSeen seen, const OperationResult& result) = 0;
  // The answer to the write was given again.
  virtual void record_replay(IntentId id) = 0;
  // The resource has another provisioningState than it had, as far as this process knows.
  virtual void record_state(const ResourceState& state) = 0;

  // False while nothing can be recorded, and so nothing is sent.
  virtual bool writable() const { return true; }

  // Writes that were begun in this life and may be at ARM now.
  struct Unfinished {
    std::string method;
    std::string resource;
    std::string client;
  };
  virtual std::vector<Unfinished> unfinished() const = 0;  // the oldest first
  virtual size_t unfinished_count() const = 0;
};

}  // namespace armgate
