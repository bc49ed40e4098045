#include "proxy/request/read/remember.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arm/body/content.h"
#include "arm/etag.h"
#include "arm/operation.h"
#include "arm/resource_id.h"
#include "base/mutant.h"
#include "base/text.h"
#include "json/scan.h"
#include "proxy/cluster/replica.h"
#include "proxy/request/cluster/order_at.h"
#include "proxy/request/content_coding.h"
#include "proxy/request/read/parents.h"

namespace armgate {
namespace {

constexpr size_t kRequestIdMax = 128;  // ids are GUIDs; a longer one is remembered by its hash

// The ETag in a body, for answers without one in their head.
std::string etag_in(const policy::KeptBody* body, size_t bytes_max) {
  if (body == nullptr) return {};
  if (body->etag) return *body->etag;
  const auto plain = plain_body(*body, bytes_max);
  return plain ? arm::etag_in_body(plain->text()).value_or("") : std::string();
}

// Null stays null.
std::shared_ptr<policy::KeptBody> keep_at(std::string target, std::shared_ptr<policy::KeptBody> body) {
  if (body) body->target = std::move(target);
  return body;
}

Showing remember_page(const Parts& parts, const Client& client, const Exchange& exchange, const KeyedPlan& plan,
                      policy::SharedBody body) {
  if (!body) {
    parts.shared.counters.lists_too_long.fetch_add(1, std::memory_order_relaxed);
    if (parts.cluster != nullptr) {
      parts.cluster->post(cluster::PageShown{client.key, {}});
      return {};
    }
    client.state->note_page_missed(parts.clock.next_moment().order);
    return {};
  }
  ListAnswer page;
  page.scope = plan.target.resource;
  page.api_version = plan.target.api_version;
  page.request_id = request_id_of(parts.shared.hasher, exchange);
  page.asked = order_at(parts, exchange.forwarded);
  page.shown = parts.clock.next_moment();
  page.body = std::move(body);
  const Showing showing{client.key, {}, page.shown.order, Showing::What::Page};
  if (parts.cluster != nullptr)
    parts.cluster->post(cluster::PageShown{client.key, std::move(page)});
  else
    client.state->record_page(std::move(page));
  return showing;
}

// Reads a page once and keeps where its items stand. One that cannot be read is as good as forgotten.
void index_items(const Parts& parts, const Client& client, const UnreadPage& page) {
  auto index = std::make_shared<PageIndex>();
  auto plain = in_plain_bytes(page.body, parts.shared.options.list_scan_max);
  if (!plain) {
    client.state->note_page_missed(page.shown);
    plain = policy::kept_body({});
  }
  for (const auto& item : list_items(plain->bytes)) {
    const auto id = arm::parse_resource_id(item.id);
    if (!id) continue;
    const auto offset = static_cast<size_t>(item.body.data() - plain->bytes.data());
    index->items[parts.shared.hasher.hash(id->id)] = {offset, item.body.size()};
  }
  client.state->index_page(page.shown, std::move(plain), std::move(index));
}

policy::SharedBody item_body(const ShownItem& item, const arm::ResourceId& resource) {
  auto body = std::make_shared<policy::KeptBody>();
  body->bytes = item.page->bytes.substr(item.span.offset, item.span.size);
  body->is_partial = true;
  body->target = fmt::format("{}?api-version={}", resource.id, item.api_version);
  return body;
}

policy::StateShown shown_to(const Parts& parts, const Client& client, const Exchange& exchange, const KeyedPlan& plan) {
  policy::StateShown shown;
  shown.client = client.key;
  shown.request_id = request_id_of(parts.shared.hasher, exchange);
  shown.asked = order_at(parts, exchange.forwarded);
  shown.at = parts.clock.next_moment();
  shown.rendering.api_version = plan.target.api_version;
  return shown;
}

// What a read asks for beside its api-version, as it stands in its URL: with it ARM shows the state in another way ($expand).
// That is compared as the state at another api-version is, by reading it so. Empty: nothing.
std::string options_of(std::string_view target) {
  std::string options;
  for (size_t at = target.find('?'); at != target.npos;) {
    const size_t next = target.find('&', at + 1);
    const std::string_view option = target.substr(at + 1, next == target.npos ? next : next - at - 1);
    const bool is_version = equal_ignoring_case(option.substr(0, option.find('=')), "api-version");
    if (!option.empty() && !is_version) (options += '&') += option;
    at = next;
  }
  return options;
}

Showing remember(const Parts& parts, const KeyedPlan& plan, policy::StateShown shown) {
  const Showing showing{shown.client, plan.resource_key, shown.at.order, Showing::What::State};
  parts.shared.resources.apply(plan.resource_key, std::move(shown));
  return showing;
}

}  // namespace

std::string request_id_of(const Hasher& hasher, const Exchange& exchange) {
  const auto id = exchange.request.head.fields.get("x-ms-client-request-id");
  return id.size() <= kRequestIdMax ? std::string(id) : hasher.hash(id).hex();
}

const std::shared_ptr<const arm::BodyFacts>& body_facts(const rules::Plan& plan) { return plan.facts().body; }

policy::SharedBody last_read(const Parts& parts, const KeyedPlan& plan, const arm::ResponseHead& head) {
  auto last = parts.shared.resources.ask(
      plan.resource_key, [&](const policy::History& history) { return history.newest_body(plan.target.api_version); });
  return last && is_coded_as(*last, head) ? last : nullptr;
}

policy::SharedBody keep_read(const Parts& parts, const Exchange& exchange, const KeyedPlan& plan, const arm::ResponseHead& head,
                             std::string bytes) {
  const bool by_post = plan.operation == arm::OperationKind::ReadAction;
  const std::string& asked = exchange.request.head.target;
  const auto body = keep_at(by_post ? arm::target_of_listed(asked) : asked, keep_body(head, std::move(bytes)));
  if (!body) return nullptr;
  if (arm::etag_in_head(head.fields).empty()) body->etag = etag_in(body.get(), parts.shared.options.body_keep_max);
  return body;
}

Showing remember_read(const Parts& parts, const Client& client, const Exchange& exchange, const KeyedPlan& plan,
                      const arm::ResponseHead& head, policy::SharedBody body) {
  const bool is_list = plan.operation == arm::OperationKind::List;
  if (is_list) return head.status == 200 ? remember_page(parts, client, exchange, plan, std::move(body)) : Showing{};
  const auto is_known = [](const policy::History& history) { return history.is_read_by_post(); };
  if (plan.operation == arm::OperationKind::ReadAction && !parts.shared.resources.ask(plan.resource_key, is_known))
    parts.shared.resources.apply(plan.resource_key, policy::ShownByPost{});
  policy::StateShown shown = shown_to(parts, client, exchange, plan);
  shown.rendering.api_version += options_of(exchange.request.head.target);
  if (head.status == 304) {
    policy::NotModified same{shown.client,
                             std::move(shown.request_id),
                             shown.asked,
                             shown.at,
                             std::string(exchange.request.head.fields.get("if-none-match")),
                             std::move(shown.rendering.api_version)};
    parts.shared.resources.apply(plan.resource_key, std::move(same));
    return {client.key, plan.resource_key, shown.at.order, Showing::What::State};
  }
  shown.absent = head.status == 404;
  if (!shown.absent && head.status != 200) return {};
  if (shown.absent) note_removed_with_parent(parts, plan, shown.asked);
  if (!shown.absent) {
    shown.etag = std::string(arm::etag_in_head(head.fields));
    if (shown.etag.empty()) shown.etag = etag_in(body.get(), parts.shared.options.body_keep_max);
    shown.rendering.body = std::move(body);
  }
  return remember(parts, plan, std::move(shown));
}

Showing remember_own_answer(const Parts& parts, const Client& client, const Exchange& exchange, const KeyedPlan& plan,
                            const OwnAnswer& own) {
  const size_t keep_max = parts.shared.options.body_keep_max;
  const arm::Response& answer = own.answer;
  policy::StateShown shown = shown_to(parts, client, exchange, plan);
  shown.as = policy::ShownAs::OwnAnswer;
  shown.asked = shown.at.order;
  shown.write_key = own.write_key;
  policy::SharedBody body;
  if (!answer.body.empty()) body = last_read(parts, plan, answer.head);
  if (body && body->bytes != answer.body) body.reset();
  const std::string& target = exchange.request.head.target;
  if (!answer.body.empty() && !body) body = keep_at(target, keep_body(answer.head, answer.body));
  shown.etag = std::string(arm::etag_in_head(answer.head.fields));
  if (shown.etag.empty()) shown.etag = own.body_etag ? *own.body_etag : etag_in(body.get(), keep_max);
  if (!body && own.stand_in) body = keep_at(target, own.stand_in);
  if (!body && shown.etag.empty()) return {};
  if (body && body->bytes.size() <= keep_max) shown.rendering.body = std::move(body);
  return remember(parts, plan, std::move(shown));
}

void take_back(const Parts& parts, ClientState& client, const Showing& showing) {
  const policy::AnswerLost lost{showing.client, showing.order};
  if (showing.what == Showing::What::State) parts.shared.resources.apply(showing.resource, lost);
  if (showing.what != Showing::What::Page) return;
  if (parts.cluster != nullptr) return parts.cluster->post(cluster::PageLost{showing.client, showing.order});
  for (const Hash128& resource : client.page_lost(showing.order)) parts.shared.resources.apply(resource, lost);
}

void take_list_items(const Parts& parts, const Client& client, const KeyedPlan& plan) {
  const arm::ResourceId& resource = plan.target.resource;
  for (const auto& page : client.state->unread_pages(resource)) index_items(parts, client, page);
  const auto items = client.state->items_of(resource, plan.resource_key);
  const policy::KeptBody* page = nullptr;
  policy::SharedBody body;
  for (const ShownItem& item : items) {
    if (std::exchange(page, item.page.get()) != item.page.get()) body = item_body(item, resource);
    policy::StateShown shown;
    shown.client = client.key;
    shown.as = policy::ShownAs::ListItem;
    shown.request_id = item.request_id;
    shown.asked = item.asked;
    shown.at = item.shown;
    shown.etag = arm::etag_in_body(body->bytes).value_or("");
    shown.rendering = {item.api_version, body};
    parts.shared.resources.apply_here(plan.resource_key, std::move(shown));
  }
  // Not before all are told: another write of this client must not go ahead with a part of them.
  for (const ShownItem& item : items) {
    const bool is_lost = client.state->note_taken(item.shown.order, plan.resource_key);
    if (is_lost) parts.shared.resources.apply_here(plan.resource_key, policy::AnswerLost{client.key, item.shown.order});
  }
}

}  // namespace armgate
