#include "proxy/policy/merged_base.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "arm/body/difference.h"
#include "base/mutant.h"

namespace armgate::policy {
namespace {

using arm::BodyKind;
namespace row_value = arm::row_value;

enum class Knows { Yes, PerhapsNot, No };

arm::ComparedBody as_kept(const SharedBody& body) {
  return {body->bytes, body->is_partial ? BodyKind::Partial : BodyKind::Whole};
}
bool is_absent(uint32_t value) { return value == row_value::kLeftOut || value == row_value::kAbsent; }
bool differ(uint32_t a, uint32_t b) { return a != b && !(is_absent(a) && is_absent(b)); }

// What its client was shown since, if it can be compared; else what was sent.
arm::ComparedBody latest_of(const Bases& bases, const MergedBase& merged) {
  const arm::ComparedBody sent = as_kept(merged.sent);
  if (bases.possible.empty()) return sent;
  const BaseState& newest = bases.possible.front();
  // What stands in for an answer without a body was not shown.
  const bool is_shown = newest.body && (!newest.is_partial || !newest.target.empty());
  const bool tells = is_shown && newest.entry >= merged.asked.entry && newest.api_version == merged.asked.api_version;
  return tells ? arm::ComparedBody{newest.body->bytes, newest.is_partial ? BodyKind::Partial : BodyKind::Whole} : sent;
}

Knows knows(const Bases& bases, const MergedBase& merged, const WantedBody& wanted, const arm::BodyFacts& facts) {
  const bool may_tell = merged.base && merged.asked.body && merged.sent && merged.asked.api_version == wanted.api_version;
  if (!may_tell) return Knows::PerhapsNot;
  enum : size_t { kWanted, kBase, kAsked, kSent, kLatest };
  const arm::ComparedBody bodies[] = {{wanted.json, wanted.kind},
                                      as_kept(merged.base),
                                      as_kept(merged.asked.body),
                                      as_kept(merged.sent),
                                      latest_of(bases, merged)};
  const arm::Difference difference(bodies, facts);
  for (const size_t body : {kWanted, kBase, kAsked, kSent}) {
    if (!difference.readable(body)) return Knows::PerhapsNot;
  }
  const size_t latest = difference.readable(kLatest) ? kLatest : kSent;
  bool has_whole = false, changes = false, contains = true, takes_back = false;
  for (size_t row = 0; row < difference.rows(); ++row) {
    const auto value = [&](size_t body) { return difference.value(row, body); };
    const bool is_merged =
        value(kBase) != row_value::kUnknown && differ(value(kSent), value(kBase)) && differ(value(kSent), value(kAsked));
    if (value(kWanted) == row_value::kUnknown) {
      contains &= !is_merged;  // it does not say
      continue;
    }
    changes |= differ(value(kWanted), value(kSent));
    if (!is_merged) continue;
    const bool has_it = !differ(value(kWanted), value(kSent)) || !differ(value(kWanted), value(latest));
    contains &= has_it;
    takes_back |= !has_it && !differ(value(kWanted), value(kAsked));
    has_whole |= is_absent(value(kAsked)) || is_absent(value(kSent));
    if (difference.kind(row) == arm::RowKind::Whole) row = difference.end(row) - 1;
  }
  if (takes_back) return Knows::No;
  return contains && (has_whole || changes) ? Knows::Yes : Knows::PerhapsNot;
}

}  // namespace

void ClientRecord::accept(const HistoryLimits& limits, WriteAccepted write) {
  refused_in_a_row = 0;
  // The right was that of its own refusal, if it was refused itself.
  const uint64_t told = std::exchange(right_taken, 0);
  const auto taken = std::ranges::find_if(refusals, [&](const Refusal& r) { return told != 0 && r.told == told; });
  const auto own =
      std::ranges::find_if(refusals, [&](const Refusal& r) { return !r.used && r.request_hash == write.request_hash; });
  if (own != refusals.end() && taken != refusals.end() && taken->request_hash != write.request_hash)
    std::swap(own->used, taken->used);
  if (write.knows_merges && write.certain) merged.clear();
  if (!write.merged) return;
  write.merged->entry = write.at.order;
  write.merged->at = write.at.time;
  write.merged->write_key = write.write_key;
  std::erase_if(merged, [&](const MergedWrite& m) { return m.write_key == write.write_key; });
  add_bounded(merged, *std::move(write.merged), limits.merged_kept);
}

void add_merged(Bases& bases, const WantedBody& wanted, const arm::BodyFacts& facts) {
  std::vector<BaseState> unknown;
  for (MergedBase& merged : std::exchange(bases.merged, {})) {
    const Knows known = is_mutant(Mutant::MergesAreKnown) ? Knows::Yes : knows(bases, merged, wanted, facts);
    bases.knows_merges &= known == Knows::Yes;
    bases.takes_back |= known == Knows::No;
    if (known != Knows::Yes) unknown.push_back(std::move(merged.asked));
  }
  std::ranges::move(unknown, std::back_inserter(bases.possible));
  bases.may_merge &= !bases.takes_back;
}

}  // namespace armgate::policy
