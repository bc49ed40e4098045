#include "proxy/policy/base.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/mutant.h"

namespace armgate::policy {
namespace {

// One delivery of one version, as a candidate for being what the write was built from.
struct Candidate {
  const Version* version = nullptr;
  const Delivery* delivery = nullptr;
  bool live = false;
  bool refused_in_hand = false;  // dead only because ARM refused a write on it: another actor may still hold it
};

// Every delivery made before the write arrived, in order. A client that is known only by its token may run on several
// machines: what was delivered to the write's own address counts first, the rest only if there is nothing of that.
std::vector<Candidate> candidates_of(const View& view, const WriteFacts& write, const Liveness& liveness) {
  std::vector<Candidate> all;
  bool any_from_peer = false;
  size_t deliveries = 0;
  for (const auto& version : view.versions()) deliveries += version.deliveries.size();
  all.reserve(deliveries);
  bool any_from_others = false;
  for (const auto& version : view.versions()) {
    const bool recent = is_recent(view, version, liveness);
    for (const auto& delivery : version.deliveries) {
      if (delivery.at.order > write.arrived.order) continue;
      const bool survives = version.absent || delivery.known_since() > liveness.deleted_order;
      const bool in_hand = recent && !delivery.consumed && survives;
      all.push_back({&version, &delivery, in_hand && !version.refused, in_hand && version.refused});
      const bool from_peer = delivery.peer == write.peer;
      any_from_peer |= from_peer;
      any_from_others |= !from_peer;
    }
  }
  if (write.prefer_peer && any_from_peer && any_from_others) {
    std::erase_if(all, [&](const Candidate& c) { return c.delivery->peer != write.peer && !c.delivery->peer.is_zero(); });
  }
  const auto earlier = [](const Candidate& a, const Candidate& b) { return a.delivery->at.order < b.delivery->at.order; };
  const bool may_mix = view.versions().size() > 1;  // those of one version are in order
  if (may_mix && !std::is_sorted(all.begin(), all.end(), earlier)) std::sort(all.begin(), all.end(), earlier);
  return all;
}

// Read at the write's own api-version, whose shape this is, or at another. Absence is neither.
bool has_shape(const Candidate& candidate, uint32_t own) { return own != kAnyShape && candidate.delivery->shape == own; }
bool has_other_shape(const Candidate& candidate, uint32_t own) {
  return candidate.delivery->shape != kAnyShape && candidate.delivery->shape != own;
}

// The newest confirmed candidate; without a confirmed one the oldest: a pending delivery never counts as the newest.
template <class Wanted>
const Candidate* newest(std::span<const Candidate> candidates, Wanted wanted) {
  const Candidate* confirmed = nullptr;
  const Candidate* oldest = nullptr;
  for (const auto& candidate : candidates) {
    if (!wanted(candidate)) continue;
    if (oldest == nullptr) oldest = &candidate;
    if (candidate.delivery->confirmation == Confirmation::Confirmed) confirmed = &candidate;
  }
  return confirmed != nullptr ? confirmed : oldest;
}

// The base that a candidate makes. Built on absence it is a create, whatever the rule that found it.
Base on(const Candidate& candidate, BaseRule rule, const WriteFacts& write) {
  const Version& version = *candidate.version;
  Base base;
  base.rule = version.absent ? BaseRule::Create : rule;
  base.version = version.id;
  base.etag = version.etag;
  const Rendering& rendering = version.rendering_for(write.api_version);
  base.body = rendering.body;
  base.target = rendering.target;
  base.api_version = rendering.api_version;
  // The ETag is that of the version's newest delivery; absence counts from the delivery that the write was built from.
  const Delivery& shown = version.absent ? *candidate.delivery : version.deliveries.back();
  base.known = {shown.known_since(), shown.at.time};
  return base;
}

// The same, if it was chosen among all that was `shown`.
Base among(std::span<const Candidate> shown, const Candidate& candidate, BaseRule rule, const WriteFacts& write) {
  Base base = on(candidate, rule, write);
  base.guessed = rule == BaseRule::OldestLive || shown.back().version != candidate.version;
  return base;
}

Base without_state(BaseRule rule) {
  Base base;
  base.rule = rule;
  return base;
}

// Rule 2. The version, if it is known, gives the body for a later comparison.
Base by_body_etag(const View& view, const WriteFacts& write) {
  Base base;
  for (const auto& version : view.versions()) {
    if (version.has_etag(write.body_etag)) base = on({&version, &version.deliveries.back()}, BaseRule::BodyEtag, write);
  }
  base.rule = BaseRule::BodyEtag;
  base.etag = std::string(write.body_etag);
  return base;
}

// Which are reads that may not have arrived, if something else was shown before and nothing certainly afterwards: such a read
// counts only as an older candidate.
class Doubtful {
 public:
  explicit Doubtful(std::span<const Candidate> candidates) {
    if (candidates.empty()) return;
    first_ = candidates.front().version;
    for (const auto& c : candidates) {
      if (c.delivery->confirmation == Confirmation::Confirmed) certain_until_ = c.delivery->at.order;
    }
  }
  bool operator()(const Candidate& c) const {
    const bool after = !certain_until_ || c.delivery->at.order > *certain_until_;
    return after && c.delivery->kind != DeliveryKind::OwnAnswer && c.version != first_;
  }

 private:
  const Version* first_ = nullptr;
  std::optional<uint64_t> certain_until_;  // order of the last one that was seen to arrive
};

arm::Evidence evidence_for(const WriteFacts& write, const Candidate& candidate,
                           arm::Evidence VersionEvidence::*which = &VersionEvidence::says) {
  for (const auto& one : write.evidence) {
    if (one.version == candidate.version->id) return one.*which;
  }
  return arm::Evidence::Silent;
}

// Rule 6. What of all that was shown the body leaves possible; all of it if the body agrees with none.
struct Fitting {
  std::span<const Candidate> all;
  std::optional<std::vector<Candidate>> left{};  // nothing: all
  bool any_agrees = false;
  bool by_absence = false;  // something was ruled out only because the body lacks what it has

  std::span<const Candidate> candidates() const { return left ? std::span<const Candidate>(*left) : all; }
};

Fitting fitting(std::span<const Candidate> candidates, const WriteFacts& write) {
  Fitting fit{candidates};
  if (write.evidence.empty()) return fit;
  // What agrees is at least as new as this. A write's answer may show a state that is older than a read which came before it.
  std::optional<uint64_t> agreed_since;
  for (const auto& c : candidates) {
    if (evidence_for(write, c) != arm::Evidence::Agrees) continue;
    const uint64_t since = c.delivery->kind == DeliveryKind::OwnAnswer ? 0 : c.delivery->known_since();
    agreed_since = std::min(agreed_since.value_or(since), since);
  }
  if (!agreed_since) return fit;
  fit.any_agrees = true;
  const auto is_older = [&](const Version& version) {
    return std::any_of(candidates.begin(), candidates.end(),
                       [&](const Candidate& c) { return c.version == &version && c.delivery->at.order < *agreed_since; });
  };
  fit.left.emplace(candidates.begin(), candidates.end());
  std::erase_if(*fit.left, [&](const Candidate& c) {
    const auto says = evidence_for(write, c);
    if (says == arm::Evidence::Contradicts) return true;
    // A removal looks the same. The only actor there is knows the newer state; of several one may still hold the older,
    // and it is never given up for a newer one on such grounds.
    const bool weakly = says == arm::Evidence::ContradictsByAbsence && write.actor != Actor::Single && !is_older(*c.version);
    fit.by_absence |= weakly;
    return weakly;
  });
  return fit;
}

// After a delivered 412 the same bytes are a new intention, but only a read makes them one that can be guarded: the answer
// to another write may have gone to another actor. A read that may not have arrived counts only if it is the same command's:
// a client may go on with an older copy when a fresh read fails.
Base after_refusal(std::vector<Candidate> candidates, const WriteFacts& write, const BaseLimits& limits,
                   const Liveness& liveness) {
  const bool insists = write.refused_first && liveness.now - *write.refused_first >= limits.insist_after;
  // Who has read at the write's api-version reads there again.
  const uint32_t own_shape = shape_of(write.api_version);
  const bool any_own =
      std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& c) { return has_shape(c, own_shape); });
  if (write.actor != Actor::Single && any_own) {
    std::erase_if(candidates, [&](const Candidate& c) { return has_other_shape(c, own_shape); });
  }
  // A command that has read since under its own id knows nothing of what others were shown.
  const auto is_own_since = [&](const Candidate& c) {
    return !write.request_id.empty() && c.delivery->request_id == write.request_id &&
           c.delivery->at.order > write.refused_at->order;
  };
  const bool own_since = std::any_of(candidates.begin(), candidates.end(), is_own_since);
  // The same call once more, and it has read nothing: what others were shown is not what its bytes were built from.
  const bool same_call = !write.request_id.empty() && write.request_id == write.refused_id;
  if (same_call && !own_since && !insists) return without_state(BaseRule::Refused);
  const bool has_evidence = !own_since && write.actor != Actor::Single && fitting(candidates, write).any_agrees;
  if (own_since) std::erase_if(candidates, [&](const Candidate& c) { return !is_own_since(c); });
  const auto was_shown = [&](const Candidate& c) {
    const bool same_command = !write.request_id.empty() && c.delivery->request_id == write.request_id;
    return same_command || c.delivery->confirmation == Confirmation::Confirmed;
  };
  const auto counts_since = [&](const Candidate& c) {
    const bool read = c.delivery->kind != DeliveryKind::OwnAnswer || c.version->absent;
    return c.delivery->at.order > write.refused_at->order && !c.version->refused && (read || write.actor == Actor::Single) &&
           was_shown(c);
  };
  const auto* since = newest(candidates, counts_since);
  // What was read since may have been read by another actor, while these bytes are still those of before. Who takes a change
  // back says the same; for its sake the evidence counts only for a time.
  if (since != nullptr && has_evidence && !insists) {
    since = newest(candidates, [&](const Candidate& c) {
      return counts_since(c) && (c.version->absent || evidence_for(write, c) == arm::Evidence::Agrees);
    });
    if (since == nullptr) return without_state(BaseRule::Refused);
  }
  if (since != nullptr) {
    return since->live ? among(candidates, *since, BaseRule::SinceRefusal, write) : without_state(BaseRule::Refused);
  }
  const bool read_since = std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& c) {
    return c.delivery->kind != DeliveryKind::OwnAnswer && c.delivery->at.order > write.refused_at->order;
  });
  if (!read_since && insists) return without_state(BaseRule::Insisted);
  return without_state(BaseRule::Refused);
}

// What the command of this write was told under its request id.
std::vector<Candidate> own_of(std::span<const Candidate> candidates, std::string_view request_id) {
  std::vector<Candidate> own;
  if (request_id.empty()) return own;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(own),
               [&](const Candidate& c) { return c.delivery->request_id == request_id; });
  return own;
}

// Rule 3. One request id for a read and a write: one command made both (az).
const Candidate* by_request_id(const View& view, const std::vector<Candidate>& own, const WriteFacts& write,
                               const BaseLimits& limits, const Liveness& liveness) {
  const auto& overlapped = view.overlapped_ids;
  if (std::find(overlapped.begin(), overlapped.end(), write.request_id) != overlapped.end()) return nullptr;
  return newest(
      own, [&](const Candidate& c) { return !c.delivery->consumed && liveness.now - c.delivery->at.time <= limits.think_max; });
}

// Rules 4 and 8. The oldest live delivery of each live version, oldest first. That is the order of delivery; of two that
// overlapped in time it is known which state was first only if a write of the client's own made one of the other.
std::vector<Candidate> live_versions(std::span<const Candidate> candidates) {
  const Doubtful doubtful(candidates);
  std::vector<Candidate> live;
  for (const auto& c : candidates) {
    if (!c.live || doubtful(c)) continue;
    if (!live.empty() && live.back().version == c.version) continue;
    const bool known = std::any_of(live.begin(), live.end(), [&](const Candidate& l) { return l.version == c.version; });
    if (!known) live.push_back(c);
  }
  const auto before = [&] {
    return std::find_if(live.begin(), live.end(),
                        [&](const Candidate& l) { return l.version->id == live.front().version->follows; });
  };
  // States may come back, so that one follows the other both ways: each is moved to the front once at most.
  for (size_t moves = live.size(); moves > 1; --moves) {
    const auto it = before();
    if (it == live.end()) break;
    std::rotate(live.begin(), it, std::next(it));
  }
  return live;
}

// Rule 7. One actor knows only the last thing it was shown: a state, or that there is none.
std::optional<Base> by_single_actor(const View& view, std::span<const Candidate> candidates, const WriteFacts& write,
                                    const Liveness& liveness) {
  if (write.actor != Actor::Single || liveness.now < view.overlap_until) return std::nullopt;
  const auto* last = newest(candidates, [](const Candidate& c) { return c.delivery->kind != DeliveryKind::ListItem; });
  if (last == nullptr) return std::nullopt;
  // The version counts, not the one delivery: a single actor that wrote on a read may write on it again only if it was
  // delivered anew, which is another delivery of the same version.
  return is_live(view, *last->version, liveness) ? among(candidates, *last, BaseRule::SingleNewest, write)
                                                 : without_state(BaseRule::Refused);
}

// Who writes at one api-version has read at it. As long as somebody may hold a state that was read at the write's own, what may
// be newer and came at others is no base for it: the bodies, of different shapes, could not tell. What is older for certain
// stays. True if anything went.
bool forget_other_shapes(std::vector<Candidate>& candidates, const WriteFacts& write) {
  if (write.actor == Actor::Single || is_mutant(Mutant::ShapesMixed)) return false;
  const uint32_t own_shape = shape_of(write.api_version);
  const auto held = std::find_if(candidates.begin(), candidates.end(),
                                 [&](const Candidate& c) { return has_shape(c, own_shape) && (c.live || c.refused_in_hand); });
  if (held == candidates.end()) return false;
  const uint64_t newer_than = held->delivery->newer_than();
  return std::erase_if(candidates, [&](const Candidate& c) {
           return has_other_shape(c, own_shape) && c.delivery->at.order > newer_than;
         }) > 0;
}

// Rules 4 and 6 to 8. Evidence only rules out; what it leaves is judged like all that was shown.
Base by_content(const View& view, std::span<const Candidate> candidates, const WriteFacts& write, const Liveness& liveness) {
  const Fitting fit = fitting(candidates, write);
  const auto possible = fit.candidates();
  const auto live = live_versions(possible);
  // It agrees with a state that was refused to one actor and that another still holds: a newer one is no base for it.
  const auto holds_refused = [&](arm::Evidence VersionEvidence::*which) {
    const auto agrees = [&](const Candidate& c) { return evidence_for(write, c, which) == arm::Evidence::Agrees; };
    return !live.empty() && !agrees(live.front()) &&
           std::any_of(possible.begin(), possible.end(), [&](const Candidate& c) { return c.refused_in_hand && agrees(c); });
  };
  if (write.actor != Actor::Single &&
      (holds_refused(&VersionEvidence::says) || holds_refused(&VersionEvidence::says_in_hand))) {
    return without_state(BaseRule::Refused);
  }
  const bool decided = fit.any_agrees && live_versions(candidates).size() > live.size();
  Base base;
  if (live.size() == 1 && write.actor != Actor::Single) {
    base = among(possible, live.front(), decided ? BaseRule::Evidence : BaseRule::OnlyLive, write);
  } else if (auto newest_of_one = by_single_actor(view, possible, write, liveness)) {
    base = *std::move(newest_of_one);
    if (decided && base.rule == BaseRule::SingleNewest) base.rule = BaseRule::Evidence;
  } else if (live.empty()) {
    base = without_state(BaseRule::Refused);
  } else {
    base = among(possible, live.front(), BaseRule::OldestLive, write);
  }
  base.guessed |= fit.by_absence;
  return base;
}

}  // namespace

std::string_view to_text(BaseRule rule) {
  switch (rule) {
    case BaseRule::OwnPrecondition: return "client";
    case BaseRule::BodyEtag: return "body-etag";
    case BaseRule::RequestId: return "request-id";
    case BaseRule::OnlyLive: return "only-live";
    case BaseRule::Create: return "create";
    case BaseRule::Blind: return "blind";
    case BaseRule::Evidence: return "content";
    case BaseRule::SingleNewest: return "single";
    case BaseRule::OldestLive: return "oldest-live";
    case BaseRule::SinceRefusal: return "since-refusal";
    case BaseRule::Insisted: return "insisted";
    case BaseRule::Refused: return "refused";
  }
  return "unknown";
}

Base decide_base(const View& view, const WriteFacts& write, const BaseLimits& limits, const Liveness& liveness) {
  if (!write.body_etag.empty()) return by_body_etag(view, write);

  auto candidates = candidates_of(view, write, liveness);
  if (is_mutant(Mutant::NewestVersionAlways) && !candidates.empty()) return on(candidates.back(), BaseRule::OnlyLive, write);
  if (write.refused_at) return after_refusal(std::move(candidates), write, limits, liveness);

  const auto shown_to_command = own_of(candidates, write.request_id);
  auto own = shown_to_command;
  std::erase_if(own, Doubtful(shown_to_command));
  if (const auto* c = by_request_id(view, own, write, limits, liveness)) {
    return is_live(view, *c->version, liveness) ? among(shown_to_command, *c, BaseRule::RequestId, write)
                                                : without_state(BaseRule::Refused);
  }
  // A command that has read under its id holds nothing that came later under others, also if that read was used up or is
  // too old for rule 3: in doubt the older state.
  if (!own.empty()) {
    std::erase_if(candidates, [&](const Candidate& c) { return c.delivery->at.order > own.back().delivery->at.order; });
  }

  if (write.own_delete && !candidates.empty() && candidates.back().delivery->at.order < write.own_delete->order) {
    Base create = without_state(BaseRule::Create);
    create.known = *write.own_delete;
    return create;
  }

  if (candidates.empty()) return without_state(BaseRule::Blind);
  const bool shown_more = forget_other_shapes(candidates, write);
  Base base = by_content(view, candidates, write, liveness);
  base.guessed |= shown_more;
  return base;
}

}  // namespace armgate::policy
