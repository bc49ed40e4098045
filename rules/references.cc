#include "rules/references.h"

#include <algorithm>
#include <utility>

#include "arm/json_select.h"
#include "arm/resource_id.h"

namespace armgate::rules {

std::vector<ReferenceKey> referenced_keys(const Rule& rule, std::string_view body) {
  const auto& references = rule.lock.references;
  const auto selected = arm::select_strings(body, rule.lock.pointers);
  std::vector<ReferenceKey> keys;
  for (size_t i = 0; i < selected.size(); ++i) {
    const Reference& reference = references[i];
    for (const std::string& text : selected[i]) {
      const auto resource = arm::parse_resource_id(text);
      if (!resource) continue;
      const auto& types = reference.types;
      if (!types.empty() && std::find(types.begin(), types.end(), resource->type) == types.end()) continue;
      keys.push_back({{resource->id, reference.mode}, reference.until});
      for (const std::string& type : reference.parents) {
        if (auto parent = arm::ancestor_of_type(*resource, type)) {
          keys.push_back({{std::move(parent->id), reference.mode}, reference.until});
        }
      }
    }
  }
  return keys;
}

std::vector<ReferenceKey> without_duplicates(std::vector<ReferenceKey> keys, const std::vector<LockKey>& own) {
  std::sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.key.id < b.key.id; });
  std::vector<ReferenceKey> result;
  for (ReferenceKey& next : keys) {
    if (!result.empty() && result.back().key.id == next.key.id) {
      ReferenceKey& same = result.back();
      same.key.mode = std::min(same.key.mode, next.key.mode);  // Exclusive is first
      same.until = std::max(same.until, next.until);           // Operation is last
    } else if (std::none_of(own.begin(), own.end(), [&](const LockKey& key) { return key.id == next.key.id; })) {
      result.push_back(std::move(next));
    }
  }
  return result;
}

}  // namespace armgate::rules
