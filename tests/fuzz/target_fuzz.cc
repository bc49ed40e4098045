#include "arm/resource_id.h"
#include "base/check.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {

void fuzz_one(std::string_view input) {
  for (const bool is_post : {false, true}) {
    const auto target = arm::parse_target(input, is_post);
    if (!target) continue;
    const arm::ResourceId& resource = target->resource;
    for (const auto& id : arm::self_and_ancestors(resource)) GATE_CHECK(resource.id.starts_with(id), "an ancestor is a prefix");
    const auto parent = arm::parent_of(resource);
    if (parent) GATE_CHECK(parent->id.size() < resource.id.size(), "a parent is shorter");
    (void)arm::resource_group_of(resource);
    (void)arm::ancestor_of_type(resource, "microsoft.network/virtualnetworks");
  }
  (void)arm::parse_resource_id(input);
}

}  // namespace armgate::fuzz
