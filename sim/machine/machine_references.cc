#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "json/tree.h"
#include "sim/answers.h"
#include "sim/machine/machine.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

// The strings at a pointer in which "*" stands for any item of an array.
void collect(const Json& value, std::string_view pointer, std::vector<std::string>& found) {
  if (pointer.empty()) {
    if (value.is_string()) found.push_back(value.get<std::string>());
    return;
  }
  pointer.remove_prefix(1);
  const size_t end = std::min(pointer.find('/'), pointer.size());
  const std::string member(pointer.substr(0, end));
  pointer.remove_prefix(end);
  if (member == "*" && value.is_array()) {
    for (const Json& item : value) collect(item, pointer, found);
  } else if (value.is_object() && value.contains(member)) {
    collect(value[member], pointer, found);
  }
}

std::vector<Address> named_in(const Json* body, std::span<const std::string_view> pointers) {
  std::vector<std::string> ids;
  if (body != nullptr) {
    for (const std::string_view pointer : pointers) collect(*body, pointer, ids);
  }
  std::vector<Address> named;
  named.reserve(ids.size());
  for (const std::string& id : ids) named.push_back(parse_id(id));
  return named;
}

// Looks like throttling and is a conflict (kubernetes #88151, terraform-provider-azurerm #21293).
arm::Response retryable_error(std::string_view code, const std::string& message, Duration retry_after) {
  const Json detail{{"code", code}, {"message", message}};
  arm::Response answer = json_answer(
      429,
      Json{{"error",
            {{"code", "RetryableError"}, {"message", "A retryable error occurred."}, {"details", Json::array({detail})}}}});
  say_retry_after(retry_after, answer.head.fields);
  return answer;
}

}  // namespace

std::vector<std::string> SimArm::Machine::lock_keys_of(const Call& call, const ResourceType& traits) const {
  const bool shared = traits.lock == ChildLock::Shared && !call.address.parent_key.empty();
  std::vector<std::string> keys{shared ? call.address.parent_key : call.address.root_key};
  for (const Address& occupied : named_in(call.body, traits.occupies)) {
    if (std::find(keys.begin(), keys.end(), occupied.root_key) == keys.end()) keys.push_back(occupied.root_key);
  }
  return keys;
}

std::optional<arm::Response> SimArm::Machine::refuse_without_parent(const Call& call) const {
  const Address& address = call.address;
  std::string_view parent = address.parent_key;
  // Services are there together with what they belong to: ".../storageAccounts/a/blobServices/default".
  if (parent.ends_with("/default")) parent = parent.substr(0, parent.rfind('/', parent.rfind('/') - 1));
  if (parent.empty() || find_entity(parent) != nullptr) return std::nullopt;
  if (call.method() == arm::Method::Delete) return plain_answer(204);
  const size_t slash = address.shown_type.rfind('/');
  return missing_parent(call.request.head.method_token, address.shown_type.substr(0, slash),
                        address.shown_type.substr(slash + 1), address.parent_key);
}

std::optional<arm::Response> SimArm::Machine::refuse_references(const Call& call, const ResourceType& traits) const {
  for (const Address& named : named_in(call.body, traits.references)) {
    const Entity* entity = find_entity(named.root_key);
    const bool there = entity != nullptr && (named.child_kind == nullptr ||
                                             find_child(*entity->content, *named.child_kind, named.child_name) != nullptr);
    if (!there) {
      return error_answer(
          400, "InvalidResourceReference",
          fmt::format("Resource {} referenced by resource {} was not found.", named.root_id, call.address.root_id));
    }
    if (operations_.running_on(named.root_key) == nullptr) continue;
    return retryable_error("ReferencedResourceNotProvisioned",
                           fmt::format("Cannot proceed with operation because resource {} used by resource {} is not in "
                                       "Succeeded state. Resource is in Updating state.",
                                       named.root_id, call.address.root_id),
                           options_.retry_after);
  }
  for (const Address& named : named_in(call.body, traits.occupies)) {
    if (operations_.running_on(named.root_key) == nullptr) continue;
    return retryable_error("StorageAccountOperationInProgress",
                           fmt::format("Call to {} failed: an operation is currently performing on this storage account "
                                       "that requires exclusive access.",
                                       named.root_id),
                           options_.retry_after);
  }
  return std::nullopt;
}

}  // namespace armgate::sim
