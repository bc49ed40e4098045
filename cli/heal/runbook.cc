#include "cli/heal/runbook.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arm/arm_error.h"
#include "arm/long_running.h"
#include "base/text.h"
#include "cli/heal/facts/pool_body.h"

namespace armgate::heal {
namespace {

constexpr int kRefusedConditionsMax = 3;

// ARM is busy with the cluster, which passes (docs/arm.md, "Error codes").
bool is_busy(const Reply& reply) {
  if (reply.status == 408 || reply.status == 429 || reply.status >= 500) return true;
  if (reply.status != 409) return false;
  const auto error = arm::parse_error(reply.body);
  return error && contains_ignoring_case(error->message, "in progress");
}

// Why nobody knows what became of a write; nothing: ARM has said. armgate answers with that code where ARM's answer was lost.
std::optional<std::string> why_unknown(const Result<Reply>& reply) {
  if (!reply) return fmt::format("no answer ({})", reply.error().context);
  const auto error = reply->status == 409 ? arm::parse_error(reply->body) : std::nullopt;
  if (!error || error->code != "ArmgateOutcomeUnknown") return std::nullopt;
  return fmt::format("nobody knows whether ARM took it ({})", words_of(*reply));
}

}  // namespace

Runbook::Runbook(const World& world, Journal& journal, RunOptions options)
    : world_(world), journal_(journal), options_(std::move(options)), ends_(world.now() + options_.overall) {}

std::optional<Ending> Runbook::record(Event::Kind kind, Phase phase, std::string text, int status) {
  const auto noted = journal_.append({kind, world_.wall(), phase, std::move(text), "", status});
  if (noted) return std::nullopt;
  return Ending{Ending::Kind::Stopped, noted.error().context + "; nothing was sent that is not in the journal"};
}

Ending Runbook::stop(Phase phase, std::string why, Ending::Kind kind) {
  print(phase, "stopped", why);
  if (auto failed = record(Event::Kind::Stopped, phase, why)) return *failed;
  return {kind, std::move(why)};
}

std::optional<Ending> Runbook::interruption(Phase phase) {
  if (world_.interrupted() == Interrupted::No) return std::nullopt;
  return stop(phase, fmt::format("before {}", to_text(phase)), Ending::Kind::Interrupted);
}

Ending Runbook::finish(Event::Kind kind, Ending::Kind ending, std::string why) {
  if (auto failed = record(kind, Phase::Check, why)) return *failed;
  return {ending, std::move(why)};
}

// Of a new run: the snapshot is on the disk before the first request that changes anything.
std::optional<Ending> Runbook::prepare(const std::optional<Inspection>& inspected) {
  const Target& target = journal_.progress().target;
  if (journal_.progress().snapshot_file.empty()) {
    Inspection found;
    if (inspected) {
      found = *inspected;
    } else {
      auto again = inspect(world_, target, options_.guards, {target.pool_id(), journal_.id(), options_.stand_in_count});
      if (!again) return stop(Phase::Guards, again.error().context);
      if (const Guard* objection = first_objection(again->guards)) return stop(Phase::Guards, objection->why);
      found = *std::move(again);
    }
    if (auto ended = keep(*found.pool, *found.bodies, Phase::Guards)) return ended;
    print(Phase::Guards, "snapshot",
          fmt::format("pool {} is written down in {}", target.pool, journal_.snapshot_path().string()));
    return std::nullopt;
  }
  auto kept = journal_.snapshot();
  if (!kept) return stop(Phase::Guards, kept.error().context);
  snapshot_ = *std::move(kept);
  return std::nullopt;
}

std::optional<Ending> Runbook::keep(const Pool& pool, const PoolBodies& bodies, Phase phase) {
  snapshot_ = {journal_.progress().target.pool_id(), pool.etag, bodies.again, bodies.stand_in};
  const auto kept = journal_.keep(snapshot_, phase, world_.wall());
  if (!kept) return stop(phase, kept.error().context);
  return std::nullopt;
}

Result<PoolBodies> Runbook::bodies_of(const Pool& pool, const Cluster& cluster) const {
  return pool_bodies(pool.body, cluster.version,
                     {journal_.progress().target.pool_id(), journal_.id(), options_.stand_in_count});
}

// What somebody has changed since the snapshot is carried over, if it can be. The next look tells whether that is all.
std::optional<Ending> Runbook::renew(const Known& known, const std::string& why) {
  const auto bodies = bodies_of(*known.pool, known.cluster);
  if (!bodies) return stop(Phase::Delete, fmt::format("{}; {}; the pool was not deleted", why, bodies.error().context));
  if (auto ended = keep(*known.pool, *bodies, Phase::Delete)) return ended;
  print(Phase::Delete, "snapshot", fmt::format("{}; it is written down anew in {}", why, journal_.snapshot_path().string()));
  world_.pause(options_.poll);
  return std::nullopt;
}

// The lease is taken before the look: then no other write changes what is seen.
Result<Known> Runbook::look(const Step& step) {
  const Target& target = journal_.progress().target;
  const auto held = world_.lease_held();
  if (!held) return held.error();
  const auto body = read_at(world_, fmt::format("{}?api-version={}", target.cluster, target.api_version));
  if (!body) return body.error();
  if (!*body) return upstream_error(ErrorKind::BadInput, Sent::Answered, fmt::format("the cluster {} is gone", target.cluster));
  auto cluster = read_cluster(**body);
  if (!cluster) return std::move(cluster).error();
  auto pool = read_pool_at(world_, target.pool_id(), target.api_version);
  if (!pool) return std::move(pool).error();
  auto stand_in = read_pool_at(world_, target.stand_in_id(), target.api_version);
  if (!stand_in) return std::move(stand_in).error();
  Known known{target, journal_.progress(), snapshot_, *std::move(cluster), *std::move(pool), *std::move(stand_in)};
  known.stand_in_may_come = note_whether_seen(known.stand_in);
  known.run = journal_.id();
  known.lease_held = *held;
  known.now = world_.wall();
  known.left = ends_ - world_.now();
  if (step.phase == Phase::Abort && has_running_operation(known.cluster)) {
    const auto started = operation_start(world_, target);
    if (!started) return started.error();
    known.operation_started = *started;
  }
  if (step.phase == Phase::StandIn || step.phase == Phase::Delete) known.nodes_not_ready = why_not_ready(known.stand_in);
  if (step.phase == Phase::Recreate) known.nodes_not_ready = why_not_ready(known.pool);
  const bool may_be_deleted = step.phase == Phase::Delete && known.pool && !journal_.progress().of(Phase::Delete).accepted();
  if (may_be_deleted) {
    auto objection = ask_guards(known.cluster, known.pool);
    if (!objection) return std::move(objection).error();
    known.objection = *std::move(objection);
  }
  return known;
}

// Whether so many nodes of the pool are ready as it must have. Nobody asks before ARM says that the pool is well.
std::optional<std::string> Runbook::why_not_ready(const std::optional<Pool>& pool) const {
  if (!world_.nodes || !pool || pool->state != "Succeeded") return std::nullopt;
  const auto count = world_.nodes(pool->name);
  if (!count) return fmt::format("the nodes of pool {} cannot be looked at: {}", pool->name, count.error().context);
  const auto wanted = static_cast<size_t>(wanted_nodes(pool->body));
  if (count->ready >= wanted) return std::nullopt;
  return text_of(*count, pool->name, wanted);
}

// Before the delete. That no new pod comes to the nodes is a must; a pod that does not go will go with its node.
std::optional<Ending> Runbook::drain() {
  const std::string& pool = journal_.progress().target.pool;
  print(Phase::Drain, "begin",
        fmt::format("cordon and drain the nodes of pool {0}; to go back: kubectl uncordon --selector agentpool={0}", pool));
  if (auto failed = record(Event::Kind::Intend, Phase::Drain, "kubectl cordon and drain")) return failed;
  const auto left = world_.drain(pool);
  // Ctrl-C ends kubectl as well, so what it says then says nothing: it is asked again.
  if (auto ended = interruption(Phase::Drain)) return ended;
  if (!left) return stop(Phase::Drain, fmt::format("the nodes of pool {} cannot be cordoned: {}", pool, left.error().context));
  if (!left->empty()) print(Phase::Drain, "warning", fmt::format("not every pod went: {}", *left));
  print(Phase::Drain, "done", fmt::format("the nodes of pool {} are cordoned", pool));
  return record(Event::Kind::Done, Phase::Drain);
}

// How the last write's operation goes, as far as ARM tells. What there is to see decides, this only saves looking too early,
// and says why something failed.
bool Runbook::operation_runs() {
  if (operation_.empty()) return false;
  const auto reply = world_.send({arm::Method::Get, operation_});
  if (!reply) return false;
  arm::ResponseHead head;
  head.status = reply->status;
  const auto progress = arm::progress_of_status_url(head, reply->body);
  if (progress == arm::Progress::Running) return true;
  if (!arm::is_terminal(progress)) return false;
  operation_.clear();
  const auto error = progress == arm::Progress::Succeeded ? std::nullopt : arm::parse_error(reply->body);
  if (error) why_failed_ = fmt::format(" ({}: {})", error->code, error->message);
  return false;
}

// Longer than the step has time for nobody waits: it ends at its deadline, with the reason.
void Runbook::wait_as_asked(Phase phase, const Reply& reply, Attempt& attempt) {
  const Duration left = attempt.deadline - world_.now();
  attempt.waited_for = words_of(reply);
  if (reply.retry_after > left) {
    attempt.waited_for += fmt::format("; it asks to wait {} min", minutes_text(reply.retry_after));
    print(phase, "wait",
          fmt::format("ARM asks to wait {} min, longer than the {} min that are left: it ends then, and nothing is sent before",
                      minutes_text(reply.retry_after), minutes_text(left)));
  }
  world_.pause(std::min(std::max(reply.retry_after, options_.poll), left));
}

std::optional<Ending> Runbook::send(const Step& step, const Move& move, Attempt& attempt) {
  const Phase phase = move.phase.value_or(step.phase);
  const std::string what = fmt::format("{} {}", arm::to_text(move.write.method), move.write.target);
  if (auto failed = record(Event::Kind::Intend, phase, what)) return failed;
  print(phase, "send", move.is_again ? move.why + why_failed_ : move.why);
  times_unseen_ = 0;
  const auto reply = world_.send(move.write);
  if (const auto why = why_unknown(reply)) {
    print(phase, "warning", *why + ": the next look tells what became of it");
    world_.pause(std::min(options_.poll, attempt.deadline - world_.now()));
    return std::nullopt;
  }
  if (auto failed = record(Event::Kind::Answer, phase, {}, reply->status)) return failed;
  print(phase, "answer", reply->status < 300 ? fmt::format("ARM answers {}", reply->status) : words_of(*reply));
  if (reply->status < 300) {
    operation_ = reply->operation;
    why_failed_.clear();
    if (move.is_again) attempt.deadline = world_.now() + step.deadline;
    return std::nullopt;
  }
  if (is_busy(*reply)) {
    wait_as_asked(phase, *reply, attempt);
    return std::nullopt;
  }
  const bool ended_by_itself = step.phase == Phase::Abort && reply->status == 409;
  const bool is_gone = reply->status == 404 && move.write.method == arm::Method::Delete;
  const bool is_there = reply->status == 412 && !move.write.if_none_match.empty();  // though looks do not show it yet
  const bool moved = reply->status == 412 && ++attempt.refused_conditions < kRefusedConditionsMax;
  if (is_there) attempt.waited_for = "it is there, and not seen yet";
  if (ended_by_itself || is_gone || is_there || moved) {
    world_.pause(options_.poll);
    return std::nullopt;
  }
  return stop(phase, fmt::format("{} was refused: {}", move.why, words_of(*reply)));
}

std::optional<Ending> Runbook::carry_out(const Step& step) {
  Attempt attempt{world_.now() + step.deadline};
  print(step.phase, "begin", fmt::format("{} (at most {} min)", step.title, minutes_text(step.deadline)));
  while (true) {
    if (world_.interrupted() == Interrupted::Now)
      return stop(step.phase, fmt::format("in the middle of {}", to_text(step.phase)), Ending::Kind::Interrupted);
    if (over(attempt.deadline)) {
      return stop(step.phase,
                  fmt::format("{} took more than {} min{}{}", attempt.waits_for_nodes ? "waiting for nodes" : "the step",
                              minutes_text(attempt.waits_for_nodes ? options_.nodes : step.deadline),
                              attempt.waited_for.empty() ? "" : ": ", attempt.waited_for));
    }
    if (operation_runs()) {
      constexpr std::string_view kGoesOn = "ARM's operation goes on";
      if (attempt.waited_for != kGoesOn) print(step.phase, "wait", std::string(kGoesOn));
      attempt.waited_for = kGoesOn;
      world_.pause(options_.poll);
      continue;
    }
    const auto known = look(step);
    if (!known) {
      if (known.error().kind == ErrorKind::BadInput) return stop(step.phase, known.error().context);
      attempt.waited_for = known.error().context;
      print(step.phase, "warning", "the cluster cannot be looked at: " + attempt.waited_for);
      world_.pause(options_.poll);
      continue;
    }
    // ARM has done its part in time: the nodes have a time of their own.
    if (known->nodes_not_ready && !std::exchange(attempt.waits_for_nodes, true))
      attempt.deadline = world_.now() + options_.nodes;
    const Move move = step.decide(*known);
    switch (move.kind) {
      case Move::Kind::Done: print(step.phase, "done", move.why); return record(Event::Kind::Done, step.phase);
      case Move::Kind::Stop: return stop(step.phase, move.why + why_failed_);
      case Move::Kind::Wait:
        if (attempt.waited_for != move.why) print(step.phase, "wait", move.why);
        attempt.waited_for = move.why;
        world_.pause(options_.poll);
        break;
      case Move::Kind::Renew:
        if (auto ended = renew(*known, move.why)) return ended;
        break;
      case Move::Kind::Send:
        if (auto ended = send(step, move, attempt)) return ended;
        break;
    }
  }
}

Ending Runbook::carry_on(const std::optional<Inspection>& inspected) {
  if (auto ended = prepare(inspected)) return *ended;
  // A process that takes a run up, perhaps days later, asks for itself: by then another operation may run, and pods may be on
  // the nodes again.
  const bool is_taken_up = !inspected;
  bool asked_again = false;
  for (const Step& step : all_steps()) {
    const bool may_be_asked_again = step.phase == Phase::Abort && is_taken_up && has_touched_nothing();
    if (journal_.progress().is_done(step.phase) && (!may_be_asked_again || stand_in_is_there())) continue;
    if (auto ended = interruption(step.phase)) return *ended;
    if (has_touched_nothing() && over(ends_)) return stop(step.phase, "the time for the whole run is over");
    const bool drains_now =
        step.phase == Phase::Delete && world_.drain && (is_taken_up || !journal_.progress().is_done(Phase::Drain));
    const bool is_turn = step.phase == Phase::Delete ? !asked_again || drains_now
                                                     : step.phase == Phase::StandIn && !asked_again && !stand_in_is_there();
    if (has_touched_nothing() && is_turn) {
      asked_again = true;
      if (auto ended = recheck()) return *ended;
      if (auto ended = interruption(step.phase)) return *ended;
    }
    if (has_touched_nothing() && drains_now) {
      if (auto ended = drain()) return *ended;
    }
    if (auto ended = carry_out(step)) return *ended;
  }
  return finish(Event::Kind::Finished, Ending::Kind::Finished,
                fmt::format("pool {} was made anew; nothing is left over", journal_.progress().target.pool));
}

Ending Runbook::undo() {
  if (journal_.progress().snapshot_file.empty()) {
    return finish(Event::Kind::Undone, Ending::Kind::Undone, "nothing had been done");
  }
  if (auto ended = prepare(std::nullopt)) return *ended;
  if (auto ended = carry_out(undo_step())) return *ended;
  return finish(Event::Kind::Undone, Ending::Kind::Undone,
                fmt::format("pool {} is gone, pool {} was not touched{}", journal_.progress().target.stand_in(),
                            journal_.progress().target.pool, cordoned_text(journal_.progress())));
}

}  // namespace armgate::heal
