// difference.h – several bodies of one resource side by side: where they differ, and what a write should lead to
// (docs/design.md, "Reconciliation").
//
// Why: what a write was built from, what it asks for and what is there now are bodies of one resource at one api-version. Every
// question about them is about the few places where they differ. Those are found once, in one walk over all bodies; each
// question then looks at them alone.
//
// What is compared
//   A row is a place where not all bodies are the same: a leaf, a member of a map, or an element of an array with keys. Members
//   that only the service writes have none. Objects are compared by member, maps and arrays with keys by what they hold, in any
//   order. Keys: those that the facts name, else those known for arrays of that name, else "name", else "id", as long as they
//   are present, plain and unique in every body; all other arrays are one value. Ids (beginning with /subscriptions/) count
//   without case, as names of members too, numbers by value. null, an empty map and an empty array count as absent. A map
//   member or an element that one of the bodies in question lacks is one place as a whole, else its own leaves are.
//
// Partial bodies
//   Bytes that were sent stand for a state when ARM answered without a body; a list shows its items with fewer members. What
//   such a body leaves out is unknown there and differs from nothing. In maps and in arrays that are there, lacking is lacking.
//
//   The same goes for what the facts call kept: a write that leaves it out says nothing of it.
//
// What cannot be read
//   A body that is no JSON, names a member twice, nests deeper than kNestingMax, or has more than kNodesMax values; and every
//   body where there are more than kBodiesMax. Each question about one of these gets the answer that loses nothing: not the
//   same, Conflict, not satisfied. looks_stale() says no: it asks for more bases, and those are in conflict anyway.
//
// Cost: linear in the bodies but for sorting; equal bytes are read once. A question is linear in the rows.
// Threads: immutable. Keeps nothing of the texts that it was made from, but must not outlive the facts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arm/body/body_facts.h"

namespace armgate::arm {

enum class BodyKind {
  Whole,    // what it leaves out is not there
  Partial,  // what it leaves out is unknown
  Absent,   // the resource does not exist; the text is not looked at
};

struct ComparedBody {
  std::string_view json;
  BodyKind kind = BodyKind::Whole;
};

// A write that ARM accepted and its answer, by index, both of the client whose next write is judged: what only the answer has,
// the service filled in. Neither is it another's change, nor does a body that leaves it out remove it.
struct OwnWrite {
  size_t sent = 0;
  size_t answer = 0;
};

enum class Resolution {
  Send,       // nothing moved: what is asked for
  Contained,  // others changed something, and all of it stands in what is asked for: that
  Merge,      // others changed something else: what is there, with the write's changes
  Conflict,   // both changed the same; or the write changes nothing while something moved
};

struct Reconciliation {
  Resolution resolution = Resolution::Conflict;
  bool changes_nothing = false;  // the write asks for what its base had already
  // What is there has members that the write leaves out and of which its base, being partial, says nothing. Without a write of
  // somebody else's since the base the service filled them in; else they may be that write's.
  bool unseen = false;
  // JSON pointers, at most as many as were asked for, in the order of the rows. Conflict: what both changed, or what moved if
  // the write changes nothing; Merge, Contained: what others changed. An element stands as
  // /properties/securityRules/[name=web]; the resource as a whole, or what cannot be read, as "".
  std::vector<std::string> pointers;
};

// What a body has at a row.
namespace row_value {
inline constexpr uint32_t kUnknown = 0;  // a partial body, a secret that is never shown, or what a PUT keeps that leaves it out
inline constexpr uint32_t kLeftOut = 1;  // absent: it is not mentioned, nor is the map or the array that it would stand in
inline constexpr uint32_t kAbsent = 2;   // absent: null, empty, or lacking in a map or an array that is there
inline constexpr uint32_t kFirst =
    3;  // from here on: present, and equal numbers are equal values. In a Whole row all are this one
}  // namespace row_value

enum class RowKind {
  Scalar,  // a leaf; an object without members, where another has none, is one
  Array,   // compared as one value, or the order of an Ordered one
  Member,  // of a map: a plain value
  Whole,   // a member of a map or an element of an array with keys; its own rows follow it
};

struct DifferenceTable;  // arm/body/difference_table.h

class Difference {
 public:
  static constexpr size_t kBodiesMax = 128;  // all states of a history, and what was refused on them, fit
  static constexpr size_t kNodesMax = 50'000;
  static constexpr size_t kNestingMax = 256;
  static constexpr size_t kPointersMax = 10;

  Difference(std::span<const ComparedBody> bodies, const BodyFacts& facts, std::span<const OwnWrite> own = {});
  ~Difference();
  Difference(Difference&&) noexcept;
  Difference& operator=(Difference&&) noexcept;

  bool readable(size_t body) const;

  // No writable leaf differs. An absent resource is the same as an absent one.
  bool same(size_t a, size_t b) const;

  // `base`: what the write may have been built from; `wanted`: what it asks for; `there`: what is there.
  Reconciliation reconcile(size_t base, size_t wanted, size_t there, size_t most = kPointersMax) const;

  // Whether the write looks as if it were built on one of `olds` instead of `newest`, the newest state that its client was
  // shown. One of these signs is enough:
  //   - it has a value of an old state where the newest state has another one;
  //   - it lacks what an old state lacked and the newest has, and no member or element shows that it knows what this client's
  //     own writes added or removed in between. A client that replaces one element after the other is not stale. That the write
  //     has what others added proves nothing: both may add the same;
  //   - it changes nothing against the newest state although a scalar moved in between.
  // What the service filled in does not count, nor what the client had sent before the newest state and the service had not
  // taken, nor do absent olds. If the newest state is absent, the answer is yes. `olds`: newest first. `own`: what this client
  // had sent to make those states and the newest.
  bool looks_stale(size_t wanted, std::span<const size_t> olds, size_t newest, std::span<const OwnWrite> own = {}) const;

  // `state` is what a PUT of `wanted` leads to: it has all that is asked for, maps and arrays exactly. What a write leaves out
  // may be there; what the service never shows (secrets) makes it false.
  bool satisfied(size_t wanted, size_t state) const;
  // The same, but leaves out members that `wanted` only repeats from `before` and that differ from what had been asked for then
  // (`asked_before`): the service decides on such a member itself.
  bool satisfied_since(size_t wanted, size_t state, size_t before, size_t asked_before) const;

  // `state` has a change that `wanted` makes to `base`, at a place where `other` asks for something else: what made the state
  // was not `other` alone. What a partial `other` leaves out it does not ask to be gone, nor does a whole one where the service
  // may fill it in.
  bool shows_change_of(size_t wanted, size_t other, size_t base, size_t state) const;

  // Where the two differ, at most `most`.
  std::vector<std::string> changed(size_t before, size_t after, size_t most = kPointersMax) const;

  // ---- the rows, in the order of the document's names and of the keys ----
  size_t rows() const;
  RowKind kind(size_t row) const;
  size_t end(size_t row) const;  // the next row that is not below this one
  uint32_t value(size_t row, size_t body) const;
  std::string pointer(size_t row) const;

  // For arm/body/merge*.cc.
  const DifferenceTable& table() const { return *table_; }

 private:
  std::unique_ptr<const DifferenceTable> table_;
};

}  // namespace armgate::arm
