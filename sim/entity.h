// entity.h – one resource group or resource, and what it was like before.
//
// A VNet's subnets, an NSG's rules and a cluster's pools live inside their parent's content and nowhere else: written
// inline or as resources of their own, they are one object. Other children (extensions, records) are entities themselves.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "json/tree_fwd.h"
#include "sim/machine/address.h"
#include "sim/resource_type.h"

namespace armgate::sim {

// What clients can write of a resource, never changed once it is shared.
using Content = std::shared_ptr<const nlohmann::json>;

// What an embellished type shows where nothing was written.
inline constexpr std::string_view kDefaultTier = "Standard";

struct Snapshot {
  TimePoint since;
  Content content;  // null: it did not exist
  std::string version;
  std::string etag;
  std::map<std::string, std::string> child_etags{};
  uint64_t state = 0;
  int links = 0;
};

// What is broken about a cluster (machine_wedges.cc).
struct Wedge {
  std::string pool;                                                       // lower case
  enum class OnDelete { Ends, Hangs, Fails } on_delete = OnDelete::Ends;  // what becomes of a DELETE of the pool
};

struct Entity {
  std::string key;  // lower-case id
  std::string id;   // as first written; ARM preserves casing
  std::string name;
  std::string shown_type;
  std::string type;
  const ResourceType* traits = nullptr;
  std::string subscription;
  std::string group_key;   // empty for a group
  std::string parent_key;  // of what it is below or about
  std::string guid;        // properties.resourceGuid of Network types
  TimePoint created;
  Content content;
  std::string version;                             // of the content: version_of()
  uint64_t writes = 0;                             // moves with every ETag
  std::string etag;                                // exact bytes; empty for types without
  std::map<std::string, std::string> child_etags;  // of children that have their own, by lower-case name
  uint64_t state = 0;                              // the content's serial in the state log, if one is kept
  int links = 0;                                   // how many the service says refer to it
  bool failed = false;                             // its last operation left it in state Failed
  std::deque<Snapshot> history;
  std::optional<Wedge> wedge{};
  // How the last operation ended, where that was not well: of the children by lower-case name, of the resource itself by "". A
  // write that succeeds takes it away.
  std::map<std::string, std::string> ended_badly{};
};

inline Snapshot snapshot_of(const Entity& entity, TimePoint now) {
  return {now, entity.content, entity.version, entity.etag, entity.child_etags, entity.state, entity.links};
}

// What a replica knows of it that has seen nothing since `then`: no content if it was not there yet.
Snapshot snapshot_as_of(const Entity& entity, TimePoint then);

// Ordered by key, so that lists and random choices are the same in every run.
using Entities = std::map<std::string, Entity, std::less<>>;

// Changes the names in identity.userAssignedIdentities, each to what `spelled` makes of it.
void spell_identities(nlohmann::json& content, const std::function<std::string(std::string_view)>& spelled);

// `body` without what only the service writes (id, name, type, etag, provisioningState, ...), at any depth; names of
// children stay.
nlohmann::json writable_content(const nlohmann::json& body, const ResourceType& traits);

// The same of a child's own body, as it is to stand in its parent's content under this name.
nlohmann::json writable_child(const nlohmann::json& body, const ResourceType& traits, const ChildKind& kind,
                              std::string_view name);

// A child as it stands in the parent's content; null if there is none of that name (compared without case).
const nlohmann::json* find_child(const nlohmann::json& content, const ChildKind& kind, std::string_view name);

// The parent's content with the child put in, or taken out.
nlohmann::json with_child(nlohmann::json content, const ChildKind& kind, const nlohmann::json& child);
nlohmann::json without_child(nlohmann::json content, const ChildKind& kind, std::string_view name);

// The same child as its own body has it ({"name", "properties"}) and as it stands in the parent's content.
nlohmann::json child_in_parent(nlohmann::json own, const ChildKind& kind);
nlohmann::json child_by_itself(nlohmann::json in_parent, const ChildKind& kind);

// Gives the content of a whole resource the empty arrays that reading it will show.
void complete_children(nlohmann::json& content, const ResourceType& traits);

// 16 hex digits that are equal for equal content: x-sim-version.
std::string version_of(const nlohmann::json& content);

// True for an ETag list as in If-Match that names `etag` or everything. Quotes and W/ are optional, as Network accepts.
bool etag_matches(std::string_view condition, std::string_view etag);

}  // namespace armgate::sim
