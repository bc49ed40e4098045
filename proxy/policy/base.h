// base.h – which state was this full PUT built from? (DESIGN §3, "The base of a full PUT")
//
// Wrong answers here lose updates, so in doubt the answer is an older state, never a newer one: ARM then refuses a write
// that might be stale. The rules are tried in their order; each is one function in base.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/evidence.h"
#include "base/hash.h"
#include "base/time.h"
#include "proxy/policy/view.h"

namespace armgate::policy {

// Which rule decided. The names appear in x-armgate-guard and in the log.
enum class BaseRule {
  OwnPrecondition,  // 1: the client sent its own; nothing is touched
  BodyEtag,         // 2: the body carries the ETag it was built from
  RequestId,        // 3: read and write carry the same x-ms-client-request-id
  OnlyLive,         // 4: there is just one state it can have been built from
  Create,           // 5: the client was told that the resource does not exist
  Blind,            // 5: nothing was ever delivered to this client
  Evidence,         // 6: the body itself says which of several states it was built from
  SingleNewest,     // 7: one actor: the newest it has been shown
  OldestLive,       // 8: fails closed
  SinceRefusal,     // the same bytes after a delivered 412: the newest state delivered since
  Insisted,         // the same bytes, insist_after a 412, without a read: sent unguarded, counted and said
  Refused,          // no live state: answered 412 locally
};

std::string_view to_text(BaseRule rule);

// The state a write was built from, kept apart from the view so that eviction cannot change a decision once made.
struct Base {
  BaseRule rule = BaseRule::Blind;
  uint64_t version = 0;  // id in the view; 0: none
  std::string etag;      // to be sent as If-Match; empty: none known
  std::shared_ptr<const KeptBody> body;
  std::string target;       // where to read it again
  std::string api_version;  // of the body
  Moment known;             // Create: when the client was told that the resource is absent
  // Something else was shown to the client later, which the write may be built from as well: the base is only the safe side
  // of a guess, and that the resource is back in that state proves nothing about the write. Content evidence makes it no
  // guess if it rules out all else that was shown: what the body would overwrite of it, it carries itself.
  bool guessed = false;

  // True if the write has a state it can be compared with: an ETag or at least a body.
  bool has_state() const { return !etag.empty() || body != nullptr; }
  bool goes_unguarded() const { return rule == BaseRule::Create || rule == BaseRule::Blind || rule == BaseRule::Insisted; }
};

enum class Actor { Single, Many };

// What the body says about one version.
struct VersionEvidence {
  uint64_t version = 0;
  arm::Evidence says = arm::Evidence::Silent;
  arm::Evidence says_in_hand = arm::Evidence::Silent;  // see arm::StateEvidence
};

// What is known about the write itself.
struct WriteFacts {
  Moment arrived;               // first byte of its head; only what was delivered before counts
  std::string_view request_id;  // may be empty
  std::string_view body_etag;   // rule 2; empty: none
  std::string_view api_version;
  std::vector<VersionEvidence> evidence;  // rule 6; a version that is not in it is one that nothing is known about
  Actor actor = Actor::Many;
  Hash128 peer{};
  bool prefer_peer = false;                // the client is known by its token only: versions seen from its address first
  std::optional<Moment> own_delete;        // the client's own finished delete of the resource or of what contained it, if no
                                           // other client's came later: for it there is nothing there since then
  std::optional<Moment> refused_at;        // these bytes were answered 412 (delivered) then ...
  std::optional<TimePoint> refused_first;  // ... and first at this time
  std::string_view refused_id;             // the request id that they then came under; may be empty
};

struct BaseLimits {
  Duration think_max = std::chrono::minutes(5);
  Duration insist_after = std::chrono::minutes(5);
};

Base decide_base(const View& view, const WriteFacts& write, const BaseLimits& limits, const Liveness& liveness);

}  // namespace armgate::policy
