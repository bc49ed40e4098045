// evidence.h – what the body of a full PUT says about the state that it was built from (DESIGN §3, rule 6).
//
// Why: a read-modify-write carries its base in its body. Where the states that its client was shown differ, it has the
// values of the one that was read, but for the few places that it changes itself.
//
// How it is read. A place is a leaf, a member of a map (tags, labels) or an element of an array that has keys, or of a list of
// texts, which are their own; only places where the states differ from each other are looked at.
//   - The PUT has the value of some of the states there: it speaks for these and against all others.
//   - It has a value of its own: it changes that place, which says nothing.
//   - It leaves the place out: tools drop what they do not know, which says nothing; but in a map or an array with keys it
//     looks the same as a removal, and speaks weakly for the states without.
//   - An element or object that some states lack is one place as long as it is compared with these: two actors that add one of
//     the same name agree in its defaults by chance, so it must be like the state's as a whole.
// A state agrees if at least one place speaks for it and none against. If none does, nothing is said about any: the body
// was not made from one of them alone (declarative tools), or it takes a leaf back. Nor is anything said if the PUT would
// leave one of the states as it is: that comes from a change that somebody else has made too, or from taking one back.
//
// If none agrees, those that are in hand are weighed once more among themselves: the PUT may have a change of its own that a used
// up state had too, before somebody wiped it out. That says less: what is used up may still be held (a copy that two writes were
// made from). So it may be believed against sending a write, never for sending it.
//
// Why absence is weak: states {a} and {a,b}, a PUT with {a,c}. It was built on the first, or on the second and removes b.
// The caller may believe it against the newer state, which at worst refuses a write, but never against an older one.
//
// Limits: two actors that set a leaf to the same value and change something else cannot be told from one that built on the
// other. Orders within arrays with keys are not seen. Work: linear in the states but for sorting; more than
// kEvidenceStatesMax states or kEvidenceNodesMax values in one are not looked at.
#pragma once

#include <string_view>
#include <vector>

#include "arm/content.h"

namespace armgate::arm {

enum class Evidence {
  Silent,                // nothing is known
  Agrees,                // the PUT may have been built on it, and something says so
  ContradictsByAbsence,  // only by what the PUT does not have: it was not built on it, or removes that
  Contradicts,           // it has what it cannot have from this state
};

struct WeighedState {
  std::string_view body;
  bool in_hand = true;  // not used up
};

struct StateEvidence {
  Evidence says = Evidence::Silent;
  Evidence says_in_hand = Evidence::Silent;  // among the states in hand, if none of all agrees
};

constexpr size_t kEvidenceStatesMax = 16;
constexpr size_t kEvidenceNodesMax = 50'000;

// One answer for each state, which are bodies of the same resource read at the PUT's own api-version. What cannot be read
// is Silent and left out; beyond the limits all are.
std::vector<StateEvidence> weigh_evidence(std::string_view put, const std::vector<WeighedState>& states,
                                          const BodyFacts& facts);

// True if the PUT has all that stands in the state, and maybe more: written over it, it loses nothing of it, whatever it was
// built from. What a resource is called may be missing. False if either cannot be read.
bool carries(std::string_view put, std::string_view state, const BodyFacts& facts);

}  // namespace armgate::arm
