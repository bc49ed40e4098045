#include "proxy/policy/entry_match.h"

#include "arm/body/content.h"

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

bool is_what_was_asked_for(const Entry& write, const StateShown& shown, const arm::BodyFacts& facts) {
  const SharedBody& body = shown.rendering.body;
  const bool readable =
      write.requested_body && body && !body->compressed;  // what an item of a list leaves out it does not show
  return readable && arm::satisfies(body->bytes, write.requested_body->bytes, facts);
}

}  // namespace armgate::policy
