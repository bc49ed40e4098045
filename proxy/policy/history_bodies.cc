// The bodies that a history keeps, and how many bytes they have: counted as they come and go, because every event asks.
#include <algorithm>
#include <utility>

#include "proxy/policy/history.h"

namespace armgate::policy {
namespace {

constexpr size_t kRenderingsMax = 4;

size_t size_of(const SharedBody& body) { return body ? body->bytes.size() : 0; }

// Every body that is kept, those first that are missed least.
template <class Entries, class Clients, class Visit>
void for_each_body(Entries& entries, Clients& clients, Visit visit) {
  for (auto& [client, record] : clients) {
    for (auto& refusal : record.refusals) {
      visit(refusal.requested_body);
      visit(refusal.found);
    }
  }
  for (auto& entry : entries) {
    for (auto& rendering : entry.renderings) visit(rendering.body);
    visit(entry.requested_body);
  }
  for (auto& [client, record] : clients) {
    for (auto& merged : record.merged) {
      visit(merged.base);
      visit(merged.requested_body);
      visit(merged.sent);
    }
  }
}

}  // namespace

size_t History::bytes_of(const Entry& entry) {
  size_t bytes = size_of(entry.requested_body);
  for (const Rendering& rendering : entry.renderings) bytes += size_of(rendering.body);
  return bytes;
}

void History::add_rendering(Entry& entry, Rendering rendering) {
  const size_t before = bytes_of(entry);
  const auto same = std::ranges::find(entry.renderings, rendering.api_version, &Rendering::api_version);
  if (same == entry.renderings.end()) {
    add_bounded(entry.renderings, std::move(rendering), kRenderingsMax);
  } else {
    const bool says_more = !same->body || (same->body->is_partial && rendering.body && !rendering.body->is_partial);
    if (says_more) *same = std::move(rendering);
  }
  body_bytes_ += bytes_of(entry) - before;
}

SharedBody History::newest_body(std::string_view api_version) const {
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    const Rendering* rendering = entry->rendered_at(api_version);
    if (rendering != nullptr && rendering->body && !rendering->body->is_partial) return rendering->body;
  }
  return nullptr;
}

void History::count_bodies() {
  body_bytes_ = 0;
  for_each_body(entries_, clients_, [&](const SharedBody& body) { body_bytes_ += size_of(body); });
}

void History::drop_bodies(size_t most) {
  for_each_body(entries_, clients_, [&](SharedBody& body) {
    if (body_bytes_ <= most || !body) return;
    body_bytes_ -= body->bytes.size();
    body.reset();
  });
}

}  // namespace armgate::policy
