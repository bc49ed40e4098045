// bindings.h – which base belongs to which bytes (DESIGN §3: "decided when the body is in, and then bound to these bytes").
//
// Why: a client sends the same write again after our 503, after a 429, after a broken connection. What it was built from has
// not changed, whatever the client read in between, so the base found at the first arrival stays with the bytes until a final
// answer was delivered.
//
// Invariants
//   1. A binding with workers is never forgotten.
//   2. Bytes that come back while the first sender still listens are a second write, unless both carry the same request id.
// Threads   none of its own; guarded by its ClientState.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/time.h"
#include "proxy/policy/base.h"

namespace armgate {

enum class BindingPhase {
  Working,      // an exchange works on it and its client listens
  Expected,     // answered 408, 429 or 5xx: the client is expected to send the bytes again
  Undelivered,  // the final answer was not delivered
  Written,      // the final answer was written; whether it arrived is not known yet
};

struct Binding {
  uint64_t id = 0;
  Hash128 bytes{};
  std::string request_id;
  policy::Base base;
  Moment first_arrival;
  BindingPhase phase = BindingPhase::Working;
  int workers = 0;
  // An attempt of these bytes may have taken effect without the client knowing it.
  bool maybe_applied = false;
  bool used_its_base = false;  // they were accepted: a delivery of the base is used up, and not another when they come again
  int visibility_tries = 0;    // sendings so far that something new was not visible to, over all re-sends
  TimePoint since{};           // of the phase, once no exchange works on it
};

class Bindings {
 public:
  struct Options {
    size_t bindings_max = 10'000;
    Duration keep = std::chrono::minutes(5);  // how long a client's re-send is waited for
  };
  explicit Bindings(Options options) : options_(options) {}

  // The binding that an arrival of `bytes` continues, or null: then it is a new intention. `read_since` tells whether a read
  // of the resource was delivered to the client after a moment.
  Binding* find_resend(const Hash128& bytes, std::string_view request_id, TimePoint now,
                       const std::function<bool(Moment)>& read_since);

  Binding& add(const Hash128& bytes, std::string_view request_id, policy::Base base, Moment arrived);
  // Of bytes that may have been applied by a process before this one, and may come again. Gives its number.
  uint64_t expect(const Hash128& bytes, std::string_view request_id, policy::Base base, Moment when);
  Binding* find(uint64_t id);
  const Binding* find(uint64_t id) const;
  void forget(uint64_t id);
  void expire(TimePoint now);
  size_t size() const { return by_id_.size(); }

 private:
  bool is_over(const Binding& binding, TimePoint now) const;

  const Options options_;
  uint64_t next_id_ = 1;
  std::list<Binding> in_order_;  // oldest first
  absl::flat_hash_map<uint64_t, std::list<Binding>::iterator> by_id_;
  absl::flat_hash_map<Hash128, std::vector<uint64_t>> by_bytes_;
};

}  // namespace armgate
