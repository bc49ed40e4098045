
#include "json/tree.h"
#include "sim/answers.h"
#include "sim/machine/machine.h"

namespace armgate::sim {

using Json = nlohmann::json;

// PUT and PATCH are synchronous, there is no ETag; DELETE is a long operation that takes everything along.
arm::Response SimArm::Machine::write_group(Call& call) {
  const ResourceType& traits = group_type();
  Entity* group = find_entity(call.address.root_key);
  const Json* current = group == nullptr ? nullptr : group->content.get();
  if (auto refused = refuse_write(call, group, traits, current, {call.address.root_key})) return *refused;
  const bool creates = group == nullptr;
  if (call.method() == arm::Method::Delete)
    return creates ? *refuse_in_group(call) : delete_anything(call, *group, {group->key});
  if (creates && call.method() == arm::Method::Patch) return *refuse_in_group(call);
  if (creates && !call.body->contains("location")) {
    return error_answer(400, "LocationRequired", "The location property is required for this definition.");
  }
  Json content = writable_content(*call.body, traits);
  if (call.method() == arm::Method::Patch) {
    Json merged = *current;
    if (content.contains("tags")) merged["tags"] = content["tags"];
    content = std::move(merged);
  } else if (!creates) {
    if (!content.contains("location")) content["location"] = current->value("location", Json());
    const auto effect = judge_.check_effect(group->key, *current, content, call.facts);
    judge_.check_base(group->key, group->version, call.facts, effect);
  }
  Entity& target = creates ? add_entity(call, traits) : *group;
  judge_.changed(target.key, traits, creates ? Json() : *target.content, content, call.facts);
  judge_.applied(call.facts);
  set_content(target, std::move(content), call.now, call.facts.client);
  return answer_write(call, creates ? 201 : 200, target, nullptr);
}

}  // namespace armgate::sim
