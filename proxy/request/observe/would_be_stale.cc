#include "proxy/request/observe/would_be_stale.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "proxy/request/content_coding.h"
#include "proxy/request/guard/find_bases.h"
#include "proxy/request/guard/reconcile.h"

namespace armgate {
namespace {

// The last change before ARM took the write, as far as it passed by.
struct Latest {
  std::optional<policy::Entry> state;   // the newest that is known
  std::optional<policy::Entry> change;  // the newest write that went through armgate
};

Latest latest_before(const Write& write) {
  const Hash128 own = write_key_of(write);
  return write.ask([&](const policy::History& history) {
    Latest latest;
    for (const policy::Entry& entry : history.entries()) {
      // What was read since may show this write's own effect.
      const bool may_show_it = entry.cause == policy::Cause::Seen && entry.number > write.exchange.forwarded.order;
      const bool is_its_own =
          entry.writer == write.client.key && (entry.write_key == own || entry.request_hash == write.request_hash);
      if (may_show_it || is_its_own || entry.cause == policy::Cause::ChildWritten || entry.cause == policy::Cause::Acted)
        continue;
      latest.state = entry;
      if (entry.cause != policy::Cause::Seen) latest.change = entry;
    }
    return latest;
  });
}

void name_other(const Write& write, ObserveFinding& finding, const std::optional<policy::Entry>& change) {
  if (!change) return;
  const auto other = write.parts.shared.clients.find(change->writer);
  finding.other_client = other ? other->label() : std::string();
  finding.other = fmt::format("{} {}", change->cause == policy::Cause::Deleted ? "DELETE" : "PUT", finding.resource);
}

ObserveFinding stale(const Write& write, std::string why, const Latest& latest) {
  ObserveFinding finding = make_finding(write, ObserveFinding::Kind::Stale, std::move(why));
  finding.base = policy::to_text(write.rule());
  name_other(write, finding, latest.change);
  return finding;
}

// What was there, if its body passed by at an api-version of one of the bases.
std::optional<SeenState> seen_state(const Write& write, const policy::Entry& entry) {
  SeenState seen;
  seen.etag = entry.etag;
  seen.head.status = entry.absent ? 404 : 200;
  if (entry.absent) return seen;
  seen.api_version = views(write).front().api_version;
  const policy::Rendering* rendering = entry.rendered_at(seen.api_version);
  if (rendering == nullptr || !rendering->body || rendering->body->is_partial) return std::nullopt;
  const auto body = in_plain_bytes(rendering->body, write.parts.shared.options.body_keep_max);
  if (!body) return std::nullopt;
  seen.body = body->bytes;
  return seen;
}

}  // namespace

ObserveFinding make_finding(const Write& write, ObserveFinding::Kind kind, std::string why) {
  ObserveFinding finding;
  finding.kind = kind;
  finding.client = write.client.label;
  finding.method = write.head().method_token;
  finding.resource = write.plan.target.resource.id;
  finding.why = std::move(why);
  return finding;
}

std::optional<ObserveFinding> would_be_stale(const Write& write) {
  if (!write.replaces || write.rule() == policy::BaseRule::OwnPrecondition) return std::nullopt;
  const Latest latest = latest_before(write);
  if (write.is_unconditional()) {
    const bool exempt = is_forced(write) || write.is_meant_anyway();
    const auto& change = latest.change;
    // What runs still would have ended while this one waited.
    const bool overtaken = change && change->request_hash != write.request_hash && change->writer != write.client.key &&
                           (change->ended == 0 || std::max(change->number, change->ended) > write.facts.arrived.order);
    if (exempt || !overtaken) return std::nullopt;
    return stale(write, "unconditional-after-another-write", latest);
  }
  if (!write.plan.guarded || !latest.state) return std::nullopt;
  const auto& bases = write.bases.possible;
  const bool is_it = std::all_of(bases.begin(), bases.end(), [&](const auto& b) { return b.entry >= latest.state->number; });
  if (is_it) return std::nullopt;
  ObserveFinding finding = stale(write, "changed-since-it-was-read", latest);
  const auto seen = seen_state(write, *latest.state);
  if (!seen) {
    // What another wrote is not known, but that it wrote is.
    const bool another = latest.state->cause == policy::Cause::Written && latest.state->certain;
    return another ? std::optional(std::move(finding)) : std::nullopt;
  }
  policy::Verdict verdict = reconcile(write, *seen);
  if (verdict.merged) {
    finding.kind = ObserveFinding::Kind::Merged;
    finding.changed = std::move(verdict.merged->kept.pointers);
    return finding;
  }
  if (verdict.sends) return std::nullopt;
  finding.changed = std::move(verdict.pointers);
  return finding;
}

}  // namespace armgate
