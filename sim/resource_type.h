// resource_type.h – how the simulated providers differ, as a table (docs/arm.md, "Where ETags stand", "Operation URLs" and
// "Traps of operations").
//
// Why: what a gateway must get right is not one ARM but the sum of its providers' habits. A new habit is a column, a new
// type is a row.
#pragma once

#include <span>
#include <string_view>

namespace armgate::sim {

enum class EtagForm {
  None,          // resource groups, storage accounts, vaults and everything that is not in the table
  Number,        // Compute: "3", in header and body of PUT and GET
  WeakGuid,      // Network: W/"guid", in the body of the resource and of every sub-resource; in the header on GET only
  BareGuid,      // DNS zones and records: a GUID without quotes, in header and body
  QuotedGuid,    // links of private DNS zones: "guid", in header and body
  EnvelopeGuid,  // AKS: a bare GUID, in the body alone, as "eTag"; a pool's own is among its properties
};

// Which writes exclude each other while an operation runs.
enum class ChildLock {
  Shared,  // a VNet and its subnets are one entity; a cluster takes one change of its pools at a time
  Own,     // security rules and their group do not exclude each other
};

// A child that stands in its parent's content and nowhere else.
struct ChildKind {
  std::string_view type;    // lower case
  std::string_view shown;   // its spelling in ids
  std::string_view member;  // the array among the "properties" of the parent's body
  ChildLock lock = ChildLock::Shared;
  // Wrapped: {"name", "properties"} in both places, the parent's ETag. Flat: in the parent's array its properties stand beside
  // its name, and it has an ETag of its own, which a change of the parent moves too (agent pools).
  enum class Form { Wrapped, Flat } form = Form::Wrapped;
  // The array among its properties in which the service itself says who refers to it; empty: it has none.
  std::string_view linked{};
};

// What a PUT answers.
enum class PutAnswer {
  Resource,          // 201 or 200 and the resource
  Accepted,          // 202 and an empty body (storage accounts, private DNS)
  RelativeLocation,  // 201 and a relative Location that names the resource and is no operation (managed identities)
};

// What a DELETE that has begun answers.
enum class DeleteAnswer {
  Accepted,  // 202
  Ok,        // the trap: 200 although Azure-AsyncOperation still runs (network interfaces)
};

// What a PUT or PATCH that replaces something says while it runs.
enum class UpdateShown {
  Honestly,   // its state, and the headers of its operation
  Succeeded,  // the trap: "Succeeded" in the answer, and Azure-AsyncOperation (load balancers)
  Silently,   // the trap: 200 "Updating" and no header at all (virtual machines)
};

// Where operations are asked about.
enum class OperationUrls {
  Provider,    // Azure-AsyncOperation; Location is the same with monitor=true (Compute)
  Network,     // Azure-AsyncOperation, and a Location of its own for DELETE and POST
  Disk,        // the same below DiskOperations, and a Location for PUT too
  Location,    // nothing but a Location (storage accounts)
  Group,       // nothing but a Location that names neither group nor provider
  Cluster,     // as Network, with an api-version that is nobody's else (AKS)
  PrivateDns,  // below the resource group
  Deployment,  // below the deployment
  None,        // no header at all: the state of the resource is all there is (vaults)
};

struct ResourceType {
  std::string_view type;  // lower case; "ns/*": any other of this provider; "ns/type/*": any child; empty: any other type
  std::string_view shown{};
  EtagForm etags = EtagForm::None;
  std::string_view etags_since{};               // api-versions before it show no ETag and ignore conditions
  std::string_view conflict_code = "Conflict";  // of the 409 during an operation
  std::span<const ChildKind> children{};
  ChildLock lock = ChildLock::Own;  // Shared: of a resource below another one, it excludes writes to that one
  PutAnswer put_answer = PutAnswer::Resource;
  DeleteAnswer delete_answer = DeleteAnswer::Accepted;
  UpdateShown update_shown = UpdateShown::Honestly;
  OperationUrls urls = OperationUrls::Provider;
  std::string_view running_state{};  // shown instead of Creating and Updating
  // JSON pointers ("*": any item) in the body to resources that must exist and must not be changing...
  std::span<const std::string_view> references{};
  // ...and to those that the operation changes too (what a private endpoint leads to).
  std::span<const std::string_view> occupies{};
  std::string_view linked{};  // as ChildKind::linked
  bool long_running = false;  // takes SimOptions::operation unless its own length is given
  bool placed = true;         // a top-level resource of the type needs a location
  int created_status = 201;   // of a PUT that makes one
  // The trap of a type that nobody has described: it shows more than was written (a revision that moves with each change, an
  // endpoint, a tier by default) and spells the id in "planId" in its own way.
  bool embellished = false;
  // The service finishes what was written: "tier" is "Basic" unless it is said, "items" stand by their names, and identities
  // are spelled now in one way, now in another.
  bool finished = false;
  std::string_view hidden{};  // of the properties: never shown, and gone if a PUT leaves it out
  bool listed = false;        // shown by POST .../list alone (the settings of an App Service)
  // The end of its operation moves the ETag of what it belongs to, of which nothing changes (cloud-provider-azure #9876).
  bool moves_parent = false;
};

const ResourceType& resource_type(std::string_view lower_case_type);
const ResourceType& group_type();

// The row's child of this type that stands in its content; null: children of this type are resources in their own right.
const ChildKind* inline_child(const ResourceType& traits, std::string_view lower_case_child_type);

}  // namespace armgate::sim
