// shown.h – a client's view of one resource, built by telling what happened to it, one event after the other.
//
// Every state is named by one word, which is its ETag. States of equal content are told by same().
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/policy/base.h"
#include "proxy/policy/view.h"

namespace armgate::policy {

using std::chrono::minutes;
using std::chrono::seconds;

struct How {
  DeliveryKind kind = DeliveryKind::PointRead;
  Confirmation confirmation = Confirmation::Confirmed;
  std::string request_id{};
  Hash128 peer{};
  std::string api_version{"2025-05-01"};
};
inline How pending() { return {DeliveryKind::PointRead, Confirmation::Pending, {}, {}}; }
inline How as_list_item() { return {DeliveryKind::ListItem, Confirmation::Confirmed, {}, {}}; }
inline How as_own_answer() { return {DeliveryKind::OwnAnswer, Confirmation::Confirmed, {}, {}}; }
inline How with_id(std::string id) { return {DeliveryKind::PointRead, Confirmation::Confirmed, std::move(id), {}}; }
inline How at(std::string api_version) {
  return {DeliveryKind::PointRead, Confirmation::Confirmed, {}, {}, std::move(api_version)};
}
inline How from(uint64_t peer) { return {DeliveryKind::PointRead, Confirmation::Confirmed, {}, Hash128{peer, peer}}; }

class Shown {
 public:
  View view;
  WriteFacts facts;
  BaseLimits limits;
  uint64_t deleted_order = 0;

  Moment tick() { return {++order_, now_}; }
  void pass(Duration time) { now_ += time; }
  TimePoint now() const { return now_; }

  Delivery delivery(How how) { return {tick(), how.kind, how.confirmation, std::move(how.request_id), how.peer, false}; }

  // A state with a body of its own; told again, it is another delivery of it.
  uint64_t show(const std::string& etag, How how = {}) { return observe(etag, std::nullopt, std::move(how)); }
  // A state with the writable content of `earlier`, under another ETag.
  uint64_t show_same(const std::string& etag, uint64_t earlier, How how = {}) { return observe(etag, earlier, std::move(how)); }
  uint64_t show_absent(How how = {}) { return view.record_absent(delivery(std::move(how))); }

  Liveness liveness() const { return {now_, limits.think_max, deleted_order}; }
  bool live(uint64_t id) { return is_live(view, *view.find(id), liveness()); }

  // A write that arrives now.
  Base decide() {
    facts.arrived = tick();
    return decide_base(view, facts, limits, liveness());
  }
  // What goes along, in words: the rule and the ETag.
  std::string decide_text() {
    const Base base = decide();
    return std::string(to_text(base.rule)) + (base.etag.empty() ? "" : " " + base.etag);
  }
  void accept(const Base& base) { view.consume(base.version, {facts.request_id, facts.api_version, facts.arrived}); }
  void use_up(uint64_t id) { view.consume(id, {"", "", tick()}); }
  void forbid_until_read() {
    facts.refused_at = tick();
    if (!facts.refused_first) facts.refused_first = now_;
  }

 private:
  uint64_t observe(const std::string& etag, std::optional<uint64_t> same_as, How how) {
    Observation seen;
    seen.etag = etag;
    auto body = std::make_shared<KeptBody>();
    body->bytes = "{\"" + etag + "\":1}";
    seen.body = std::move(body);
    seen.target = "/r?api-version=" + etag;
    seen.api_version = how.api_version;
    seen.delivery = delivery(std::move(how));
    if (!same_as) {
      if (const Version* known = view.find_etag(etag)) same_as = known->id;
    }
    return view.record(std::move(seen), same_as);
  }

  uint64_t order_ = 0;
  TimePoint now_{std::chrono::hours(100)};
};

}  // namespace armgate::policy
