// machine.h – the inside of SimArm: one class, its methods split by what they answer.
//
//   machine.cc           time, faults, routing, control endpoints
//   machine_state.cc     what all writes share: content, ETags, refusals, operations
//   machine_reads.cc     GET and HEAD, lists, operation URLs
//   machine_views.cc     what an answer shows of a resource, and when it lags
//   machine_groups.cc    writes to resource groups
//   machine_writes.cc    writes to resources and their children
//   machine_references.cc  what a write needs, and excludes, besides itself
//   machine_actions.cc   POST actions
//   machine_tags.cc      Microsoft.Resources/tags/default
//   machine_wedges.cc    clusters whose pool cannot get its network, and the activity log
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/http.h"
#include "base/rng.h"
#include "base/time.h"
#include "json/tree_fwd.h"
#include "sim/entity.h"
#include "sim/fault_script.h"
#include "sim/judge/judge.h"
#include "sim/machine/address.h"
#include "sim/machine/token_buckets.h"
#include "sim/operations.h"
#include "sim/sim_arm.h"
#include "sim/state_log.h"

namespace armgate::sim {

class SimArm::Machine {
 public:
  Machine(SimOptions options, uint64_t seed);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  SimAnswer handle(const arm::Request& request, TimePoint now);
  void advance(TimePoint now);
  std::optional<TimePoint> next_event() const;
  Report report() const;
  bool is_current(std::string_view resource_path, std::string_view etag) const;
  bool is_newer(std::string_view resource_path, std::string_view etag, std::string_view base, std::string_view client) const;
  States states_of(std::string_view resource_path) const { return states_.of(resource_path); }
  std::vector<ClusterPool> pools() const;

 private:
  // A move of resources excludes every other write below its two groups; this marks the groups' keys for that.
  static constexpr std::string_view kMoving = " moving";
  static constexpr std::string_view kAborting = " aborting";
  static constexpr Duration kHangs = std::chrono::hours(24 * 365);

  // One request on its way through.
  struct Call {
    const arm::Request& request;
    const Address& address;
    TimePoint now;
    WriteFacts facts;
    nlohmann::json* body = nullptr;  // PUT, PATCH and POST with a body: parsed
    Duration behind{};               // a read: how far the replica lags that answers it
    std::vector<Seen>* seen = nullptr;
    const Fault* fault = nullptr;
    arm::Method method() const { return request.head.method; }
  };
  // What a request may note, and how far behind the replica is that answers it.
  struct Looking {
    std::vector<Seen>& seen;
    Duration behind{};
    const Fault* fault = nullptr;
  };

  // machine.cc
  arm::Response answer(const arm::Request& request, const Address& address, TimePoint now, const WriteFacts& facts,
                       Looking looking);
  arm::Response route(Call& call);
  arm::Response route_write(Call& call);
  arm::Response control(const arm::Request& request, const std::string& name, TimePoint now);
  void finish(const Operation& operation, TimePoint now);
  void remove(const std::string& key, TimePoint now, std::string_view by);
  void take_out(const std::string& key, TimePoint now, std::string_view by);
  void move_neighbour(TimePoint now);
  void stamp(arm::Response& answer, const arm::RequestHead& head, std::string_view subscription);

  // machine_state.cc
  Entity* find_entity(std::string_view key);
  const Entity* find_entity(std::string_view key) const;
  Entity& add_entity(const Call& call, const ResourceType& traits);
  // `by`: the client whose write it is; empty: the service's own doing.
  void set_content(Entity& entity, nlohmann::json content, TimePoint now, std::string_view by);
  void move_etag(Entity& entity, TimePoint now);
  void set_child(Entity& entity, const ChildKind& kind, std::string_view name, nlohmann::json content, TimePoint now,
                 std::string_view by);
  void log_state(Entity& entity, TimePoint now, std::string_view by);
  void move_child_etag(Entity& entity, const ChildKind& kind, std::string_view name);
  void record(Entity& entity, TimePoint now);
  Duration operation_length(const Call& call, const ResourceType& traits, std::string_view what) const;
  bool knows_etags(const Call& call, const ResourceType& traits) const;
  std::optional<arm::Response> refuse_in_group(const Call& call);
  std::optional<arm::Response> refuse_precondition(const Call& call, const Entity* entity, const ResourceType& traits,
                                                   const nlohmann::json* current);
  arm::Response busy_answer(const ResourceType& traits, const Operation& running) const;

  // Every write to something that may exist passes here (`current` is its content, else null): preconditions, then what
  // runs on the first of `lock_keys`. An answer means that the write is refused.
  std::optional<arm::Response> refuse_write(const Call& call, const Entity* entity, const ResourceType& traits,
                                            const nlohmann::json* current, const std::vector<std::string>& lock_keys);
  Operation* begin_operation(const Call& call, const Entity& entity, OperationOf kind, std::vector<std::string> lock_keys,
                             Duration length, Content before);

  // machine_reads.cc
  arm::Response read(Call& call);
  arm::Response read_entity(const Call& call);
  arm::Response read_operation(const Call& call);
  arm::Response read_subscriptions(const Call& call) const;
  arm::Response list(const Call& call);
  arm::Response list_children(const Call& call);
  arm::Response page_of(const Call& call, std::vector<nlohmann::json> items) const;

  // machine_views.cc
  struct View {
    const Entity* entity;  // null: there is none
    Snapshot seen;
  };
  Duration lag_of(const Call& call);
  Snapshot visible(const Call& call, const Entity& entity);
  View view_of(const Call& call, std::string_view key);
  // What the request may see of it: some api-versions know no ETags.
  Snapshot seen_by(const Call& call, const Entity& entity, Snapshot snapshot) const;
  nlohmann::json listed(const Entity& entity, const Snapshot& seen) const;
  static void show_links(nlohmann::json& body, std::string_view linked, int links);
  nlohmann::json shown(const Entity& entity, const Snapshot& seen) const;
  nlohmann::json shown_child(const Entity& entity, const ChildKind& kind, const nlohmann::json& child,
                             const Snapshot& seen) const;
  std::string state_shown(const Entity& entity, const ChildKind* kind, std::string_view child, const Snapshot& seen) const;

  // machine_references.cc
  std::optional<arm::Response> refuse_without_parent(const Call& call) const;
  // A resource that the body refers to is missing, or is changing.
  std::optional<arm::Response> refuse_references(const Call& call, const ResourceType& traits) const;
  // What the write excludes others from while it runs; first its own place.
  std::vector<std::string> lock_keys_of(const Call& call, const ResourceType& traits) const;

  // machine_groups.cc
  arm::Response write_group(Call& call);

  // machine_writes.cc
  arm::Response write_resource(Call& call);
  arm::Response put_resource(Call& call, Entity* entity, const ResourceType& traits, const std::vector<std::string>& lock_keys);
  arm::Response patch_resource(Call& call, Entity& entity);
  arm::Response delete_anything(Call& call, Entity& entity, const std::vector<std::string>& lock_keys);
  arm::Response write_child(Call& call);
  arm::Response put_child(Call& call, Entity& parent, const nlohmann::json* current, const std::vector<std::string>& lock_keys);
  arm::Response answer_write(const Call& call, int status, const Entity& entity, const Operation* operation) const;

  // machine_actions.cc
  arm::Response act(Call& call);
  arm::Response act_on(Call& call, Entity& entity);
  arm::Response abort_operation(Call& call, Entity& entity);
  arm::Response move_resources(Call& call, Entity& group);
  void finish_move(const Operation& operation, TimePoint now);

  // machine_tags.cc
  arm::Response tags(Call& call);

  // machine_wedges.cc
  arm::Response add_wedge(std::string_view json, TimePoint now);
  arm::Response read_activity_log(const Call& call) const;
  void note_aborted(Entity& entity);

  const SimOptions options_;
  const uint64_t seed_;
  Rng rng_;
  Entities entities_;
  Operations operations_;
  struct Removed {
    Entity entity;
    TimePoint at;
  };
  std::map<std::string, Removed, std::less<>> removed_;  // what lagging replicas may still show
  Judge judge_;
  StateLog states_;
  FaultScript faults_;
  TokenBuckets buckets_{options_};
  std::vector<nlohmann::json> activity_log_;  // oldest first
  Report counts_;
  TimePoint neighbour_at_ = kNever;
};

}  // namespace armgate::sim
