#include <fmt/format.h>

#include "base/text.h"
#include "json/tree.h"
#include "sim/answers.h"
#include "sim/machine/machine.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

Json tags_of(const Json& content) {
  const auto tags = content.find("tags");
  return tags != content.end() && tags->is_object() ? *tags : Json::object();
}

arm::Response shown_tags(const Entity& entity, const Json& content) {
  return json_answer(200, Json{{"id", entity.id + "/providers/Microsoft.Resources/tags/default"},
                               {"name", "default"},
                               {"type", "Microsoft.Resources/tags"},
                               {"properties", {{"tags", tags_of(content)}}}});
}

void erase_tag(Json& tags, std::string_view name) {
  for (auto it = tags.begin(); it != tags.end();) {
    it = equal_ignoring_case(it.key(), name) ? tags.erase(it) : std::next(it);
  }
}

// What PUT, PATCH with its three operations and DELETE leave of the tags; `facts` learns what is deleted on purpose.
Result<Json> changed_tags(arm::Method method, const Json* body, const Json& current, WriteFacts& facts) {
  if (method == arm::Method::Delete) {
    for (const auto& item : current.items()) facts.deletes.insert(lower_text(item.key()));
    return Json::object();
  }
  const Json::json_pointer place("/properties/tags");
  if (body == nullptr || !body->contains(place) || !(*body)[place].is_object()) {
    return client_error(ErrorKind::BadInput, "The request needs properties.tags.");
  }
  const Json& given = (*body)[place];
  const std::string operation = method == arm::Method::Put ? "Replace" : body->value("operation", "");
  if (operation == "Replace") return given;
  if (operation != "Merge" && operation != "Delete") {
    return client_error(ErrorKind::BadInput, "The operation must be Merge, Replace or Delete.");
  }
  Json tags = current;
  for (const auto& item : given.items()) {
    erase_tag(tags, item.key());
    if (operation == "Merge") tags[item.key()] = item.value();
    if (operation == "Delete") facts.deletes.insert(lower_text(item.key()));
  }
  return tags;
}

}  // namespace

arm::Response SimArm::Machine::tags(Call& call) {
  if (auto refused = refuse_in_group(call)) return *refused;
  Entity* entity = find_entity(call.address.root_key);
  if (entity == nullptr) {
    return error_answer(404, "ResourceNotFound", fmt::format("The Resource '{}' was not found.", call.address.root_id),
                        FailureCause::Gateway);
  }
  if (call.method() == arm::Method::Get) {
    const Snapshot seen = visible(call, *entity);
    return shown_tags(*entity, seen.content ? *seen.content : Json::object());
  }
  Result<Json> wanted = changed_tags(call.method(), call.body, tags_of(*entity->content), call.facts);
  if (!wanted) return error_answer(400, "InvalidRequestContent", wanted.error().context);
  // The tags are no version of the resource, so conditions do not apply; a running operation does.
  if (auto refused = refuse_write(call, entity, *entity->traits, entity->content.get(), {entity->key})) return *refused;
  Json content = *entity->content;
  content["tags"] = std::move(*wanted);
  judge_.changed(entity->key, *entity->traits, *entity->content, content, call.facts);
  judge_.applied(call.facts);
  set_content(*entity, std::move(content), call.now, call.facts.client);
  return call.method() == arm::Method::Delete ? plain_answer(200) : shown_tags(*entity, *entity->content);
}

}  // namespace armgate::sim
