#include "proxy/policy/entry_match.h"

#include "arm/body/content.h"

namespace armgate::policy {
namespace {

bool same_bytes(const SharedBody& a, const SharedBody& b) {
  if (a == b) return a != nullptr;
  return a && b && a->compressed == b->compressed && a->is_partial == b->is_partial && a->bytes == b->bytes;
}

}  // namespace

bool is_shown_by(const Entry& entry, const Shown& seen) {
  if (entry.absent || seen.absent) return entry.absent && seen.absent;
  if (entry.etag != seen.etag) return false;
  const Rendering* known = entry.rendered_at(seen.rendering.api_version);
  const bool may_tell = known != nullptr && known->body && seen.rendering.body;
  // A list shows fewer members, so that only the ETag can say that its item is the same.
  const bool other_kind = may_tell && known->body->is_partial != seen.rendering.body->is_partial && !seen.etag.empty();
  if (may_tell && !other_kind) return same_bytes(known->body, seen.rendering.body);
  return !seen.etag.empty();
}

bool is_other_than(const Entry& entry, const Shown& seen) {
  if (entry.absent || seen.absent) return entry.absent != seen.absent;
  if (!entry.etag.empty() && !seen.etag.empty() && entry.etag != seen.etag) return true;
  const Rendering* known = entry.rendered_at(seen.rendering.api_version);
  const bool may_tell = known != nullptr && known->body && seen.rendering.body;
  return may_tell && known->body->is_partial == seen.rendering.body->is_partial &&
         !same_bytes(known->body, seen.rendering.body);
}

bool is_what_was_asked_for(const Entry& write, const Shown& seen, const arm::BodyFacts& facts) {
  const SharedBody& body = seen.rendering.body;
  const bool readable = write.asked && body && !body->compressed && !body->is_partial;
  return readable && arm::satisfies(body->bytes, write.asked->bytes, facts);
}

}  // namespace armgate::policy
