// client_events.h – what happens to one client, told in few words.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "proxy/state/client_state.h"

namespace armgate {

using std::chrono::minutes;
using std::chrono::seconds;

inline constexpr Hash128 kNet{1000, 1};
inline constexpr Hash128 kOther{1000, 2};
inline const std::string kScope = "/subscriptions/s/resourcegroups/g";
inline const std::string kNetType = "microsoft.network/virtualnetworks";
inline const arm::ResourceId kNetId{kScope + "/providers/microsoft.network/virtualnetworks/v", kNetType};

class Events {
 public:
  explicit Events(ClientState::Options wanted = {}, ClientState::SharedBudget* common = nullptr)
      : options(std::move(wanted)), budget(common != nullptr ? *common : own_budget_), state(options, budget) {}

  const ClientState::Options options;

 private:
  ClientState::SharedBudget own_budget_;

 public:
  ClientState::SharedBudget& budget;
  ClientState state;

  Moment tick() { return {++order_, now_}; }
  TimePoint now() const { return now_; }
  void pass(Duration time) { now_ += time; }

  policy::Delivery delivery(policy::Confirmation confirmation = policy::Confirmation::Confirmed) {
    return {tick(), policy::DeliveryKind::PointRead, confirmation, {}, {}, false};
  }

  // Delivers a state with a body of its own and returns the delivery's order.
  uint64_t read(const Hash128& resource, const std::string& etag,
                policy::Confirmation confirmation = policy::Confirmation::Confirmed) {
    auto seen = observation(etag, delivery(confirmation));
    const uint64_t order = seen.delivery.at.order;
    state.record(resource, std::move(seen), std::nullopt);
    return order;
  }

  uint64_t page(const std::string& scope, const std::string& bytes,
                policy::Confirmation confirmation = policy::Confirmation::Confirmed) {
    KeptPage page;
    page.scope = {scope, kNetType};
    page.api_version = "2025-05-01";
    page.delivery = delivery(confirmation);
    page.delivery.kind = policy::DeliveryKind::ListItem;
    page.body = std::make_shared<policy::KeptBody>(policy::KeptBody{bytes});
    const uint64_t order = page.delivery.at.order;
    state.record_page(std::move(page));
    return order;
  }

  // An item of the page that was delivered at `order` becomes a version.
  void take(const Hash128& resource, const std::string& etag, uint64_t order) {
    policy::Delivery of_page;
    of_page.at = {order, now_};
    of_page.kind = policy::DeliveryKind::ListItem;
    state.record(resource, observation(etag, of_page), std::nullopt);
  }

  Bound bind(const Hash128& resource, policy::Actor actor = policy::Actor::Many, const std::string& request_id = {},
             std::optional<Hash128> bytes = {}) {
    return state.bind(arriving(resource, actor, request_id, bytes), liveness());
  }
  // The same, and it is under way from then on.
  Bound begin(const Hash128& resource, policy::Actor actor = policy::Actor::Many, const std::string& request_id = {},
              std::optional<Hash128> bytes = {}) {
    ArrivingWrite write = arriving(resource, actor, request_id, bytes);
    write.begins = true;
    return state.bind(write, liveness());
  }

  // The exchange ends: its answer was written and has arrived.
  void finish(const Bound& bound, ClientState::Final final) {
    state.leave(bound.binding, BindingPhase::Written, now_);
    state.confirm_written(bound.binding, final, tick());
  }

 private:
  policy::Liveness liveness() const { return {now_, options.base.think_max, 0}; }
  ArrivingWrite arriving(const Hash128& resource, policy::Actor actor, const std::string& request_id,
                         std::optional<Hash128> bytes) {
    ArrivingWrite write;
    write.resource = resource;
    write.bytes = bytes.value_or(Hash128{7, ++writes_});
    write.facts.arrived = tick();
    write.facts.request_id = request_id;
    write.facts.actor = actor;
    return write;
  }
  static policy::Observation observation(const std::string& etag, policy::Delivery delivery) {
    policy::Observation seen;
    seen.etag = etag;
    seen.body = std::make_shared<policy::KeptBody>(policy::KeptBody{"{\"" + etag + "\":1}"});
    seen.target = "/r";
    seen.api_version = "2025-05-01";
    seen.delivery = std::move(delivery);
    return seen;
  }

  uint64_t order_ = 0;
  uint64_t writes_ = 0;
  TimePoint now_{std::chrono::hours(100)};
};

}  // namespace armgate
