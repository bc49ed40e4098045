#include "sim/machine/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "json/tree.h"
#include "sim/answers.h"
#include "sim/json_text.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

bool is_read_method(arm::Method method) { return method == arm::Method::Get || method == arm::Method::Head; }

// Spelling and shape that every later step relies on; the sentence for the client if something is wrong.
std::optional<std::string> fault_in_body(const Json& body, const ResourceType& traits) {
  if (!body.is_object()) return "The request content was invalid and could not be deserialized.";
  if (const auto tags = body.find("tags"); tags != body.end() && !tags->is_null()) {
    if (!tags->is_object()) return "The 'tags' member must be an object.";
    for (const Json& value : *tags) {
      if (!value.is_string()) return "Every tag value must be a string.";
    }
  }
  const auto properties = body.find("properties");
  if (properties == body.end() || properties->is_null()) return std::nullopt;
  if (!properties->is_object()) return "The 'properties' member must be an object.";
  for (const ChildKind& kind : traits.children) {
    const auto children = properties->find(std::string(kind.member));
    if (children == properties->end() || children->is_null()) continue;
    if (!children->is_array()) return fmt::format("'properties.{}' must be an array.", kind.member);
    for (const Json& child : *children) {
      if (!child.is_object() || !child.contains("name") || !child["name"].is_string()) {
        return fmt::format("Every item of 'properties.{}' needs a name.", kind.member);
      }
    }
  }
  return std::nullopt;
}

arm::Response status_fault(int status, Duration retry_after) {
  const std::string_view code = status == 429 ? "TooManyRequests" : status == 503 ? "ServerTimeout" : "InternalServerError";
  arm::Response answer = error_answer(status, code, "This request was chosen to fail.");
  if (status == 429 || status == 503) say_retry_after(retry_after, answer.head.fields);
  return answer;
}

}  // namespace

SimArm::Machine::Machine(SimOptions options, uint64_t seed)
    : options_(std::move(options)), seed_(seed), rng_(seed), operations_(options_, rng_) {}

SimAnswer SimArm::Machine::handle(const arm::Request& request, TimePoint now) {
  advance(now);
  const Address address = parse_address(request.head);
  if (address.kind == AddressKind::Control) return {control(request, address.name, now), false};
  const bool reading = is_read_method(request.head.method);
  ++counts_.requests;
  ++(reading ? counts_.reads : counts_.writes);
  if (auto throttled = buckets_.take(request.head, address.subscription, now)) {
    ++counts_.throttled;
    stamp(*throttled, request.head, address.subscription);
    return {*std::move(throttled), false};
  }
  const Fault fault = faults_.next(request.head, options_, rng_);
  if (fault.kind == Fault::Kind::DropBefore) {
    ++counts_.dropped_before;
    return {{}, true};
  }
  SimAnswer result;
  if (fault.kind == Fault::Kind::Status) {
    result.response = status_fault(fault.status, options_.retry_after);
  } else if (fault.kind == Fault::Kind::Refusal) {
    result.response = refusal_answer(*fault.refusal);
  } else {
    WriteFacts facts = read_write_facts(request);
    facts.acknowledged = fault.kind != Fault::Kind::DropAfter;
    result.response = answer(request, address, now, facts, {result.seen, fault.behind, &fault});
    result.drop = !facts.acknowledged;
    if (result.drop) ++counts_.dropped_after;
  }
  if (!fault.retry_after.empty()) result.response.head.fields.set("Retry-After", fault.retry_after);
  stamp(result.response, request.head, address.subscription);
  return result;
}

arm::Response SimArm::Machine::answer(const arm::Request& request, const Address& address, TimePoint now,
                                      const WriteFacts& facts, Looking looking) {
  if (address.kind != AddressKind::Operation && arm::query_parameter(request.head.target, "api-version").value_or("").empty()) {
    return error_answer(400, "MissingApiVersionParameter",
                        "The api-version query parameter (?api-version=) is required for all requests.");
  }
  Json body;
  Call call{request, address, now, facts, nullptr, looking.behind};
  call.fault = looking.fault;
  if (options_.keep_states) call.seen = &looking.seen;
  if (!is_read_method(request.head.method) && !request.body.empty()) {
    body = json_value(request.body);
    if (const auto fault = fault_in_body(body, resource_type(address.type)))
      return error_answer(400, "InvalidRequestContent", *fault);
    call.body = &body;
  }
  arm::Response answer = route(call);
  const bool wrote = call.method() == arm::Method::Put || call.method() == arm::Method::Patch;
  const Entity* made = wrote && arm::is_success(answer.head.status) ? find_entity(address.root_key) : nullptr;
  if (made != nullptr && call.seen != nullptr) call.seen->push_back({address_key(address), made->state});
  return answer;
}

arm::Response SimArm::Machine::route(Call& call) {
  if (is_read_method(call.method())) return read(call);
  if (call.address.kind == AddressKind::Tags) return tags(call);
  if (call.method() == arm::Method::Post) return act(call);
  const bool needs_body = call.method() == arm::Method::Put || call.method() == arm::Method::Patch;
  if (!needs_body && call.method() != arm::Method::Delete) {
    return error_answer(405, "MethodNotAllowed", "The request method is not supported.");
  }
  if (needs_body && call.body == nullptr) {
    return error_answer(400, "InvalidRequestContent", "The request content was invalid: it is empty.");
  }
  return route_write(call);
}

arm::Response SimArm::Machine::route_write(Call& call) {
  switch (call.address.kind) {
    case AddressKind::Group: return write_group(call);
    case AddressKind::Resource: return write_resource(call);
    case AddressKind::Child: return write_child(call);
    default: return error_answer(405, "MethodNotAllowed", "Nothing can be written at this address.");
  }
}

void SimArm::Machine::advance(TimePoint now) {
  if (options_.neighbour_every > Duration{} && neighbour_at_ == kNever) neighbour_at_ = now + options_.neighbour_every;
  while (true) {
    const auto due = operations_.next_end();
    const bool neighbour_first = neighbour_at_ <= now && (!due || neighbour_at_ < *due);
    if (neighbour_first) {
      move_neighbour(neighbour_at_);
      neighbour_at_ += options_.neighbour_every;
    } else if (Operation* ended = operations_.end_next(now)) {
      finish(*ended, ended->end);
    } else {
      return;
    }
  }
}

std::optional<TimePoint> SimArm::Machine::next_event() const {
  const auto due = operations_.next_end();
  if (neighbour_at_ == kNever) return due;
  return due ? std::min(*due, neighbour_at_) : neighbour_at_;
}

// What the end of an operation changes. A canceled one changes nothing more: what superseded it stands.
void SimArm::Machine::finish(const Operation& operation, TimePoint now) {
  Entity* entity = find_entity(operation.entity_key);
  if (entity == nullptr) return;
  const bool succeeded = operation.result == "Succeeded";
  if (!succeeded && operation.kind == OperationOf::Delete) entity->ended_badly[operation.child] = operation.result;
  if (operation.kind == OperationOf::Delete && operation.child.empty() && succeeded)
    return remove(operation.entity_key, now, operation.client);
  if (operation.kind == OperationOf::Delete && succeeded) {
    Json after = without_child(*entity->content, *operation.child_kind, operation.child);
    WriteFacts facts;
    facts.deletes.insert(operation.child);
    judge_.changed(entity->key, *entity->traits, *entity->content, after, facts);
    set_child(*entity, *operation.child_kind, operation.child, std::move(after), now, operation.client);
    entity->child_etags.erase(operation.child);
    if (entity->wedge && entity->wedge->pool == operation.child) entity->wedge.reset();
    return;
  }
  if (operation.child.empty()) {
    entity->failed = !succeeded && operation.partly;
  } else if (!succeeded && operation.partly) {
    entity->ended_badly[operation.child] = operation.result;
  }
  if (!succeeded && !operation.partly && operation.before && entity->content == operation.after) {
    judge_.rolled_back(entity->key, *entity->traits, *operation.before, operation.write_key);
    set_content(*entity, *operation.before, now, {});
    return;
  }
  if (operation.kind == OperationOf::Action && !operation.moved.empty()) return finish_move(operation, now);
  const bool moves = options_.etag_at_end == EtagAtEnd::Always ||
                     (options_.etag_at_end == EtagAtEnd::AfterCreate && operation.kind == OperationOf::Create);
  if (!moves) return;
  const bool own = operation.child_kind != nullptr && operation.child_kind->form == ChildKind::Form::Flat;
  if (own) {
    move_child_etag(*entity, *operation.child_kind, operation.child);
    record(*entity, now);
  } else {
    move_etag(*entity, now);
  }
  Entity* parent = entity->traits->moves_parent ? find_entity(entity->parent_key) : nullptr;
  if (parent != nullptr) move_etag(*parent, now);
}

// With everything below it, and about it.
void SimArm::Machine::remove(const std::string& key, TimePoint now, std::string_view by) {
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): it may be the key of the entity that goes
  const std::string gone = key;
  judge_.removed(gone);
  take_out(gone, now, by);
  const std::string below = gone + "/";
  for (auto it = entities_.lower_bound(below); it != entities_.end() && it->first.starts_with(below);) {
    judge_.removed(it->first);
    const std::string below_key = (it++)->first;
    take_out(below_key, now, by);
  }
}

void SimArm::Machine::take_out(const std::string& key, TimePoint now, std::string_view by) {
  if (options_.keep_states) states_.add(key, now, nullptr, by);
  auto node = entities_.extract(key);
  if (options_.stale_read_chance <= 0 || node.empty()) return;
  std::erase_if(removed_, [&](const auto& entry) { return entry.second.at <= now - options_.stale_by; });
  removed_.insert_or_assign(key, Removed{std::move(node.mapped()), now});
}

void SimArm::Machine::move_neighbour(TimePoint now) {
  if (entities_.empty()) return;
  auto chosen = std::next(entities_.begin(), static_cast<std::ptrdiff_t>(rng_.below(entities_.size())));
  if (options_.neighbour_links) chosen->second.links = 1 + static_cast<int>(rng_.below(3));
  move_etag(chosen->second, now);
}

void SimArm::Machine::stamp(arm::Response& answer, const arm::RequestHead& head, std::string_view subscription) {
  arm::Headers& fields = answer.head.fields;
  const std::string id = make_guid(rng_);
  fields.add("Cache-Control", "no-cache");
  fields.add("x-ms-request-id", id);
  const std::string_view correlation = head.fields.get("x-ms-correlation-request-id");
  fields.add("x-ms-correlation-request-id", correlation.empty() ? std::string_view(id) : correlation);
  fields.add("x-ms-routing-request-id", "SIMULATED:" + id);
  if (equal_ignoring_case(head.fields.get("x-ms-return-client-request-id"), "true")) {
    fields.add("x-ms-client-request-id", head.fields.get("x-ms-client-request-id"));
  }
  const bool reading = is_read_method(head.method);
  if (!buckets_.show_remaining(head, subscription, fields))
    fields.add(
        reading ? "x-ms-ratelimit-remaining-subscription-global-reads" : "x-ms-ratelimit-remaining-subscription-global-writes",
        reading ? "3749" : "2999");
  if (answer.head.status == 409) ++counts_.conflicts;
}

arm::Response SimArm::Machine::control(const arm::Request& request, const std::string& name, TimePoint now) {
  const bool posting = request.head.method == arm::Method::Post;
  if (name == "report" && request.head.method == arm::Method::Get) {
    arm::Response answer = plain_answer(200);
    answer.head.fields.add("Content-Type", "application/json; charset=utf-8");
    answer.body = to_json(report());
    return answer;
  }
  if (name == "reset" && posting) {
    rng_ = Rng(seed_);
    entities_.clear();
    operations_.clear();
    judge_ = Judge();
    states_ = StateLog();
    removed_.clear();
    faults_ = FaultScript();
    buckets_.clear();
    activity_log_.clear();
    counts_ = Report();
    return plain_answer(204);
  }
  if (name == "wedges" && posting) return add_wedge(request.body, now);
  if (name == "finish" && posting) {
    while (Operation* running = operations_.end_next(TimePoint::max())) {
      running->end = now;
      finish(*running, now);
    }
    return plain_answer(204);
  }
  if (name == "faults" && request.head.method == arm::Method::Delete) {
    faults_.clear();
    return plain_answer(204);
  }
  if (name == "faults" && posting) {
    const Result<void> added = faults_.add(request.body);
    return added ? plain_answer(204) : error_answer(400, "BadFaultScript", added.error().context);
  }
  return error_answer(404, "NotFound",
                      "Known are GET /__sim/report, POST /__sim/reset, POST /__sim/finish, POST /__sim/wedges, POST and DELETE "
                      "/__sim/faults.");
}

Report SimArm::Machine::report() const {
  Report report = counts_;
  judge_.add_to(report);
  return report;
}

bool SimArm::Machine::is_current(std::string_view resource_path, std::string_view etag) const {
  const Entity* entity = find_entity(parse_id(resource_path).root_key);
  return entity != nullptr && judge_.had_version(entity->key, etag, entity->version);
}

bool SimArm::Machine::is_newer(std::string_view resource_path, std::string_view etag, std::string_view base,
                               std::string_view client) const {
  const Address address = parse_id(resource_path);
  return address.child_type.empty() && judge_.is_newer(address.root_key, etag, base, client);
}

}  // namespace armgate::sim
