// address.h – what a request target names, as the simulated ARM understands it.
//
// Why: it does not use arm/resource_id on purpose. The simulator checks the gateway, so a mistake in the gateway's own
// reading of ids must not be repeated here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arm/http.h"
#include "sim/resource_type.h"

namespace armgate::sim {

enum class AddressKind {
  Control,        // /__sim/{name}
  Subscriptions,  // /subscriptions
  Subscription,   // /subscriptions/{s}
  Providers,      // /subscriptions/{s}/providers
  Provider,       // /subscriptions/{s}/providers/{ns} (and POST .../register)
  Operation,      // an operation URL
  Groups,         // /subscriptions/{s}/resourceGroups
  Group,
  List,  // a collection below a subscription or a group; type empty: all resources of the group
  Resource,
  Children,     // the collection of a resource's children
  Child,        // a subnet, a security rule, an agent pool: what stands in its parent's content
  Action,       // POST on a group (type empty), a resource or a child
  Tags,         // {scope}/providers/Microsoft.Resources/tags/default; the other fields name the scope
  ActivityLog,  // /subscriptions/{s}/providers/Microsoft.Insights/eventtypes/management/values
  Unknown,
};

// Names as written; `type`, `child_type`, `action` and the keys in lower case.
struct Address {
  AddressKind kind = AddressKind::Unknown;
  std::string subscription;
  std::string group;
  std::string provider;    // "Microsoft.Network"
  std::string shown_type;  // "Microsoft.Network/virtualNetworks"
  std::string type;
  std::string name;
  std::string shown_child_type;
  std::string child_type;
  std::string child_name;
  const ChildKind* child_kind = nullptr;  // of Child, and of Children if these stand in their parent's content
  std::string action;
  std::string group_key;   // "/subscriptions/s/resourcegroups/g"; empty: directly below a subscription
  std::string root_key;    // of the group, or of the resource
  std::string root_id;     // the same as written, with "resourceGroups"
  std::string parent_key;  // of the resource that it is below or about; empty: a top-level resource
};

Address parse_address(const arm::RequestHead& head);

Address parse_id(std::string_view id);

// The key on which writes to a child exclude each other if they do not exclude the whole resource.
std::string child_key(const Address& address);

// The key of the very thing that is named: of a child its own, else of the resource or group.
std::string address_key(const Address& address);

// Segments between slashes, encoded ones too, percent-decoded once.
std::vector<std::string> path_segments(std::string_view path);

}  // namespace armgate::sim
