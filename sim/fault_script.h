// fault_script.h – which requests go wrong on purpose: by header, by script, by chance.
//
// A script is the body of POST /__sim/faults: {"faults":[{"method":"POST","path":"restart","kind":"drop-after","times":3}]}
// where method and path (a part of the target, compared without case) may be absent and times is 1 by default. Kinds:
// drop-before, drop-after, status-429 or any other error status, and error-NAME (sim/error_catalogue.h); these are answered
// without doing anything. fail-later-CODE strikes writes only, and only those that start an operation: that fails with the
// code, and the old content comes back; after fail-partly-CODE the new content stays, and the resource, or its child that was
// written, is in state Failed. stale-300 strikes reads only: what a replica that is 300 ms behind would show, lists and
// absences included. "retry_after" is what an error says in Retry-After, whatever it says otherwise: seconds as a number, or
// any text. "chance" is the share of the requests that fit and are struck; with it, times has no limit unless it is given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/http.h"
#include "base/result.h"
#include "base/rng.h"
#include "sim/error_catalogue.h"
#include "sim/sim_options.h"

namespace armgate::sim {

struct Fault {
  enum class Kind { None, DropBefore, DropAfter, Status, Refusal, Stale, FailsLater } kind = Kind::None;
  int status = 0;
  const sim::Refusal* refusal = nullptr;
  std::string retry_after{};  // empty: as the error has it
  Duration behind{};          // how far the replica lags that answers a read
  std::string code{};         // FailsLater: of the operation's error
  bool partly = false;        // FailsLater: what it has done stays
};

class FaultScript {
 public:
  // Adds to the script; BadInput leaves it as it was.
  Result<void> add(std::string_view json);

  // The fault of this request, if any. A script entry is used up by it.
  Fault next(const arm::RequestHead& head, const SimOptions& options, Rng& rng);

  void clear() { entries_.clear(); }

 private:
  struct Entry {
    std::string method;
    std::string path;
    Fault fault;
    uint64_t times = 1;
    double chance = 1;
  };
  static Result<Entry> parse_entry(std::string_view json);
  std::vector<Entry> entries_;
};

std::optional<Fault> parse_fault(std::string_view kind);

}  // namespace armgate::sim
