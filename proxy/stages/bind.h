// bind.h – finds the state that a write was built from, and ties it to the write's bytes (DESIGN §3, "The base of a full PUT").
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/stages/write.h"

namespace armgate {

// The base of a write that replaces something, among all that its client was shown before it arrived. If the client sends the
// same bytes again, the base is what it was. Whoever gets a binding leaves it: see close_exchange().
Bound bind(const Write& write);

// From its making to its end the write is one of those that its client has under way on the resource: what it overlaps with is
// told apart less surely (rules 3 and 7). A re-send is under way already.
class WriteUnderWay {
 public:
  explicit WriteUnderWay(const Write& write);
  ~WriteUnderWay();
  WriteUnderWay(const WriteUnderWay&) = delete;
  WriteUnderWay& operator=(const WriteUnderWay&) = delete;

 private:
  const Write& write_;
  std::optional<uint64_t> number_;  // none: a re-send
};

}  // namespace armgate
