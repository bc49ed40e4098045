#include "proxy/request/read/parents.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "arm/body/embedded.h"
#include "arm/etag.h"
#include "arm/resource_id.h"
#include "proxy/request/content_coding.h"

namespace armgate {
namespace {

// Those in whose bodies it may stand. A resource group's body holds no resources, nor does a resource's what another provider
// adds to it, but for its tags.
std::vector<std::string> parents_of(const arm::ResourceId& resource) {
  std::vector<std::string> parents;
  if (resource.type == arm::kTagsType) {
    if (auto tagged = arm::parent_of(resource)) parents.push_back(std::move(tagged->id));
    return parents;
  }
  if (std::ranges::count(resource.type, '/') < 2) return parents;  // most are none's child
  for (std::string& id : arm::self_and_ancestors(resource)) {
    const bool is_parent = id != resource.id && id.find("/providers/") != id.npos &&
                           resource.id.find("/providers/", id.size()) == std::string::npos;
    if (is_parent) parents.push_back(std::move(id));
  }
  return parents;
}

bool replaces(const policy::Entry& e) { return e.cause == policy::Cause::Written && e.asked_for_all; }

template <class Is>
const policy::Entry* newest_before(const policy::History& history, uint64_t order, Is is) {
  const auto& entries = history.entries();
  const auto found = std::find_if(entries.rbegin(), entries.rend(), [&](const auto& e) { return e.number < order && is(e); });
  return found == entries.rend() ? nullptr : &*found;
}

// What was sent to ARM: with what was merged into it, others' children among it.
policy::SharedBody body_sent(const policy::History& history, const policy::Entry& write) {
  if (const policy::ClientRecord* record = history.client(write.writer)) {
    for (const policy::MergedWrite& merged : record->merged) {
      if (merged.entry == write.number) return merged.sent;
    }
  }
  return write.requested_body;
}

// Whether the body has the list in which it would stand, without it.
bool leaves_out(const Parts& parts, const policy::SharedBody& body, const arm::ResourceId& resource) {
  const auto plain = in_plain_bytes(body, parts.shared.options.body_keep_max);
  const arm::Embedded embedded = plain ? arm::find_embedded(plain->bytes, resource) : arm::Embedded{};
  return embedded.lists && embedded.element.empty();
}

// A read of a parent, as its client was shown it.
struct ShownParent {
  policy::Observation observation;
  policy::SharedBody body;
};

// `by_patch`: a PATCH of the parent changes the resource, too.
std::vector<ShownParent> reads_of(const policy::History& history, const Hash128& client, bool by_patch) {
  std::vector<ShownParent> reads;
  const policy::ClientRecord* record = history.client(client);
  if (record == nullptr) return reads;
  const auto is_own = [&](const policy::Entry& e) {
    return e.writer == client && (replaces(e) || (by_patch && e.cause == policy::Cause::Written));
  };
  const policy::Entry* own = newest_before(history, UINT64_MAX, is_own);
  for (const policy::Observation& read : record->shown) {
    const bool is_after = own == nullptr || read.last_asked > own->number;
    const bool has_options = read.api_version.find('&') != std::string::npos;
    if (read.as != policy::ShownAs::PointRead || read.lost || has_options || !is_after) continue;
    const policy::Entry* entry = history.find(read.entry);
    const policy::Rendering* rendering = entry == nullptr ? nullptr : entry->rendered_at(read.api_version);
    if (rendering != nullptr && rendering->body && !rendering->body->is_partial) reads.push_back({read, rendering->body});
  }
  return reads;
}

// Whether it was taken before.
bool is_taken(const policy::History& history, const Hash128& client, const ShownParent& read) {
  const policy::ClientRecord* record = history.client(client);
  const uint64_t order = read.observation.last_shown.order;
  return record != nullptr && std::ranges::any_of(record->shown, [&](const policy::Observation& o) {
           return o.as == policy::ShownAs::ListItem && o.first_shown.order <= order && order <= o.last_shown.order;
         });
}

// At which it is shown. Tags are of another provider than what they tag, and the same at any.
const std::string& version_of(const KeyedPlan& plan, const ShownParent& read) {
  return plan.target.resource.type == arm::kTagsType ? plan.target.api_version : read.observation.api_version;
}

std::shared_ptr<policy::KeptBody> element_in(const Parts& parts, const KeyedPlan& plan, const ShownParent& read) {
  const auto plain = in_plain_bytes(read.body, parts.shared.options.body_keep_max);
  const arm::ResourceId& resource = plan.target.resource;
  std::string element = plain ? arm::find_embedded(plain->bytes, resource).element : std::string();
  if (element.empty()) return nullptr;
  auto body = policy::kept_body(std::move(element), true);
  body->target = fmt::format("{}?api-version={}", resource.id, version_of(plan, read));
  return body;
}

}  // namespace

void note_removed_with_parent(const Parts& parts, const KeyedPlan& plan, uint64_t asked) {
  const uint64_t written = parts.shared.resources.ask(plan.resource_key, [&](const policy::History& history) {
    const auto is_write = [](const policy::Entry& e) { return e.cause == policy::Cause::Written; };
    const policy::Entry* last = newest_before(history, asked, is_write);
    const bool was_there = last != nullptr && last->certain && last->number > history.deleted();
    return was_there ? last->number : 0;
  });
  if (written == 0) return;
  for (const std::string& id : parents_of(plan.target.resource)) {
    Hash128 writer{};
    policy::SharedBody sent;
    parts.shared.resources.ask(parts.shared.hasher.hash(id), [&](const policy::History& history) {
      const policy::Entry* last = newest_before(history, asked, replaces);
      if (last == nullptr || last->number <= written) return;
      writer = last->writer;
      sent = body_sent(history, *last);
    });
    if (!leaves_out(parts, sent, plan.target.resource)) continue;
    return parts.shared.resources.apply(plan.resource_key, policy::ResourceDeleted{writer, {asked, parts.clock.now()}});
  }
}

bool is_put_with_parent(const Parts& parts, const arm::ResourceId& resource, uint64_t since,
                        const std::function<bool(const policy::Entry&)>& mine) {
  const auto does_not_count = [&](const policy::Entry& e) { return !replaces(e) || mine(e); };
  return std::ranges::any_of(parents_of(resource), [&](const std::string& id) {
    return parts.shared.resources.ask(parts.shared.hasher.hash(id), [&](const policy::History& history) {
      return history.ended_since(since, does_not_count);
    });
  });
}

void take_from_parents(const Parts& parts, const Client& client, const KeyedPlan& plan) {
  const bool are_tags = plan.target.resource.type == arm::kTagsType;
  for (const std::string& id : parents_of(plan.target.resource)) {
    auto reads = parts.shared.resources.ask(
        parts.shared.hasher.hash(id), [&](const policy::History& history) { return reads_of(history, client.key, are_tags); });
    if (reads.empty()) continue;
    parts.shared.resources.ask(plan.resource_key, [&](const policy::History& history) {
      std::erase_if(reads, [&](const ShownParent& read) { return is_taken(history, client.key, read); });
    });
    policy::SharedBody last;
    std::shared_ptr<policy::KeptBody> element;
    for (ShownParent& read : reads) {
      if (std::exchange(last, read.body) != read.body) element = element_in(parts, plan, read);
      if (!element) continue;
      policy::StateShown shown;
      shown.client = client.key;
      shown.as = policy::ShownAs::ListItem;
      shown.request_id = std::move(read.observation.request_id);
      shown.asked = read.observation.last_asked;
      shown.at = read.observation.last_shown;
      shown.etag = arm::etag_in_body(element->bytes).value_or("");
      shown.rendering = {version_of(plan, read), element};
      parts.shared.resources.apply_here(plan.resource_key, std::move(shown));
    }
  }
}

}  // namespace armgate
