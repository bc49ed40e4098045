// observed_writes.h – which unfinished writes meet on a lock key, while armgate looks on and holds nobody up (mode observe).
//
// Invariants  a write counts from begin() to end(); nothing here makes anybody wait.
// Threads     any; one short mutex.
// Limits      Options::writes_max unfinished writes; more are not followed.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/mutex.h"
#include "rules/plan.h"

namespace armgate {

class ObservedWrites {
 public:
  struct Options {
    size_t writes_max = 100'000;
  };

  struct Write {
    uint64_t id = 0;
    Hash128 request{};  // the same for all sendings of one request, as far as anybody can tell
    Hash128 request_hash{};
    Hash128 client{};
    std::string client_label;
    std::string method;
    std::string resource;
    TimePoint since{};
    bool is_reentrant = false;  // it goes along with what the same client has running, if that lets it in
    bool admits_own = false;    // once ARM has accepted it
    bool taken = false;         // ARM has accepted it: only its operation is unfinished
  };

  // A write whose predecessors have all ended now: this is how long it would have waited.
  struct Wait {
    Write write;
    Write last;  // whose end it was
  };

  explicit ObservedWrites(Options options) : options_(options) {}

  struct Begun {
    uint64_t id = 0;            // 0: too many are unfinished, it is not followed
    std::vector<Write> before;  // unfinished ones that it would have waited for, the oldest first
  };
  // A further sending of one request does not wait for the earlier ones.
  enum class Sending { First, Again };
  Begun begin(Write write, const std::vector<rules::LockKey>& keys, Sending sending);

  // ARM has accepted it. Of its keys it lets go of those that had to stand still only until then.
  std::vector<Wait> taken(uint64_t id, const std::vector<std::string>& let_go);

  // Its end was seen, or nobody will know when it was: then nothing is said about those who would have waited for it.
  enum class End { Seen, Unseen };
  std::vector<Wait> end(uint64_t id, End how);

  size_t size() const;

 private:
  struct Unfinished {
    Write write;
    std::vector<rules::LockKey> keys;
    std::vector<uint64_t> waited_for_by;
  };
  struct Waiting {
    Write write;
    std::vector<rules::LockKey> keys;
    size_t left = 0;  // predecessors that have not ended
  };

  void forget_key(const std::string& key, uint64_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // One predecessor less; the wait, if that was the last.
  void note_free(uint64_t later, const Write& ended, End how, std::vector<Wait>& over) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  mutable Mutex mutex_;
  absl::flat_hash_map<uint64_t, Unfinished> unfinished_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::vector<uint64_t>> by_key_ ABSL_GUARDED_BY(mutex_);  // in order of arrival
  absl::flat_hash_map<uint64_t, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);                  // also after their own end
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace armgate
