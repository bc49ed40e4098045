#include "tests/gate_sim/workloads/knowing.h"

#include <utility>

#include "sim/judge/intentions.h"
#include "sim/judge/leaves.h"

namespace armgate::world {

void declare_when(arm::Headers& declares, const Got& got) {
  declares.set("x-sim-base-read-at", std::to_string(got.at.time_since_epoch().count()));
}

void declare_version(arm::Headers& declares, const Got& got) {
  declare_when(declares, got);
  declares.set("x-sim-base-version", got.answer.head.fields.get("x-sim-version"));
  const std::string etag = etag_in(got.answer.body);  // of a child it is its parent's, which the judge takes for the whole's
  if (!etag.empty()) declares.set("x-sim-base-etag", etag);
}

void declare_changes(arm::Headers& declares, const Subject& subject, std::string_view in_hand, std::string_view asked) {
  const auto leaves = [&](std::string_view body) { return sim::wanted_leaves(subject.target, body); };
  declares.set("x-sim-changes", sim::intentions_text(sim::intentions(leaves(in_hand), leaves(asked))));
}

void declare_removals(arm::Headers& declares, const Subject& subject, std::string_view in_hand, std::string_view asked) {
  constexpr std::string_view kTags = "/tags/";
  const auto leaves = [&](std::string_view body) { return sim::wanted_leaves(subject.target, body); };
  std::string names;
  for (const auto& [place, change] : sim::intentions(leaves(in_hand), leaves(asked))) {
    if (!change.to && place.starts_with(kTags)) names += place.substr(kTags.size()) + ",";
  }
  declares.set("x-sim-deletes", names);
}

Task<std::optional<Known>> look(SimClient& client, const Subject& subject, ReadsBy reads) {
  Known known;
  const bool lists = reads == ReadsBy::List;
  const bool in_parent = reads == ReadsBy::Parent;
  const std::string target = lists ? list_target(subject) : in_parent ? parent_target(subject) : subject.target;
  Asked asked("GET", target);
  Got got;
  if (reads == ReadsBy::Copy) {
    got = co_await client.call(std::move(asked));
  } else {
    got = co_await client.perform(std::move(asked));
  }
  if (got.status() != 200) co_return std::nullopt;
  if (!lists) {
    known.body = in_parent ? child_in(got.answer.body, subject) : got.answer.body;
    if (known.body.empty()) co_return std::nullopt;
    declare_version(known.declares, got);
    co_return known;
  }
  known.body = item_of(got.answer.body, subject);
  if (known.body.empty()) co_return std::nullopt;
  declare_when(known.declares, got);
  known.declares.set("x-sim-base-version", client.world().checkers().liveness().version_shown(got.exchange, subject.target));
  known.declares.set("x-sim-base-etag", etag_in(known.body));
  co_return known;
}

}  // namespace armgate::world
