// view.h – what one client has been shown of one resource (DESIGN §3, "Version").
//
// Why: a full PUT must go to ARM with the ETag of the state it was built from. That state is one of those that were
// delivered to its client, so deliveries are remembered, each with when and to whom, and are used up by the writes that
// were built on them. Pure values; time is passed in.
//
// Invariants
//   1. A version's deliveries are in the order of their moments.
//   2. Two versions of one view differ in writable content, or it could not be compared.
//   3. `id`s are unique within a view and never reused.
//   4. At most one version is `absent`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/time.h"

namespace armgate::policy {

enum class DeliveryKind { PointRead, OwnAnswer, ListItem };

// Confirmed once the client showed that it has the whole answer; until then the delivery counts only as an older
// candidate: it is never what makes a version the newest, and never what makes older ones die.
enum class Confirmation { Pending, Confirmed };

constexpr uint32_t kAnyShape = 0;
// One number for each api-version. That two get the same is next to impossible, and means only that they are not told apart.
uint32_t shape_of(std::string_view api_version);

struct Delivery {
  Moment at;  // taken before the answer's last byte was written
  DeliveryKind kind = DeliveryKind::PointRead;
  Confirmation confirmation = Confirmation::Pending;
  std::string request_id;      // x-ms-client-request-id of the request it answered; may be empty
  Hash128 peer{};              // the client's address; zero: told at no address, it counts for all
  bool consumed = false;       // a write that was built on it was accepted
  uint32_t shape = kAnyShape;  // see shape_of(); absence has none
  uint64_t asked = 0;          // order of when the read was sent to ARM, or the write came; 0: not known

  // The state is at least as new as this: what armgate saw happen later may be missing from it, however late it was
  // delivered.
  uint64_t known_since() const { return asked != 0 && kind != DeliveryKind::OwnAnswer ? asked : at.order; }
  // What was shown before this is older than the state for certain; what was shown after it may be either.
  uint64_t newer_than() const { return asked != 0 ? asked : at.order; }
};

// A body as it was received; shared between versions, pages and bindings.
struct KeptBody {
  std::string bytes;
  bool compressed = false;  // gzip or deflate, exactly as received
  // A full PUT's own body stands in for a state when ARM's answer to it carried none (202 with an empty body).
  bool is_sent_body = false;
};

// What a state looks like at one api-version.
struct Rendering {
  std::string api_version;
  std::string target;                    // the URL it was read at, for reading it again
  std::shared_ptr<const KeptBody> body;  // null: not kept or evicted
};

struct Version {
  uint64_t id = 0;
  std::string etag;                      // exact bytes, the newest of equal states; empty: the state carried none
  std::vector<std::string> older_etags;  // of equal states, for If-None-Match
  std::vector<Rendering> renderings;     // one for each api-version, the newest first
  std::vector<Delivery> deliveries;
  bool refused = false;  // a write on it was answered 412: dead at once
  uint64_t follows = 0;  // the version that the client's own write made this one of, if that is how it came about
  bool absent = false;   // the state of not existing: a delivered 404, or the end of the client's own DELETE

  bool has_etag(std::string_view wanted) const;
  // Null if it was not shown at this api-version, or too long ago.
  const Rendering* rendered_at(std::string_view api_version) const;
  // At this api-version or else the newest; an empty one if there is none at all.
  const Rendering& rendering_for(std::string_view api_version) const;
};

// How a new delivery relates to a version that is there already, decided by whoever can compare bodies.
enum class Sameness { Same, Different };

struct Observation {
  std::string etag;
  std::shared_ptr<const KeptBody> body;
  std::string target;
  std::string api_version;
  Delivery delivery;
  uint64_t follows = 0;  // see Version
};

// A write that was accepted, as far as it tells which delivery of its base it was built from.
struct Builder {
  std::string_view request_id;  // may be empty
  std::string_view api_version;
  Moment arrived;
};

class View {
 public:
  // A version delivered with exactly this ETag, or null. ETags of one resource never come back for another state.
  Version* find_etag(std::string_view etag);
  Version* find(uint64_t id);
  // The version with the delivery of this order, or null.
  const Version* delivered_at(uint64_t order) const;

  // Adds a delivery to the version that `same_as` names, or that was delivered with the same ETag, or as a version of its
  // own. An item of a list counts once, however often it is taken from its page. If it is the version's newest, the version takes over its body and URL at its api-version, and its ETag if it has
  // one that is new: a delivery without an ETag drops none, unless that one was refused. Returns the version's id. The
  // newest kDeliveriesMax deliveries of the version are kept, and up to kDeliveriesSlack more; beyond kVersionsMax the oldest
  // version is forgotten, beyond kRenderingsMax what it looked like at the api-version that it was not shown at for longest.
  uint64_t record(Observation observation, std::optional<uint64_t> same_as);

  // A 304: one more delivery, at this api-version, of the version that was delivered with the ETag, if there is one.
  void record_not_modified(std::string_view etag, std::string_view api_version, Delivery delivery);

  // The client was told 404, or its own DELETE has ended: for it the resource does not exist. Absence is a version like
  // any other: a create is built from it and uses it up.
  uint64_t record_absent(Delivery delivery);

  // Marks the delivery made at `order` as confirmed, wherever it is.
  void confirm(uint64_t order);

  // A write built on the version was accepted: one delivery made before it arrived is used up, that with the same request id
  // first, then the oldest at the same api-version, then the oldest.
  void consume(uint64_t id, const Builder& write);

  // A write on the version was refused: it is dead. Not so absence: ETags move for reasons of their own, so that one that was
  // refused must not be tried for ever; but a create that came too late proves that something is there, and the other actors
  // who were told 404 know as little of it. They hold it until they create, or until think_max has passed.
  void refuse(uint64_t id);

  // The resource was deleted at `order`: the ETags of what was shown before mean nothing any more.
  void bury(uint64_t order);

  // Drops what is older than `oldest`.
  void expire(TimePoint oldest);

  const std::vector<Version>& versions() const { return versions_; }
  bool empty() const { return versions_.empty(); }

  // Frees kept bodies, oldest version first, and returns how many bytes were given up.
  size_t drop_bodies();
  size_t body_bytes() const;

  // Until when two overlapping writes of the client to this resource forbid "its newest read" (rule 7).
  TimePoint overlap_until{TimePoint::min()};
  // Request ids under which two writes overlapped (rule 3); bounded.
  std::vector<std::string> overlapped_ids;

  // Every write looks at all of them. One that is missing leaves others of its version, which lead to the same base, or a refusal.
  static constexpr size_t kDeliveriesMax = 32;
  static constexpr size_t kDeliveriesSlack = 8;
  static constexpr size_t kVersionsMax = 64;
  static constexpr size_t kRenderingsMax = 4;
  static constexpr size_t kOverlappedIdsMax = 32;

 private:
  std::vector<Version> versions_;
  uint64_t next_id_ = 1;
};

// What decides whether a version still counts.
struct Liveness {
  TimePoint now;
  Duration think_max{};
  uint64_t deleted_order = 0;  // the newest finished delete of the resource or of what contains it
};

// True if a write may be sent on this version: not refused, with a delivery left that is newer than the last delete, and not
// outlived by a newer confirmed version for longer than think_max.
bool is_live(const View& view, const Version& version, const Liveness& liveness);
// The same, refused or not.
bool is_recent(const View& view, const Version& version, const Liveness& liveness);

}  // namespace armgate::policy
