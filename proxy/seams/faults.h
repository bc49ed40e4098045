// faults.h – the seam for faults that only a simulation injects (docs/decisions/0002).
//
// A call site asks fire() at a point where the world may be unkind; in production the answer is always no.
#pragma once

namespace armgate {

enum class FaultPoint {
  SettleLate,      // the gap between ARM's answer and the operation lease's registration is long
  PollSkipped,     // the poller misses a poll
  VersionEvicted,  // the versions of a client are dropped as if over budget
};

class Faults {
 public:
  virtual ~Faults() = default;
  virtual bool fire(FaultPoint point) = 0;
};

// Production: nothing ever goes wrong on purpose.
class NoFaults final : public Faults {
 public:
  bool fire(FaultPoint) override { return false; }
};

}  // namespace armgate
