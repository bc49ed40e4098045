#include "proxy/stages/remember.h"

#include <fmt/format.h>

#include <utility>

#include "arm/etag.h"
#include "proxy/stages/content_coding.h"

namespace armgate {
namespace {

constexpr size_t kPointersMax = 10;
constexpr size_t kRequestIdMax = 128;  // ids are GUIDs; a longer one is remembered by its hash

policy::Delivery make_delivery(const Pipeline::Parts& parts, const Client& client, const Exchange& exchange,
                               policy::DeliveryKind kind) {
  policy::Delivery delivery;
  delivery.at = parts.clock.next_moment();
  delivery.kind = kind;
  delivery.request_id = request_id_of(parts.shared.hasher, exchange);
  delivery.peer = client.peer;
  delivery.asked = kind == policy::DeliveryKind::OwnAnswer ? exchange.arrived.order : exchange.forwarded.order;
  return delivery;
}

// Two bodies can be compared only if both are at hand and were read in the same shape.
bool same_content(const policy::Version& version, const policy::Observation& seen, const arm::BodyFacts& facts,
                  size_t bytes_max) {
  const policy::Rendering* known = version.rendered_at(seen.api_version);
  if (known == nullptr || !known->body || !seen.body) return false;
  if (known->body->is_sent_body || seen.body->is_sent_body) return false;
  const auto a = plain_body(*known->body, bytes_max);
  const auto b = plain_body(*seen.body, bytes_max);
  return a.ok() && b.ok() && arm::same_writable_content(a->text(), b->text(), facts);
}

// The version that the observation is another delivery of.
std::optional<uint64_t> find_same(const ClientState& state, const Hash128& key, const policy::Observation& seen,
                                  const rules::Plan& plan, size_t bytes_max) {
  if (const uint64_t known = state.version_with_etag(key, seen.etag); known != 0) return known;
  const auto versions = state.versions(key);
  if (versions.empty()) return std::nullopt;
  const auto& facts = body_facts(plan);
  for (const auto& version : versions) {
    if (!version.absent && same_content(version, seen, facts, bytes_max)) return version.id;
  }
  return std::nullopt;
}

PendingDelivery record(const Pipeline::Parts& parts, const Client& client, const KeyedPlan& plan,
                       policy::Observation observation) {
  const Hash128& key = plan.resource_key;
  const uint64_t order = observation.delivery.at.order;
  const uint64_t deleted = parts.shared.resources.last_delete(plan.target.resource).when.order;
  if (deleted != 0) client.state->bury(key, deleted);
  const auto same_as = find_same(*client.state, key, observation, plan, parts.shared.options.body_keep_max);
  client.state->record(key, std::move(observation), same_as);
  return {key, order, PendingDelivery::What::Version};
}

// The ETag in a body, for answers without one in their head.
std::string etag_in(const policy::KeptBody* body, size_t bytes_max) {
  if (body == nullptr) return {};
  const auto plain = plain_body(*body, bytes_max);
  return plain ? arm::etag_in_body(plain->text()).value_or("") : std::string();
}

PendingDelivery remember_page(const Pipeline::Parts& parts, const Client& client, const Exchange& exchange,
                              const KeyedPlan& plan, std::shared_ptr<const policy::KeptBody> body) {
  if (!body) {
    parts.shared.counters.lists_too_long.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  KeptPage page;
  page.scope = plan.target.resource;
  page.api_version = plan.target.api_version;
  page.delivery = make_delivery(parts, client, exchange, policy::DeliveryKind::ListItem);
  page.body = std::move(body);
  const PendingDelivery pending{{}, page.delivery.at.order, PendingDelivery::What::Page};
  client.state->record_page(std::move(page));
  return pending;
}

// Reads a page once and keeps where its items stand. A page that cannot be read shows nothing.
void index_items(const Pipeline::Parts& parts, const Client& client, KeptPage& page) {
  auto index = std::make_shared<PageIndex>();
  auto plain = std::make_shared<policy::KeptBody>();
  auto text = plain_body(*page.body, parts.shared.options.list_scan_max);
  if (text) {
    plain->bytes = (*std::move(text)).into_string();
    for (const auto& item : arm::list_items(plain->bytes)) {
      const auto id = arm::parse_resource_id(item.id);
      if (!id) continue;
      const auto offset = static_cast<size_t>(item.body.data() - plain->bytes.data());
      index->items[parts.shared.hasher.hash(id->id)] = {offset, item.body.size()};
    }
  }
  page.body = std::move(plain);
  page.index = std::move(index);
  client.state->index_page(page.delivery.at.order, page.body, page.index);
}

}  // namespace

std::string request_id_of(const Hasher& hasher, const Exchange& exchange) {
  const auto id = exchange.request.head.fields.get("x-ms-client-request-id");
  return id.size() <= kRequestIdMax ? std::string(id) : hasher.hash(id).hex();
}

const arm::BodyFacts& body_facts(const rules::Plan& plan) {
  return plan.rule ? *plan.rule->body.facts : *arm::BodyFacts::generic();
}

PendingDelivery remember_read(const Pipeline::Parts& parts, const Client& client, const Exchange& exchange,
                              const KeyedPlan& plan, const arm::ResponseHead& head,
                              std::shared_ptr<const policy::KeptBody> body) {
  const auto& options = parts.shared.options;
  const bool is_list = plan.operation == arm::OperationKind::List;
  if (is_list) return head.status == 200 ? remember_page(parts, client, exchange, plan, std::move(body)) : PendingDelivery{};

  policy::Delivery delivery = make_delivery(parts, client, exchange, policy::DeliveryKind::PointRead);
  const Hash128& key = plan.resource_key;
  const PendingDelivery pending{key, delivery.at.order, PendingDelivery::What::Version};
  if (head.status == 404) {
    client.state->record_absent(key, std::move(delivery));
    return pending;
  }
  if (head.status == 304) {
    client.state->record_not_modified(key, exchange.request.head.fields.get("if-none-match"), plan.target.api_version,
                                      std::move(delivery));
    return pending;
  }
  if (head.status != 200) return {};
  policy::Observation seen;
  seen.etag = std::string(arm::etag_in_head(head.fields));
  if (seen.etag.empty()) seen.etag = etag_in(body.get(), options.body_keep_max);
  seen.body = std::move(body);
  if (seen.etag.empty() && !seen.body) return {};
  seen.target = exchange.request.head.target;
  seen.api_version = plan.target.api_version;
  seen.delivery = std::move(delivery);
  return record(parts, client, plan, std::move(seen));
}

PendingDelivery remember_own_answer(const Pipeline::Parts& parts, const Client& client, const Exchange& exchange,
                                    const KeyedPlan& plan, const OwnAnswer& own) {
  const auto& options = parts.shared.options;
  const arm::Response& answer = own.answer;
  policy::Observation seen;
  seen.follows = own.built_on;
  if (!answer.body.empty()) seen.body = keep_body(answer.head, answer.body);
  seen.etag = std::string(arm::etag_in_head(answer.head.fields));
  if (seen.etag.empty()) seen.etag = own.body_etag ? *own.body_etag : etag_in(seen.body.get(), options.body_keep_max);
  const bool is_put = plan.operation == arm::OperationKind::Put;
  if (!seen.body && seen.etag.empty()) {
    if (!is_put) return {};
    auto sent = std::make_shared<policy::KeptBody>();
    sent->bytes = exchange.request.body;
    sent->is_sent_body = true;
    seen.body = std::move(sent);
  }
  if (seen.body && seen.body->bytes.size() > options.body_keep_max) seen.body.reset();
  if (!seen.body && seen.etag.empty()) return {};
  seen.target = exchange.request.head.target;
  seen.api_version = plan.target.api_version;
  seen.delivery = make_delivery(parts, client, exchange, policy::DeliveryKind::OwnAnswer);
  return record(parts, client, plan, std::move(seen));
}

void take_list_items(const Pipeline::Parts& parts, const Client& client, const KeyedPlan& plan) {
  const arm::ResourceId& resource = plan.target.resource;
  for (auto& page : client.state->pages_for(resource, plan.resource_key)) {
    if (!page.index) index_items(parts, client, page);
    const auto item = page.index->items.find(plan.resource_key);
    if (item == page.index->items.end()) continue;
    auto body = std::make_shared<policy::KeptBody>();
    body->bytes = page.body->bytes.substr(item->second.offset, item->second.size);
    policy::Observation seen;
    seen.etag = arm::etag_in_body(body->bytes).value_or("");
    seen.body = std::move(body);
    seen.target = fmt::format("{}?api-version={}", resource.id, page.api_version);
    seen.api_version = page.api_version;
    seen.delivery = page.delivery;
    record(parts, client, plan, std::move(seen));
  }
}

Comparison compare_with_base(const SeenState& now, const policy::Base& base, const rules::Plan& plan, size_t bytes_max) {
  Comparison result;
  if (!base.body || !now.exists()) return result;
  const auto before = plain_body(*base.body, bytes_max);
  if (!before) return result;
  const auto& facts = body_facts(plan);
  result.same = base.body->is_sent_body ? arm::satisfies(now.body, before->text(), facts)
                                        : arm::same_writable_content(before->text(), now.body, facts);
  if (!result.same) result.changed = arm::changed_pointers(before->text(), now.body, facts, kPointersMax);
  return result;
}

}  // namespace armgate
