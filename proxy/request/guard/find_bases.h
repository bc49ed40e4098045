// find_bases.h – finds out what a write may have been built from, when it arrives (docs/whose-write.md).
#pragma once

#include "proxy/request/write/write.h"

namespace armgate {

// For a write that replaces something, or may go again behind an operation URL of armgate's own: fills in write.facts and
// write.bases, from what its client was shown before its first sending. Again when its client's own earlier writes have come to
// something else meanwhile.
void find_bases(Write& write);

// Whether the client sends again what was refused to it, reads nothing, and nothing was written since: asked anew after each
// wait.
bool is_forced(const Write& write);

// Bodies in plain bytes, as comparing needs them; one that cannot be decoded is not kept.
void decode_bodies(std::vector<policy::BaseState>& states, size_t bytes_max);

// From its making to its end the write is one of those that its client has under way on the resource: two different ones at
// once show that it is more than one actor.
class WriteUnderWay {
 public:
  explicit WriteUnderWay(const Write& write);
  ~WriteUnderWay();
  WriteUnderWay(const WriteUnderWay&) = delete;
  WriteUnderWay& operator=(const WriteUnderWay&) = delete;

 private:
  const Write& write_;
};

}  // namespace armgate
