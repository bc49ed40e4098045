#include "proxy/policy/verdict.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "arm/body/difference.h"
#include "base/mutant.h"

namespace armgate::policy {
namespace {

using arm::BodyKind;
using arm::ComparedBody;
using arm::Difference;

ComparedBody compared(const BaseState& base) {
  return {base.body->bytes, base.is_partial ? BodyKind::Partial : BodyKind::Whole};
}

// The bodies of one comparison. What is at another api-version, or was not kept, is not among them.
class Table {
 public:
  explicit Table(std::string_view api_version) : api_version_(api_version) {}

  std::optional<size_t> add(const BaseState& state) {
    if (state.absent) return add({{}, BodyKind::Absent});
    if (!state.body || state.api_version != api_version_) return std::nullopt;
    return add(compared(state));
  }
  std::optional<size_t> add(const ComparedBody& body) {
    if (bodies_.size() >= Difference::kBodiesMax) return std::nullopt;
    bodies_.push_back(body);
    return bodies_.size() - 1;
  }
  // What the client itself had sent to make the state with that index; nothing: it had not, or that is not known.
  std::optional<arm::OwnWrite> add_sent(const BaseState& state, size_t answer) {
    const auto sent = state.sent && !state.is_partial ? add({state.sent->bytes, BodyKind::Whole}) : std::nullopt;
    return sent ? std::optional(arm::OwnWrite{*sent, answer}) : std::nullopt;
  }
  // What the service filled in, when the client had left it out, is not removed by leaving it out again.
  void add_own(const BaseState& base, size_t answer) {
    if (const auto own = add_sent(base, answer)) own_.push_back(*own);
  }
  Difference compare(const arm::BodyFacts& facts) const { return Difference(bodies_, facts, own_); }
  std::string_view api_version() const { return api_version_; }

 private:
  std::string_view api_version_;
  std::vector<ComparedBody> bodies_;
  std::vector<arm::OwnWrite> own_;
};

// The indices of those that are there, in their order.
std::vector<size_t> add_all(Table& table, const std::vector<BaseState>& states) {
  std::vector<size_t> added;
  for (const BaseState& state : states) {
    if (const auto index = table.add(state); index && !state.absent) added.push_back(*index);
  }
  return added;
}

// Its ETag proves that a state is what is there.
bool has_its_etag(const BaseState& base, const ThereBody& there) { return !base.etag.empty() && base.etag == there.etag; }

// One read has shown that there is nothing, perhaps wrongly: nobody is known to have removed it or to have written since. Then
// what is there is it if it is the same; an ETag alone may have been given out anew.
bool may_be_back(const BaseState& base, const OthersWroteSince& others_wrote_since) {
  return base.gone && !base.deleted && !base.is_partial && base.body && !others_wrote_since(base.entry);
}

// Whether somebody may have changed what nobody is shown. Where there are no ETags, others' writes are all that tells.
bool may_have_moved_unseen(const BaseState& base, const ThereBody& there, const OthersWroteSince& others_wrote_since) {
  if (base.etag.empty() || there.etag.empty()) return others_wrote_since(base.entry);
  return base.etag != there.etag;
}

// No writable leaf differs; of what cannot be read, not a byte.
bool shows_the_same(const BaseState& base, size_t index, size_t at, const ThereBody& there, const Difference& difference) {
  return difference.same(index, at) || (base.body && base.body->bytes == there.json);
}

// Whether it leaves out nothing that is there, as an item of a list may.
bool shows_as_much(const BaseState& base, const ThereBody& there, const arm::BodyFacts& facts) {
  if (!base.is_partial) return true;
  const ComparedBody bodies[] = {{base.body->bytes, BodyKind::Whole}, {there.json, BodyKind::Whole}};
  return base.body->bytes == there.json || Difference(bodies, facts).same(0, 1);
}

// No writable leaf of it is another now. What the write changes cannot be seen where it was read at another api-version.
bool is_there_elsewhere(const BaseState& base, const ThereBody& there, const OthersWroteSince& others_wrote_since,
                        const arm::BodyFacts& facts) {
  const auto seen = std::ranges::find(there.elsewhere, base.api_version, &ThereBody::Elsewhere::api_version);
  if (!base.body || seen == there.elsewhere.end()) return false;
  const ComparedBody bodies[] = {compared(base), {seen->json, BodyKind::Whole}};
  const bool same = base.body->bytes == seen->json || Difference(bodies, facts).same(0, 1);
  return same && (!base.is_partial || !others_wrote_since(base.entry));
}

struct Judged {
  bool sends = false;
  bool is_there = false;  // the base is what is there
  bool changes = false;   // and the write makes something else of it, as far as that can be told
  bool may_merge = false;
  bool is_conflict = false;
  std::vector<std::string> pointers{};
};

Judged judge(const BaseState& base, std::optional<size_t> index, std::optional<size_t> wanted, size_t at,
             std::string_view write, const ThereBody& there, const Difference& difference,
             const OthersWroteSince& others_wrote_since, const arm::BodyFacts& facts) {
  if (base.gone && !may_be_back(base, others_wrote_since)) return {};
  const bool both_absent = base.absent && there.absent;
  if (base.absent || there.absent) return {both_absent, both_absent, both_absent};
  const bool by_etag = !base.gone && has_its_etag(base, there);
  if (!index) {
    const bool is_there = by_etag || is_there_elsewhere(base, there, others_wrote_since, facts);
    return {is_there, is_there};
  }
  arm::Reconciliation found;
  if (wanted) found = difference.reconcile(*index, *wanted, at);
  if (shows_the_same(base, *index, at, there, difference)) {
    // What was sent, or an item of a list, leaves out what others may have set; and a secret that they have set is not shown.
    const auto hides_nothing = [&] {
      return shows_as_much(base, there, facts) &&
             !(may_have_moved_unseen(base, there, others_wrote_since) && arm::carries_secret(write, facts));
    };
    const bool is_there = by_etag || !others_wrote_since(base.entry) || hides_nothing();
    return {is_there, is_there, !found.changes_nothing};
  }
  if (!wanted || base.gone) return {.pointers = difference.changed(*index, at)};
  const bool unseen_by_others = found.unseen && others_wrote_since(base.entry);
  const bool sends =
      (found.resolution == arm::Resolution::Send || found.resolution == arm::Resolution::Contained) && !unseen_by_others;
  const bool overlooked = is_mutant(Mutant::FalseAlarmIgnoresLeaf) && found.pointers.size() <= 1;
  if (overlooked) return {true, true, true};
  return {sends,
          sends && found.resolution == arm::Resolution::Send,
          !found.changes_nothing,
          found.resolution == arm::Resolution::Merge && !unseen_by_others,
          found.resolution == arm::Resolution::Conflict && !found.changes_nothing,
          std::move(found.pointers)};
}

// Whether one of the bases, all of which let the write go, is certainly the state that is there. A state that only looks the
// same does not count: one that was there, was taken back (a failed operation) and was made anew by somebody else. A client
// that is one actor works on its last read, however old that is. Of several actors one may have asked for just this without
// knowing of that state. So a base that the write leaves as it is says nothing about the other bases.
bool is_one_there(const Bases& bases, const std::vector<Judged>& judged, const ThereBody& there,
                  const OthersWroteSince& others_wrote_since) {
  const bool is_one_actor = bases.rule == BaseRule::Newest || is_mutant(Mutant::UnchangedVouches);
  const auto vouches = [&](const Judged& base) { return base.is_there && (base.changes || is_one_actor); };
  for (size_t i = 0; i < judged.size() && judged[i].is_there; ++i) {
    const BaseState& base = bases.possible[i];
    const bool is_last_read = is_one_actor && base.known_since == 0;
    if (vouches(judged[i]) && (is_last_read || !others_wrote_since(base.known_since))) return true;
  }
  for (size_t i = 0; i < judged.size(); ++i) {
    if (vouches(judged[i]) && (there.absent || has_its_etag(bases.possible[i], there))) return true;
  }
  return !judged.empty() && std::ranges::all_of(judged, &Judged::is_there);
}

// Whether one of those of which its client knows all is what is there, and nothing that it may not know of is in the way.
bool is_either(const Bases& bases, const std::vector<Judged>& judged) {
  const auto rest = judged.begin() + static_cast<std::ptrdiff_t>(bases.either_of);
  return std::any_of(judged.begin(), rest, [](const Judged& j) { return j.sends && j.is_there; }) &&
         std::all_of(rest, judged.end(), [](const Judged& j) { return j.sends; });
}

// Whether the client's last read shows what is there, and the write does not look as if it were built on what was shown before
// that.
bool is_on_last_read(const Bases& bases, const std::vector<Judged>& judged, const std::vector<std::optional<size_t>>& indices,
                     std::optional<size_t> wanted, const Difference& difference) {
  const auto last = std::ranges::find_if(bases.possible, &BaseState::is_last_read);
  if (last == bases.possible.end() || !wanted) return false;
  const auto at = static_cast<size_t>(last - bases.possible.begin());
  if (!judged[at].is_there || !indices[at]) return false;
  std::vector<size_t> olds;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (i == at) continue;
    if (!indices[i] || bases.possible[i].absent) return false;
    olds.push_back(*indices[i]);
  }
  return !difference.looks_stale(*wanted, olds, *indices[at]);
}

// Merges the write's changes into what is there, if they are the same whatever it was built from.
bool merges(const Bases& bases, const WantedBody& wanted, const ThereBody& there, const arm::BodyFacts& facts,
            arm::MergeScope scope, Verdict& verdict) {
  arm::MergeBodies bodies{{}, {wanted.json, BodyKind::Whole}, {there.json, BodyKind::Whole}};
  for (const BaseState& base : bases.possible) {
    const bool is_answer = base.sent && base.body && !base.is_partial;
    bodies.bases.push_back({compared(base), is_answer ? std::string_view(base.sent->bytes) : std::string_view()});
  }
  arm::Merge merged = arm::merge(bodies, facts, scope);
  verdict.conflict = merged.kind == arm::Merge::Kind::Conflict;
  if (verdict.conflict) verdict.pointers = std::move(merged.in_the_way.pointers);
  if (merged.kind != arm::Merge::Kind::Merged) return false;
  verdict.merged = std::move(merged);
  verdict.merged_from = bases.possible.front().body;
  verdict.sends = true;
  verdict.pointers.clear();
  return true;
}

// Whether `refusal` was about the change that the write makes of what its client has read.
bool is_same_change(const Difference& difference, const std::pair<size_t, size_t>& refused, size_t read, size_t wanted) {
  const auto [found, asked] = refused;
  if (!difference.readable(found) || !difference.readable(asked)) return false;
  for (size_t row = 0; row < difference.rows(); ++row) {
    const auto value = [&](size_t body) { return difference.value(row, body); };
    const bool then = value(found) != value(asked);
    const bool now = value(read) != value(wanted);
    if (then != now || (then && value(asked) != value(wanted))) return false;
  }
  return true;
}

// As is_same_change(), but for the values: what moves by itself is another one each time.
bool is_in_same_places(const Difference& difference, const std::pair<size_t, size_t>& refused, size_t there, size_t wanted) {
  const auto [found, asked] = refused;
  for (size_t row = 0; row < difference.rows(); ++row) {
    const auto differ = [&](size_t a, size_t b) { return difference.value(row, a) != difference.value(row, b); };
    if (differ(found, asked) != differ(there, wanted)) return false;
  }
  return true;
}

bool may_send_by_right(const Right& right, const WantedBody& wanted, const ThereBody& there, const arm::BodyFacts& facts) {
  if (!right.may_send || right.last_read.absent != there.absent) return false;
  const auto was_found = [&](const Refusal& r) { return r.found->bytes == there.json; };
  if (is_mutant(Mutant::RefusalMarksState) && std::ranges::any_of(right.same_change, was_found)) return false;
  if (there.absent) return true;
  Table table(there.api_version);
  const size_t at = *table.add({there.json, BodyKind::Whole});
  std::optional<size_t> asked;
  if (wanted.api_version == there.api_version) asked = table.add({wanted.json, BodyKind::Whole});
  const auto read = table.add(right.last_read);
  std::vector<std::pair<const BaseState*, size_t>> since;  // what must be what is there
  if (read) since.emplace_back(&right.last_read, *read);
  // A read may have been answered long after it was asked for; then its ETag alone tells that nothing came after it.
  const bool is_proven = has_its_etag(right.last_read, there);
  const auto tells = [&](const BaseState& state) {
    const auto index = state.absent ? std::nullopt : table.add(state);
    if (index) since.emplace_back(&state, *index);
    return index || has_its_etag(state, there);
  };
  if (!is_proven && !std::all_of(right.newer.begin(), right.newer.end(), tells)) return false;
  if (!read) return since.empty() && has_its_etag(right.last_read, there);
  const auto olds = add_all(table, right.superseded);
  std::vector<std::pair<size_t, size_t>> refused;  // what was found, and what was asked for
  for (const Refusal& refusal : right.same_change) {
    const auto found = table.add({refusal.found->bytes, BodyKind::Whole});
    const auto wished = table.add({refusal.requested_body->bytes, BodyKind::Whole});
    if (found && wished) refused.emplace_back(*found, *wished);
  }
  // It was told of the change and has read since: whatever it has taken over of that it knows.
  const arm::OwnWrite anything[] = {{*read, *read}};
  const Difference difference = table.compare(facts);
  const bool is_current = std::all_of(since.begin(), since.end(), [&](const auto& state) {
    return shows_the_same(*state.first, state.second, at, there, difference);
  });
  // What an item of a list leaves out others may have set since.
  const bool is_newest = right.newer.empty() && !right.written_since;
  const bool hides_nothing = is_proven || is_newest || shows_as_much(right.last_read, there, facts);
  if (!is_current || !hides_nothing) return false;
  if (!asked) return true;
  if (!difference.looks_stale(*asked, olds, *read, anything)) return true;
  if (is_mutant(Mutant::RepetitionMeansNothing)) return false;
  // The very same change a second time is meant. The same value beside other changes is not enough, not even several times:
  // what hidden actors build on old states lacks the same members.
  const auto is_same = [&](const auto& again) { return is_same_change(difference, again, *read, *asked); };
  return std::any_of(refused.begin(), refused.end(), is_same);
}

}  // namespace

void narrow_down(Bases& bases, const WantedBody& wanted, const arm::BodyFacts& facts) {
  if (bases.if_stale.empty() || bases.possible.empty()) return;
  const BaseState& newest = bases.possible.front();
  Table table(wanted.api_version);
  const size_t asked = *table.add({wanted.json, wanted.kind});
  const auto shown = table.add(newest);
  if (shown) table.add_own(newest, *shown);
  std::vector<BaseState> older = bases.if_stale;
  std::erase_if(older, [&](const BaseState& s) {
    return s.entry >= newest.entry || s.absent || !s.body || s.api_version != wanted.api_version;
  });
  const auto olds = add_all(table, older);
  bool stale = shown && !olds.empty() && table.compare(facts).looks_stale(asked, olds, *shown);
  if (stale) {
    // Hardly ever. Now what the client did itself since may tell that it knows of the newest.
    std::vector<arm::OwnWrite> own;
    const auto note_own = [&](const BaseState& state, size_t at) {
      if (const auto write = table.add_sent(state, at)) own.push_back(*write);
    };
    note_own(newest, *shown);
    for (size_t i = 0; i < olds.size(); ++i) note_own(older[i], olds[i]);  // more than can be compared are left out at the end
    stale = own.empty() || table.compare(facts).looks_stale(asked, olds, *shown, own);
  }
  if (stale) {
    bases.possible = std::move(bases.if_stale);
    bases.rule = BaseRule::AnyShown;
  }
  bases.if_stale.clear();
}

Verdict decide(const Bases& bases, const WantedBody& wanted, const ThereBody& there, const Right& right,
               const OthersWroteSince& others_wrote_since, const arm::BodyFacts& facts, std::optional<arm::MergeScope> scope) {
  Table table(there.api_version);
  const size_t at = *table.add(there.absent ? ComparedBody{{}, BodyKind::Absent} : ComparedBody{there.json, BodyKind::Whole});
  std::optional<size_t> asked;
  if (wanted.api_version == there.api_version) asked = table.add({wanted.json, BodyKind::Whole});
  std::vector<std::optional<size_t>> indices;
  for (const BaseState& base : bases.possible) {
    indices.push_back(table.add(base));
    if (indices.back()) table.add_own(base, *indices.back());
  }
  const Difference difference = table.compare(facts);
  std::vector<Judged> judged;
  for (size_t i = 0; i < bases.possible.size(); ++i) {
    judged.push_back(
        judge(bases.possible[i], indices[i], asked, at, wanted.json, there, difference, others_wrote_since, facts));
  }

  Verdict verdict;
  // That two add the same member with the same value may be two that count from nothing. So one of the bases at least must be
  // what is there: then the write may be built on it, and contains what others did since the rest.
  const auto in_the_way = std::ranges::find_if(judged, [](const Judged& j) { return !j.sends; });
  verdict.sends = is_either(bases, judged);
  verdict.sends |= in_the_way == judged.end() && is_one_there(bases, judged, there, others_wrote_since);
  verdict.sends |= is_on_last_read(bases, judged, indices, asked, difference);
  if (verdict.sends) return verdict;
  const auto to_tell = [&](const Judged& j) { return in_the_way == judged.end() ? !j.pointers.empty() : !j.sends; };
  if (const auto told = std::ranges::find_if(judged, to_tell); told != judged.end()) verdict.pointers = told->pointers;
  const bool may_merge = scope && bases.may_merge && !judged.empty() && std::ranges::all_of(judged, &Judged::may_merge);
  verdict.conflict =
      scope && !verdict.is_incomparable() && !judged.empty() && std::ranges::all_of(judged, &Judged::is_conflict);
  if (may_merge && merges(bases, wanted, there, facts, *scope, verdict)) return verdict;
  verdict.by_right = verdict.sends = may_send_by_right(right, wanted, there, facts);
  return verdict;
}

bool tries_the_same(const Refusal& refusal, const WantedBody& wanted, const ThereBody& there, const arm::BodyFacts& facts) {
  if (!refusal.found || !refusal.requested_body || wanted.api_version != there.api_version) return true;
  Table table(there.api_version);
  const size_t at = *table.add({there.json, BodyKind::Whole});
  const size_t asked = *table.add({wanted.json, BodyKind::Whole});
  const auto found = table.add({refusal.found->bytes, BodyKind::Whole});
  const auto wished = table.add({refusal.requested_body->bytes, BodyKind::Whole});
  const Difference difference = table.compare(facts);
  if (!difference.readable(*found) || !difference.readable(*wished)) return true;
  return is_in_same_places(difference, {*found, *wished}, at, asked);
}

}  // namespace armgate::policy
