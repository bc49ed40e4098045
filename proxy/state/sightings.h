// sightings.h – who was shown, or has written, which state of a resource, over all clients (mode observe).
//
// Why: to protect, armgate asks ARM whether a write's base is still the state of the resource. Who only looks on must not ask, and
// learns it from what passes by: the writes that ARM accepted, and what others were shown. The states themselves stay where they
// are, in the views of the clients that were shown them.
//
// Invariants  forgetting only means that something is not noticed.
// Threads     any; one short mutex.
// Limits      Options; the resources that nothing was added to for longest are forgotten.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "arm/http.h"
#include "base/hash.h"
#include "proxy/async/mutex.h"

namespace armgate {

struct Sighting {
  enum class How { Read, Written } how = How::Read;
  Hash128 client{};
  std::string client_label;
  uint64_t shown = 0;  // order of the delivery that showed the state to this client; 0: its write was answered without one
  uint64_t since = 0;  // the state is at least as new as this
  // Of what was written:
  arm::Method method = arm::Method::Get;
  Hash128 bytes{};
  Hash128 origin{};  // the same for all sendings of one write
};

class Sightings {
 public:
  struct Options {
    size_t resources_max = 100'000;
    size_t writes_kept = 8;   // of one resource
    size_t readers_kept = 8;  // of one resource; of each the newest read
  };
  explicit Sightings(Options options) : options_(options) {}

  void add(const Hash128& resource, Sighting sighting);

  // Those of states that are newer than `since`, the newest first.
  std::vector<Sighting> after(const Hash128& resource, uint64_t since) const;

  size_t size() const;

 private:
  struct Entry {
    std::vector<Sighting> writes;  // oldest first
    std::vector<Sighting> reads;   // oldest first
    std::list<Hash128>::iterator age;
  };

  const Options options_;
  mutable Mutex mutex_;
  absl::flat_hash_map<Hash128, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::list<Hash128> by_age_ ABSL_GUARDED_BY(mutex_);  // longest untouched first
};

}  // namespace armgate
