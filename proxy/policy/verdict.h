// verdict.h – what becomes of a write: one answer for all that it may have been built from (docs/whose-write.md).
//
// Why: for each possible base it is worked out what the write should lead to. If all say the same, it does not matter which it
// was. If they do not, the client is asked to read again, never is one of them taken on a guess. Pure. All bodies are plain
// bytes, and readable ones are compared only at one api-version.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arm/body/body_facts.h"
#include "arm/body/merge.h"
#include "proxy/policy/bases.h"
#include "proxy/policy/right.h"

namespace armgate::policy {

// The write as far as it is compared.
struct WantedBody {
  std::string_view json;
  std::string_view api_version;
  arm::BodyKind kind = arm::BodyKind::Whole;  // Partial: a PATCH, which says nothing about what it leaves out
};

// What is there, read at one api-version under the write's lock.
struct ThereBody {
  bool absent = false;
  std::string_view etag;  // empty if it does not tell everything: then the bodies do
  std::string_view json;
  std::string_view api_version;
  // The same state at other api-versions.
  struct Elsewhere {
    std::string api_version;
    std::string json;
  };
  std::span<const Elsewhere> elsewhere{};
};

// Decides whether the write looks stale, and leaves in `possible` all that it may have been built from; `if_stale` is empty
// afterwards.
void narrow_down(Bases& bases, const WantedBody& wanted, const arm::BodyFacts& facts);

struct Verdict {
  bool sends = false;
  bool by_right = false;              // because its client has read again since it was refused
  std::optional<arm::Merge> merged;   // sends: this body, in place of what the client asks for
  SharedBody merged_from;             // and what it was built from
  bool conflict = false;              // refused: whatever it was built from, others have changed the very same
  std::vector<std::string> pointers;  // refused: JSON pointers of what stands in its way, a few

  // Refused, and nothing could be compared: the only pointer is that of the whole.
  bool is_incomparable() const { return !pointers.empty() && pointers.front().empty(); }
};

// Tells of an order whether anybody else's write was accepted after it, or has ended.
using OthersWroteSince = std::function<bool(uint64_t order)>;

// After narrow_down() and add_merged(). `scope`: what may be merged; nullopt: nothing is, and a write is refused if others have
// changed something.
Verdict decide(const Bases& bases, const WantedBody& wanted, const ThereBody& there, const Right& right,
               const OthersWroteSince& others_wrote_since, const arm::BodyFacts& facts, std::optional<arm::MergeScope> scope);

// Whether the write would change what is there in just the places in which the refused one would have changed what it found:
// it is the same actor's, trying again. True if the bodies are not known.
bool tries_the_same(const Refusal& refusal, const WantedBody& wanted, const ThereBody& there, const arm::BodyFacts& facts);

}  // namespace armgate::policy
