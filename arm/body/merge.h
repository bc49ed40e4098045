// merge.h – the body that a stale write should lead to: what is there, with what the write changes (docs/merging.md; why so:
// docs/design.md, "Merging").
//
// Why: a client that read before another's write, and changes something else, need not be refused: what it was built from
// (base), what it asks for (wanted) and what is there now are known, and together they say what both clients want.
//
// What it leads to
//   Everything of `there` that the write does not change, byte for byte; what the write changes, in its bytes but for members
//   that only the service writes. Elements of arrays with keys stay in the order of `there`, new ones come after them in the
//   write's order; where the order counts, it is the one side's that changed it. A name or a key never stands there twice.
//
// What is never put together
//   A conflict: both changed the same (arm/body/difference.h), or two elements would share what must be unique
//   (ArrayFact::unique). And what cannot be known to be right: see MergeObstacle.
//
// Bounds: those of Difference; linear in the bodies, but for sorting. The result is compared once more with all of them before
// it is handed out: it is `there` wherever the write changes nothing, and what is wanted wherever it does.
// Threads: pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arm/body/difference.h"

namespace armgate::arm {

// Which changes of a write may be merged; what others did stays whatever it was.
enum class MergeScope {
  Maps,    // members of free-form maps such as tags
  Leaves,  // and what stands outside arrays: for types of which nothing is known
  All,     // and elements of arrays
};

enum class MergeObstacle {
  None,
  Unreadable,     // one of the bodies cannot be read, or is too large
  Incomplete,     // what is there or what is wanted is not a whole resource
  Secret,         // of a secret it is unknown what it is, or whether it is one
  Scope,          // the write changes what may not be merged
  LeftOut,        // the write leaves out a whole map or array: whether that removes all that is in it only ARM knows
  AllThere,       // all that the write adds, others have added the same: two who count from nothing look like that, too
  SameName,       // two names that differ in case alone would stand beside each other
  Contradiction,  // the result would be wrong: a container without members that one side removes and another fills
  Spelling,   // an element's key in another case: the same element to ARM perhaps, and another one to what uses it (variables)
  Ambiguous,  // what comes of it depends on which of the bases the write was built from
};

// What a write may have been built from.
struct MergeBase {
  ComparedBody body;
  // Not empty: the body is the answer to a write of the same client's, which sent this (see OwnWrite).
  std::string_view sent{};
};

struct MergeBodies {
  std::vector<MergeBase> bases;  // at least one
  ComparedBody wanted;
  ComparedBody there;
};

// Places of a body: how many, and JSON pointers to the first Difference::kPointersMax of them.
struct MergePlaces {
  size_t count = 0;
  std::vector<std::string> pointers;
};

struct Merge {
  enum class Kind { Merged, Conflict, Impossible };
  Kind kind = Kind::Impossible;
  MergeObstacle obstacle = MergeObstacle::None;  // Impossible
  std::string body;                              // Merged
  MergePlaces taken;                             // Merged: what the write changes
  MergePlaces kept;                              // Merged: what others changed and stays
  MergePlaces in_the_way;                        // Conflict: what both changed. Impossible: the obstacle, if it is at one place
};

// Merged: the same comes of it whatever base it was. Else why it does not for the first of those that are in the way.
Merge merge(const MergeBodies& bodies, const BodyFacts& facts, MergeScope scope);

// Whether what is asked for has a value where values are never shown: what others have set there shows by the ETag alone.
bool carries_secret(std::string_view json, const BodyFacts& facts);

// "secret", for logs.
std::string_view to_text(MergeObstacle obstacle);

}  // namespace armgate::arm
