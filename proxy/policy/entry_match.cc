#include "proxy/policy/entry_match.h"

#include <vector>

#include "arm/body/difference.h"

namespace armgate::policy {

bool same_bytes(const SharedBody& a, const SharedBody& b) {
  if (a == b) return a != nullptr;
  return a && b && a->compressed == b->compressed && a->is_partial == b->is_partial && a->bytes == b->bytes;
}

bool is_shown_by(const Entry& entry, const StateShown& shown) {
  if (entry.absent || shown.absent) return entry.absent && shown.absent;
  if (entry.etag != shown.etag) return false;
  const Rendering* known = entry.rendered_at(shown.rendering.api_version);
  const bool may_tell = known != nullptr && known->body && shown.rendering.body;
  // A list shows fewer members, so that only the ETag can say that its item is the same.
  const bool other_kind = may_tell && known->body->is_partial != shown.rendering.body->is_partial && !shown.etag.empty();
  if (may_tell && !other_kind) return same_bytes(known->body, shown.rendering.body);
  return !shown.etag.empty();
}

bool is_other_than(const Entry& entry, const StateShown& shown) {
  if (entry.absent || shown.absent) return entry.absent != shown.absent;
  if (!entry.etag.empty() && !shown.etag.empty() && entry.etag != shown.etag) return true;
  const Rendering* known = entry.rendered_at(shown.rendering.api_version);
  const bool may_tell = known != nullptr && known->body && shown.rendering.body;
  return may_tell && known->body->is_partial == shown.rendering.body->is_partial &&
         !same_bytes(known->body, shown.rendering.body);
}

WriteBefore write_before(const History& history, const Entry& write, std::string_view api_version) {
  WriteBefore before;
  const auto& entries = history.entries();
  for (auto e = entries.rbegin(); e != entries.rend(); ++e) {
    if (e->number >= write.number || !e->certain) continue;
    const Rendering* rendering = e->rendered_at(api_version);
    if (!before.state && rendering != nullptr) before.state = rendering->body;
    if (e->cause == Cause::Written) before.asked = e->requested_body;
    if (e->cause != Cause::Seen) break;
  }
  return before;
}

bool is_what_was_asked_for(const Entry& write, const StateShown& shown, const arm::BodyFacts& facts,
                           const WriteBefore& before) {
  const auto readable = [](const SharedBody& body) { return body && !body->compressed; };
  const SharedBody& body = shown.rendering.body;  // what an item of a list leaves out it does not show
  if (!readable(write.requested_body) || !readable(body)) return false;
  std::vector<arm::ComparedBody> bodies{{write.requested_body->bytes}, {body->bytes}};
  const bool has_before = readable(before.asked) && readable(before.state);
  if (has_before) bodies.insert(bodies.end(), {{before.state->bytes}, {before.asked->bytes}});
  const arm::Difference difference(bodies, facts);
  return has_before ? difference.satisfied_since(0, 1, 2, 3) : difference.satisfied(0, 1);
}

}  // namespace armgate::policy
