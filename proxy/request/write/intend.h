// intend.h – records a write before it is sent: whatever becomes of armgate then, the record says that the write may be at ARM.
//
// Invariant  an Intent is made here alone, from a Guarded (docs/decisions/0005).
#pragma once

#include <optional>
#include <utility>

#include "proxy/async/task.h"
#include "proxy/request/guard/guard.h"
#include "proxy/seams/store.h"

namespace armgate {

class Intent {
 public:
  const Precondition& precondition() const { return guarded_.precondition(); }
  IntentId id() const { return id_; }
  // What to answer instead of sending, if the guard step found the work done.
  std::optional<Outcome> take_found_done() { return std::exchange(guarded_.found_done_, std::nullopt); }
  WriteLease take_lease() && { return std::move(guarded_).take_lease(); }
  void set_phase(WritePhase phase) { guarded_.lease_.set_phase(phase); }
  void note_sent(TimePoint since) {
    guarded_.lease_.note_at_arm(since);
    guarded_.lease_.set_phase(WritePhase::Sent);
  }

 private:
  friend Task<Step<Intent>> intend(const Write& write, Guarded guarded);
  Intent(Guarded guarded, IntentId id) : guarded_(std::move(guarded)), id_(id) {}
  Guarded guarded_;
  IntentId id_;
};

// What is recorded of the write whatever goes along with it; it refers to the write and to `also_locked`.
IntentRecord record_of(const Write& write, std::string_view also_locked);

// Nothing was sent yet if it fails.
Task<Step<Intent>> intend(const Write& write, Guarded guarded);

}  // namespace armgate
