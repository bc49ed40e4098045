// A temporary system pool takes the place of the one that is to go: a cluster cannot be without.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/heal/steps/step.h"

namespace armgate::heal {

std::optional<std::string> why_not_ours(const Pool& pool, const Target& target) {
  if (pool.purpose != kStandInPurpose) {
    return fmt::format("pool {} is there and has no tag {}={}: it is not this runbook's", pool.name, kPurposeTag,
                       kStandInPurpose);
  }
  if (!equal_ignoring_case(pool.source, target.pool_id())) {
    return fmt::format("pool {} stands in for {}, not for {}", pool.name, pool.source, target.pool_id());
  }
  return std::nullopt;
}

bool came_to_nothing(const Pool& pool) { return pool.state == "Failed" || pool.state == "Canceled"; }

std::string no_etag_text(const Pool& pool) {
  return fmt::format("pool {} shows no ETag (properties.eTag), so that a write could not say what it expects to find",
                     pool.name);
}

std::string cordoned_text(const Progress& progress) {
  if (!progress.may_be_cordoned()) return {};
  return fmt::format("; its nodes {} cordoned: kubectl uncordon --selector agentpool={}",
                     progress.is_done(Phase::Drain) ? "are" : "may be", progress.target.pool);
}

std::string not_needed_text(const std::string& why, const Progress& progress) {
  return fmt::format("{}; pool {} is there and not needed any more: --undo --confirm takes it away{}", why,
                     progress.target.stand_in(), cordoned_text(progress));
}

namespace {

// Deleted, to be made again: nothing else brings it to its end, and nothing runs on it yet.
Move discard(const Pool& pool, const Known& known) {
  const std::string what = fmt::format("pool {} is {}", pool.name, pool.state);
  const std::string untouched = fmt::format("the pool {} was not touched", known.target.pool);
  if (pool.run != known.run) {
    return stop(
        fmt::format("{}, and not of this run ({}={}): look whether anybody needs it, delete it, then the same command "
                    "again; {}",
                    what, kRunTag, pool.run, untouched));
  }
  const Progress& progress = known.progress;
  if (std::max(progress.of(Phase::StandIn).times_taken, progress.of(Phase::Discard).times_taken) >= kTriesMax) {
    return stop(
        fmt::format("{} after {} tries; get what it lacks, then the same command deletes it and makes it again, or "
                    "--undo --confirm takes it away; {}",
                    what, kTriesMax, untouched));
  }
  if (known.left < kReservedForRecreate) {
    return stop(
        fmt::format("{}, and the time for the whole run is nearly over: the same command deletes it and makes it again; {}",
                    what, untouched));
  }
  if (pool.etag.empty()) return stop(fmt::format("{}; {}; {}", what, no_etag_text(pool), untouched));
  Move move = send(fmt::format("{}: delete it, to make it again", what),
                   {arm::Method::Delete, fmt::format("{}?api-version={}", known.target.stand_in_id(), known.target.api_version),
                    "", pool.etag});
  move.phase = Phase::Discard;
  move.is_again = true;
  return move;
}

}  // namespace

Move add_stand_in(const Known& known) {
  if (!known.lease_held) return wait(std::string(kEarlierWrite));
  const std::string name = known.target.stand_in();
  if (known.stand_in) {
    if (const auto why = why_not_ours(*known.stand_in, known.target)) return stop(*why);
    const std::string& state = known.stand_in->state;
    if (state == "Succeeded") {
      if (known.nodes_not_ready) return wait(*known.nodes_not_ready);
      return done(fmt::format("pool {} is Succeeded", name));
    }
    const bool is_on_its_way = state == "Creating" || state == "Updating" || state == "Deleting";
    if (is_on_its_way) return wait(fmt::format("pool {} is {}", name, state));
    if (came_to_nothing(*known.stand_in)) return discard(*known.stand_in, known);
    return stop(fmt::format("pool {} is {}; the pool {} was not touched", name, state, known.target.pool));
  }
  if (known.progress.of(Phase::StandIn).accepted()) return wait(fmt::format("pool {} was accepted and is not there yet", name));
  return send(fmt::format("create the pool {} with the mode System", name),
              {arm::Method::Put, fmt::format("{}?api-version={}", known.target.stand_in_id(), known.target.api_version),
               known.snapshot.stand_in, "", "*"});
}

}  // namespace armgate::heal
