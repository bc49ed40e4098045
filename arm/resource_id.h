// resource_id.h – what an ARM URL path names (docs/arm.md, "Resource ids"; grammar as in the Azure SDK for Go,
// sdk/azcore/arm/internal/resource/resource_identifier.go).
//
// Why: one resource has many spellings (case of every segment, "resourcegroups", trailing slash, percent-encoding).
// Locks, histories and delete marks must see one. The canonical id is for keys only: the target that goes upstream keeps
// the client's bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace armgate::arm {

// A canonical resource id: lower case, percent-decoded once, no trailing slash, no query.
//   id    "/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/v/subnets/a"
//   type  "microsoft.network/virtualnetworks/subnets" (of the last "/providers/"; for a resource group
//         "microsoft.resources/resourcegroups", for a subscription "microsoft.resources/subscriptions")
struct ResourceId {
  std::string id;
  std::string type;
  friend bool operator==(const ResourceId&, const ResourceId&) = default;
};

enum class TargetKind {
  Resource,    // an even number of segments after the last namespace, or a group or a subscription
  Collection,  // odd, read with GET: ".../virtualNetworks"
  Action,      // odd, with POST: ".../virtualMachineScaleSets/x/restart", ".../resourceGroups/g/moveResources"
  Other,       // anything else: "/", "/providers", "/batch", metadata
};

struct Target {
  TargetKind kind = TargetKind::Other;
  ResourceId resource;      // Resource: itself. Action: what it acts on. Collection: its scope (type: of the items; the
                            // id is empty for the tenant). Other: empty.
  std::string action;       // Action: the last segment, lower case
  std::string api_version;  // lower case; empty if absent
};

// Reads a request target (origin-form). POST makes an odd path an action, every other method a collection.
// BadInput if the decoded path could be read in two ways: an encoded '/', a "." or ".." segment, an empty segment, NUL
// or another control character, a backslash, a '#', a broken percent-escape. Such a target must be refused, not
// guessed. Only ASCII letters are folded; ARM may take two spellings of another letter for one name.
Result<Target> parse_target(std::string_view target, bool is_post);

// Reads an id as it stands in a body ("id" members). Nothing if it is not a resource's.
std::optional<ResourceId> parse_resource_id(std::string_view id);

// The resource that contains this one: child -> parent resource, extension -> the resource it extends, top-level
// resource -> its resource group (else its subscription), resource group -> nothing.
std::optional<ResourceId> parent_of(const ResourceId& resource);

// The resource itself and everything above it up to its resource group, nearest first.
std::vector<std::string> self_and_ancestors(const ResourceId& resource);

// The nearest ancestor-or-self of the given type, for example the VNet of a subnet.
std::optional<ResourceId> ancestor_of_type(const ResourceId& resource, std::string_view type);

// Whether a path of this type (canonical) leads to a resource, as far as its names tell: one of a provider, or a resource
// group. Not so: a subscription and what stands directly below it or below a group (tagNames), and the records of operations,
// wherever they stand ("locations/operationResults").
bool is_type_of_resources(std::string_view type);

// The canonical id of its resource group; nothing for what is not in one.
std::optional<std::string> resource_group_of(const ResourceId& resource);

}  // namespace armgate::arm
