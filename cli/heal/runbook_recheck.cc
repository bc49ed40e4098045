// Whether the run may go on: the lease, and the guards once more.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "cli/heal/facts/pool_body.h"
#include "cli/heal/runbook.h"

namespace armgate::heal {

// The guards that need no activity log. A list may lag behind a pool, and the other way round: both must say that it is wedged.
Result<std::optional<Guard>> Runbook::ask_guards(const Cluster& cluster, const std::optional<Pool>& pool) {
  const Target& target = journal_.progress().target;
  auto pools = read_pools(world_, target);
  if (!pools) return std::move(pools).error();
  Seen seen;
  seen.cluster = cluster;
  seen.pools = *std::move(pools);
  const auto listed = cheap_guards(target, seen, options_.guards);
  if (const Guard* objection = first_objection(listed)) return std::optional(*objection);
  for (Pool& one : seen.pools) {
    if (pool && one.name == target.pool) one = *pool;
  }
  const auto read = cheap_guards(target, seen, options_.guards);
  const Guard* const objection = first_objection(read);
  return objection == nullptr ? std::optional<Guard>() : std::optional(*objection);
}

// As long as a stand-in may take, which is what comes next.
std::optional<Ending> Runbook::wait_for_lease(Phase phase) {
  const Duration most = kReservedForRecreate;
  const TimePoint deadline = world_.now() + most;
  for (bool was_told = false;; world_.pause(options_.poll)) {
    if (auto ended = interruption(phase)) return ended;
    const auto held = world_.lease_held();
    if (held && *held) return std::nullopt;
    if (!held && held.error().kind == ErrorKind::BadInput) return stop(phase, held.error().context);
    const std::string why = held ? std::string(kEarlierWrite) : held.error().context;
    if (over(deadline)) return stop(phase, fmt::format("the lease took more than {} min: {}", minutes_text(most), why));
    if (!std::exchange(was_told, true)) print(phase, "wait", why);
  }
}

// Gives whether it may come although this look has not found it.
bool Runbook::note_whether_seen(const std::optional<Pool>& stand_in) {
  if (stand_in) {
    times_unseen_ = 0;
    return false;
  }
  if (times_unseen_++ == 0) unseen_since_ = world_.now();
  const bool was_long = times_unseen_ >= kLooksUntilGone && over(unseen_since_ + kUnseenUntilGone);
  return journal_.progress().of(Phase::StandIn).may_have_run() && !was_long;
}

// Nothing: it is not there, in as many looks as that takes.
Result<std::optional<Pool>> Runbook::find_stand_in() {
  const Target& target = journal_.progress().target;
  for (bool was_told = false;; world_.pause(options_.poll)) {
    auto pool = read_pool_at(world_, target.stand_in_id(), target.api_version);
    if (!pool || !note_whether_seen(*pool)) return pool;
    if (!std::exchange(was_told, true))
      print(Phase::Recheck, "wait", fmt::format("pool {} may have been made: ARM may not know it yet", target.stand_in()));
    if (world_.interrupted() != Interrupted::No)
      return gateway_error(ErrorKind::TimedOut, fmt::format("whether pool {} is there is not known", target.stand_in()));
  }
}

// It does not matter who deletes it: with the stand-in in its place the run goes on.
std::optional<Ending> Runbook::go_on_without_pool(const std::optional<Pool>& pool) {
  const Progress& progress = journal_.progress();
  const Target& target = progress.target;
  const std::string what = fmt::format("pool {} is {}", target.pool, pool ? pool->state : "gone");
  const auto stand_in = find_stand_in();
  if (!stand_in) return stop(Phase::Recheck, stand_in.error().context);
  const auto why_not = *stand_in ? why_not_ours(**stand_in, target) : fmt::format("pool {} is not there", target.stand_in());
  if (why_not) {
    return stop(
        Phase::Recheck,
        fmt::format(
            "{}, and {}: nothing of this run stands in, so nothing more is done; --undo --confirm ends it; to have the pool "
            "again, create it by hand (the body is \"again\" in {})",
            what, *why_not, progress.snapshot_file));
  }
  print(Phase::Recheck, "done",
        fmt::format("{}, and {} stands in: it is made anew from the snapshot", what, target.stand_in()));
  pool_goes_ = true;
  return std::nullopt;
}

// The guards that need no activity log once more, and the pool once more: the abort has changed both. What was evidence of the
// storm stays evidence: it grows old while the abort takes its time.
std::optional<Ending> Runbook::recheck() {
  const Target& target = journal_.progress().target;
  const bool aborted = journal_.progress().of(Phase::Abort).intended;
  if (aborted) world_.pause(options_.settle);
  if (auto ended = wait_for_lease(Phase::Recheck)) return ended;
  const auto body = read_at(world_, fmt::format("{}?api-version={}", target.cluster, target.api_version));
  if (!body || !*body) return stop(Phase::Recheck, body ? "the cluster is gone" : body.error().context);
  const auto cluster = read_cluster(**body);
  if (!cluster) return stop(Phase::Recheck, cluster.error().context);
  const auto pool = read_pool_at(world_, target.pool_id(), target.api_version);
  if (!pool) return stop(Phase::Recheck, pool.error().context);
  if (!*pool || (*pool)->state == "Deleting") return go_on_without_pool(*pool);
  const auto objection = ask_guards(*cluster, *pool);
  if (!objection) return stop(Phase::Recheck, objection.error().context);
  if (*objection) {
    const std::string& why = (*objection)->why;
    if ((*objection)->says == Guard::Says::Refuse) return stop(Phase::Recheck, why);
    const auto stand_in = find_stand_in();
    if (!stand_in) return stop(Phase::Recheck, stand_in.error().context);
    if (*stand_in) return stop(Phase::Recheck, not_needed_text(why, journal_.progress()));
    print(Phase::Recheck, "recovered", why);
    if (!aborted) return finish(Event::Kind::Recovered, Ending::Kind::NothingToDo, why);
    // The abort leaves the cluster Canceled.
    for (const Step& step : all_steps()) {
      if (step.phase != Phase::Mark) continue;
      if (auto ended = carry_out(step)) return ended;
    }
    return finish(Event::Kind::Recovered, Ending::Kind::Recovered, why + "; no pool was touched");
  }
  const auto bodies = bodies_of(**pool, *cluster);
  if (!bodies) return stop(Phase::Recheck, bodies.error().context);
  if (auto ended = keep(**pool, *bodies, Phase::Recheck)) return ended;
  print(Phase::Recheck, "done",
        fmt::format("the cluster is {}, the pool is still wedged, and written down anew", cluster->state));
  return record(Event::Kind::Done, Phase::Recheck);
}

// While ARM makes it, the cluster is in a state that says nothing.
bool Runbook::stand_in_is_there() {
  if (!journal_.progress().of(Phase::StandIn).intended) return false;
  const auto pool = find_stand_in();
  return !pool || pool->has_value();
}

}  // namespace armgate::heal
