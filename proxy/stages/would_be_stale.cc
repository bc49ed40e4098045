#include "proxy/stages/would_be_stale.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "proxy/stages/content_coding.h"
#include "proxy/stages/remember.h"

namespace armgate {
namespace {

// The version that a delivery showed, while its client's view still has it.
std::optional<policy::Version> version_shown(const Write& write, const Sighting& sighting) {
  if (sighting.shown == 0) return std::nullopt;
  const auto state = write.parts.shared.clients.find(sighting.client);
  if (!state) return std::nullopt;
  for (auto& version : state->versions(write.plan.resource_key)) {
    const bool is_it = std::any_of(version.deliveries.begin(), version.deliveries.end(),
                                   [&](const policy::Delivery& d) { return d.at.order == sighting.shown; });
    if (is_it) return std::move(version);
  }
  return std::nullopt;
}

// The state that it was built from, or if that is a guess the newest that its client had been shown: it knew nothing newer.
policy::Base origin_for(const Write& write) {
  policy::Base origin = write.base();
  const bool guess = origin.guessed || origin.rule == policy::BaseRule::Refused;
  if (!guess) return origin;
  origin.known = {};
  for (const auto& version : write.client.state->versions(write.plan.resource_key)) {
    for (const auto& delivery : version.deliveries) {
      const bool newer = delivery.at.order <= write.exchange.arrived.order && delivery.known_since() > origin.known.order;
      if (version.absent || !newer) continue;
      const policy::Rendering& rendering = version.rendering_for(write.plan.target.api_version);
      origin.version = version.id;
      origin.etag = version.etag;
      origin.body = rendering.body;
      origin.known = {delivery.known_since(), delivery.at.time};
      origin.api_version = rendering.api_version;
    }
  }
  return origin;
}

// What was seen of a newer state, against the base.
struct Verdict {
  enum class Says { Same, Changed, Nothing } says = Says::Nothing;
  std::vector<std::string> changed;
};

Verdict compare(const Write& write, const policy::Base& base, const policy::Version& seen) {
  using Says = Verdict::Says;
  if (seen.absent) return {Says::Changed, {}};
  if (!base.etag.empty() && seen.has_etag(base.etag)) return {Says::Same, {}};
  const size_t bytes_max = write.parts.shared.options.body_keep_max;
  const policy::Rendering* rendering = seen.rendered_at(base.api_version);
  const bool comparable = rendering != nullptr && rendering->body && base.body && !rendering->body->is_sent_body;
  if (!comparable) return {};
  auto plain = plain_body(*rendering->body, bytes_max);
  if (!plain) return {};
  SeenState now;
  now.head.status = 200;
  now.body = (*std::move(plain)).into_string();
  // What an earlier sending of these bytes has made of it is no change of somebody else's.
  if (write.bound.resend && arm::satisfies(now.body, write.exchange.request.body, body_facts(write.plan))) {
    return {Says::Same, {}};
  }
  Comparison comparison = compare_with_base(now, base, write.plan, bytes_max);
  return {comparison.same ? Says::Same : Says::Changed, std::move(comparison.changed)};
}

// Sightings of states that the write has come over, the newest first: not its own doing, and not what may show its effect.
std::vector<Sighting> newer_states(const Write& write, uint64_t than) {
  auto newer = write.parts.shared.sightings.after(write.plan.resource_key, than);
  const Hash128 origin = origin_of(write);
  std::erase_if(newer, [&](const Sighting& s) {
    const bool own = s.how == Sighting::How::Written && s.client == write.client.key && s.origin == origin;
    const bool may_show_it = s.how == Sighting::How::Read && s.shown > write.exchange.forwarded.order;
    return own || may_show_it;
  });
  return newer;
}

// The last write among them that went through armgate: whose change it is.
const Sighting* last_write(const std::vector<Sighting>& newer) {
  const auto found =
      std::find_if(newer.begin(), newer.end(), [](const Sighting& s) { return s.how == Sighting::How::Written; });
  return found == newer.end() ? nullptr : &*found;
}

void name_other(WouldHave& would, const Sighting* other) {
  if (other == nullptr) return;
  would.other_client = other->client_label;
  would.other = fmt::format("{} {}", arm::to_text(other->method), would.resource);
}

WouldHave stale(const Write& write, std::string why) {
  WouldHave would = would_have(write, WouldHave::Kind::Stale, std::move(why));
  would.base = policy::to_text(write.base().rule);
  return would;
}

// The rule for writes without a known base (blind.h), by what has really come before it.
std::optional<WouldHave> would_be_blind(const Write& write, const std::vector<ObservedWrites::Write>& before) {
  const bool holds =
      write.base().rule != policy::BaseRule::Insisted && write.plan.rule->blind_after_wait == rules::BlindAfterWait::Refuse;
  if (!holds) return std::nullopt;
  WouldHave would = stale(write, "blind-after-another-write");
  const auto is_other = [&](const auto& other) {
    return other.bytes != write.bytes && !(write.own_client() && other.client == *write.own_client());
  };
  const bool creates = write.base().rule == policy::BaseRule::Create;
  const auto newer = newer_states(write, creates ? write.base().known.order : write.bound.first_arrival.order);
  const Sighting* last = last_write(newer);
  if (last != nullptr) {
    if (!is_other(*last) || last->method == arm::Method::Delete) return std::nullopt;
    name_other(would, last);
    return would;
  }
  const auto running = std::find_if(before.begin(), before.end(), [&](const ObservedWrites::Write& other) {
    return other.taken && other.resource == would.resource && is_other(other);
  });
  if (creates || running == before.end()) return std::nullopt;
  would.other_client = running->client_label;
  would.other = fmt::format("{} {}", running->method, running->resource);
  return would;
}

}  // namespace

WouldHave would_have(const Write& write, WouldHave::Kind kind, std::string why) {
  WouldHave would;
  would.kind = kind;
  would.client = write.client.label;
  would.method = write.head().method_token;
  would.resource = write.plan.target.resource.id;
  would.why = std::move(why);
  return would;
}

std::optional<WouldHave> would_be_stale(const Write& write, const std::vector<ObservedWrites::Write>& before) {
  if (!write.replaces || write.base().rule == policy::BaseRule::OwnPrecondition) return std::nullopt;
  if (write.base().goes_unguarded() && !write.base().guessed) return would_be_blind(write, before);
  if (!write.plan.guarded) return std::nullopt;
  const policy::Base origin = origin_for(write);
  if (!origin.has_state() || origin.known.order == 0) return std::nullopt;
  const auto newer = newer_states(write, origin.known.order);
  WouldHave would = stale(write, "changed-since-it-was-read");
  name_other(would, last_write(newer));
  for (const Sighting& sighting : newer) {
    const auto seen = version_shown(write, sighting);
    Verdict verdict = seen ? compare(write, origin, *seen) : Verdict{};
    if (verdict.says == Verdict::Says::Same) return std::nullopt;
    if (verdict.says == Verdict::Says::Changed) {
      would.changed = std::move(verdict.changed);
      return would;
    }
    // What it wrote is not known, but that it wrote is.
    if (sighting.how == Sighting::How::Written) return would;
  }
  return std::nullopt;
}

}  // namespace armgate
