// What a write did to others, as ARM's judge saw it, and whether there is an excuse for it.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "arm/url.h"
#include "proxy/state/sending_ledger.h"
#include "sim/judge/intentions.h"
#include "sim/machine/address.h"
#include "tests/support/checkers/checkers.h"

namespace armgate::world {
namespace {

struct Count {
  uint64_t sim::Report::*member;
  std::string_view what;
};
constexpr std::array<Count, 8> kHarms{{
    {&sim::Report::lost_updates, "lost updates"},
    {&sim::Report::vanished, "members were wiped out"},
    {&sim::Report::lost_increments, "lost increments"},
    {&sim::Report::overcounted_increments, "increments that nobody declared"},
    {&sim::Report::stale_writes_accepted, "writes were accepted that were built from an older state"},
    {&sim::Report::unintended_changes, "writes changed what their clients did not mean to change"},
    {&sim::Report::undone_changes, "writes were accepted that did not change what their clients meant to"},
    {&sim::Report::overwritten_changes, "writes changed what another had changed since their base"},
}};

}  // namespace

// When the client of this write sent the read that it was built from; when it had its answer, if that was no read of the resource.
TimePoint Checkers::began_to_look(const Record& record) const {
  const Record* last = nullptr;
  for (const auto& [id, other] : records_) {
    const bool looked_here = other.is_read && other.sent_by == record.sent_by && other.entity == record.entity;
    if (!looked_here || !other.answered || *other.answered > *record.base_read) continue;
    if (last == nullptr || *other.answered >= *last->answered) last = &other;
  }
  return last != nullptr ? last->served : *record.base_read;
}

bool Checkers::spans_lives(const Record& record, std::string_view if_match) const {
  if (record.life < life_) return true;
  if (!record.base_read) return false;
  if (*record.base_read <= life_began_) return true;  // a read in the new life takes time
  if (!if_match.empty()) return false;
  const auto landed = from_earlier_lives_.find(record.entity);
  const bool has_landed = landed != from_earlier_lives_.end() && landed->second >= began_to_look(record);
  return has_landed || given_back_unseen(record);
}

// Whether an operation of which armgate knows nothing failed after the client had begun to look, and took back what it had changed:
// without a journal, of a write that an earlier life had sent, or that was built from what only an earlier life had shown.
bool Checkers::given_back_unseen(const Record& record) const {
  if (promised_.journal) return false;
  const auto is_built_before = [&](const std::string& client) {
    return std::ranges::any_of(records_, [&](const auto& entry) {
      const Record& other = entry.second;
      const bool is_theirs = other.is_write && other.sent_by == client && other.entity == record.entity;
      return is_theirs && other.took_effect && other.base_read && *other.base_read <= life_began_;
    });
  };
  const TimePoint looked = began_to_look(record);
  const sim::States states = arm_.states_of(record.target);
  for (size_t i = 1; i < states.size(); ++i) {
    if (!states[i].by.empty() || states[i].since < looked) continue;
    const sim::State& taken_back = states[i - 1];
    if (taken_back.since <= life_began_ || is_built_before(taken_back.by)) return true;
  }
  return false;
}

// Whether an actor of the same name that had looked in an earlier life wrote after this one had begun to look: nobody can tell the
// two apart, so that it used up what this one was shown.
bool Checkers::taken_over_lives(const Record& record) const {
  return std::any_of(records_.begin(), records_.end(), [&](const auto& entry) {
    const Record& other = entry.second;
    const bool namesake = other.sent_as == record.sent_as && other.sent_by != record.sent_by;
    const bool wrote_here = other.is_write && other.life == life_ && other.entity == record.entity && other.sends > 0;
    const bool looked_before = other.base_read && *other.base_read <= life_began_;
    return namesake && wrote_here && looked_before && record.base_read && began_to_look(record) <= other.served;
  });
}

// Whether the same was refused to its client long enough ago.
bool Checkers::insists(const Record& record, std::string_view if_match) const {
  const auto wanted = wanted_by_id_.find(record.write_id);
  if (!if_match.empty() || wanted == wanted_by_id_.end()) return false;
  return std::any_of(records_.begin(), records_.end(), [&](const auto& entry) {
    const Record& other = entry.second;
    if (!other.refused) return false;
    const auto same = wanted_by_id_.find(other.write_id);
    return same != wanted_by_id_.end() && same->second == wanted->second;
  });
}

// It had happened, and its client sends it again when everything about it is forgotten: what it is given as its base is its own
// effect, which the same bytes leave as it is.
bool Checkers::comes_back_too_late(const Record& record) const {
  if (!accepted_ids_.contains(record.write_id)) return false;
  std::optional<TimePoint> last_sending;
  for (const auto& [id, other] : records_) {
    if (id < record.id && other.write_id == record.write_id)
      last_sending = std::max(other.served, last_sending.value_or(other.served));
  }
  return last_sending && record.served - *last_sending > SendingLedger::Options{}.keep;
}

// Whether armgate saw before a sending that the write's base was there, or what it merged the write into, and only those changed it after that who go around armgate,
// where no ETag could tell of it.
bool Checkers::overtaken_around(const Record& record, std::string_view if_match) const {
  const auto& children = sim::resource_type(sim::parse_id(arm::path_of(record.target)).type).children;
  const bool uncovered = std::any_of(children.begin(), children.end(),
                                     [](const sim::ChildKind& kind) { return kind.form == sim::ChildKind::Form::Flat; });
  if (record.looked_at.empty() || !(if_match.empty() || uncovered)) return false;
  const sim::States states = arm_.states_of(record.target);
  return std::any_of(record.looked_at.begin(), record.looked_at.end(), [&](uint64_t serial) {
    const sim::State* seen = sim::state_with(states, serial);
    if (seen == nullptr || (seen->version != record.base_version && !record.was_merged)) return false;
    std::string writer;  // the last one; what the service gives back is its doing
    return std::all_of(states.begin(), states.end(), [&](const sim::State& state) {
      if (!state.by.empty()) writer = state.by;
      return state.serial <= seen->serial || state.by == record.sent_by || !(writer.empty() || clients_.contains(writer));
    });
  });
}

// Why what this write does to others breaks no promise; null: it does.
const char* Checkers::excuse_of(const Record& record, std::string_view if_match, Late late) const {
  if (spans_lives(record, if_match) || taken_over_lives(record)) return "P1 over the end of a life";
  if (overtaken_around(record, if_match)) return "P1 by who went around armgate, between its look and the write";
  if (insists(record, if_match)) return "P1 by a client that insisted";
  if (comes_back_too_late(record)) return "P1 by what had happened and came again when it was forgotten";
  const auto deletion = deleted_.find(record.entity);
  const bool made_again = deletion != deleted_.end() && deletion->second >= record.served;
  return late == Late::Yes && made_again ? "P1 by a late effect on another resource of that name" : nullptr;
}

void Checkers::harmed(const Record& record, std::string_view if_match, std::string what) {
  if (const char* excuse = excuse_of(record, if_match, Late::No)) {
    ++excused_[excuse];
  } else if (promised_.harms == Harms::Counted) {
    ++excused_["harms among those who cannot be told apart"];
  } else {
    violated("P1", std::move(what));
  }
}

// What this write, which ARM has just accepted, did to the counts.
void Checkers::weigh(const Record& record, std::string_view if_match, Late late) {
  sim::Report report = arm_.report();
  hear_judge(report);
  if (const char* excuse = excuse_of(record, if_match, late)) {
    for (const auto& [member, what] : kHarms) {
      if (report.*member <= before_.*member) continue;
      forgiven_.*member += report.*member - before_.*member;
      ++excused_[excuse];
    }
  }
  before_ = std::move(report);
}

// Tells what ARM's judge found when it happens, not when all is over.
void Checkers::hear_judge(const sim::Report& report) {
  for (; findings_heard_ < report.findings.size(); ++findings_heard_) {
    trace_.add(clock_.now(), "  judge: {}", short_path(report.findings[findings_heard_]));
  }
}

// Whether all that it adds is there already as it would add it, and what it removes is gone: two that add or remove the same agree, and
// whoever is told that it has happened is told the truth. Two that put the same value in the place of another do not: they may count.
bool Checkers::agrees_with_what_is_there(const arm::Request& request) const {
  const auto meant = sim::read_intentions(request.head.fields.get("x-sim-changes"));
  const auto states = arm_.states_of(arm::path_of(request.head.target));
  if (!meant || meant->empty() || states.empty() || states.back().content == nullptr) return false;
  const auto there = sim::leaves_of(*states.back().content);
  return std::ranges::all_of(*meant, [&](const auto& entry) {
    const auto& [place, change] = entry;
    if (change.from && change.to) return false;
    const auto leaf = there.find(place);
    return change.to ? leaf != there.end() && leaf->second == *change.to : leaf == there.end();
  });
}

// Whether an equal write of another client, which was never told so, took effect in this one's place.
bool Checkers::changed_places(const std::string& write_id) {
  const auto wanted = wanted_by_id_.find(write_id);
  if (wanted == wanted_by_id_.end()) return false;
  return std::any_of(accepted_ids_.begin(), accepted_ids_.end(), [&](const std::string& other) {
    const auto equal = wanted_by_id_.find(other);
    const bool stands = equal != wanted_by_id_.end() && equal->second.what == wanted->second.what;
    return stands && !acknowledged_ids_.contains(other) && changed_places_.insert(other).second;
  });
}

void Checkers::settled() {
  liveness_.settled();
  const sim::Report report = arm_.report();
  for (const auto& [member, what] : kHarms) {
    if (report.*member <= forgiven_.*member) continue;
    const uint64_t count = report.*member - forgiven_.*member;
    if (promised_.mode == rules::Mode::Observe)
      excused_[fmt::format("let through in mode observe: {}", what)] += count;
    else if (promised_.harms == Harms::Counted)
      excused_[fmt::format("harms among those who cannot be told apart: {}", what)] += count;
    else
      violated("P1", fmt::format("{} {}", count, what));
  }
  if (report.bad_signatures != 0) violated("P7", "an operation URL was changed on its way");
  for (const auto& [id, spans_lives] : acknowledged_ids_) {
    const bool happened = accepted_ids_.contains(id) || accepted_wants_.contains(wanted_by_id_[id]);
    if (happened) continue;
    // What an earlier life saw others do, or another actor of the same name with the same bytes, may be taken for its own.
    const bool counted = promised_.mode == rules::Mode::Protect && promised_.harms == Harms::Counted;
    if (spans_lives)
      ++excused_["P1 over the end of a life"];
    else if (changed_places(id))
      ++excused_["P1 by two lost writes of equal content that changed places"];
    else if (counted)
      ++excused_["harms among those who cannot be told apart"];
    else
      violated("P1", fmt::format("{} was acknowledged, but never took effect", id));
  }
}

}  // namespace armgate::world
