// embedded.h – a resource as it stands in its parent's body: a subnet in its network, a rule in its group, the tags of anything
// in that.
//
// Why: ARM lets such resources be read, made, changed and removed through their parent (docs/arm.md, "Bodies").
// Limits  for texts that JsonDocument can read, which bounds depth.
#pragma once

#include <string>
#include <string_view>

#include "arm/resource_id.h"

namespace armgate::arm {

inline constexpr std::string_view kTagsType = "microsoft.resources/tags";  // tags as a resource of their own

struct Embedded {
  bool lists = false;   // the body has the list in which it would stand
  std::string element;  // as a body of its own; empty: it is not there
};

// What the body of a parent says of `child`: the element of "properties" whose list is named like the last segment of the
// child's type and which has its "id", or its "name" where elements have no ids. Names and ids are compared without case. Of a
// Microsoft.Resources/tags: its "tags".
Embedded find_embedded(std::string_view parent, const ResourceId& child);

}  // namespace armgate::arm
