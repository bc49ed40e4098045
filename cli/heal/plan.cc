#include "cli/heal/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>

#include "base/text.h"
#include "base/utc.h"
#include "cli/heal/steps/step.h"
#include "json/tree.h"

namespace armgate::heal {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& json) { return dump_json(json, 2, JsonLetters::AsTheyAre) + "\n"; }

std::string_view word_of(Guard::Says says) {
  switch (says) {
    case Guard::Says::Pass: return "holds";
    case Guard::Says::NothingToDo: return "NOTHING TO DO";
    case Guard::Says::Refuse: return "REFUSED";
  }
  return "";
}

// What a step sends, if what is there stays as it is. Ids may be long: people get them from the cluster on.
std::string request_of(Target target, Phase phase, PlanAs form) {
  if (form == PlanAs::Text) target.cluster = "CLUSTER";
  switch (phase) {
    case Phase::Abort: return "POST " + target.cluster + "/abort";
    case Phase::StandIn: return "PUT " + target.stand_in_id() + "  (If-None-Match: *)";
    case Phase::Delete: return "DELETE " + target.pool_id() + "  (If-Match: its ETag)";
    case Phase::Recreate: return "PUT " + target.pool_id() + "  (If-None-Match: *)";
    case Phase::Remove: return "DELETE " + target.stand_in_id() + "  (If-Match: its ETag)";
    case Phase::Mark: return "PATCH " + target.cluster + "/providers/Microsoft.Resources/tags/default";
    default: return "";
  }
}

std::string state_of(const RunFound& run) {
  if (!run.damage.empty()) return run.damage;
  if (run.is_running) return "running now";
  if (!run.progress.end) return "ended in the middle";
  const Event& end = *run.progress.end;
  switch (end.kind) {
    case Event::Kind::Stopped: return fmt::format("stopped in {}: {}", to_text(end.phase), end.text);
    case Event::Kind::Finished: return "finished";
    case Event::Kind::Recovered: return "recovered: " + end.text;
    case Event::Kind::Undone: return "undone: " + end.text;
    default: return "";
  }
}

enum class Are { Done, ToDo };

std::string steps_that(Are wanted, const Progress& progress) {
  std::vector<std::string_view> names;
  for (const Step& step : all_steps()) {
    if (progress.is_done(step.phase) == (wanted == Are::Done)) names.push_back(to_text(step.phase));
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

constexpr std::string_view kTooLate = "the delete was sent";

Json run_json(const RunFound& run) {
  return {{"run_id", run.id},
          {"begun", utc_text(run.progress.begun)},
          {"cluster", run.progress.target.cluster},
          {"pool", run.progress.target.pool},
          {"open", run.progress.is_open()},
          {"running", run.is_running},
          {"steps_done", steps_that(Are::Done, run.progress)},
          {"state", printable(state_of(run))}};
}

}  // namespace

std::vector<std::string> losses(const Target& target, const PoolBodies& bodies, const RunOptions& options) {
  return {
      fmt::format(
          "every node of pool {} goes, and what is on its disks (emptyDir, hostPath, images); the new ones have other names and "
          "addresses",
          target.pool),
      options.access.drains
          ? fmt::format(
                "the nodes are cordoned and drained with kubectl before the delete; pods that do not go in {} min go with "
                "their node",
                minutes_text(options.access.drain))
          : "AKS cordons and drains the nodes as it deletes the pool",
      !options.access.kubeconfig.empty()
          ? fmt::format("the nodes of both pools are waited for until Kubernetes says that they are ready, {} min at most each",
                        minutes_text(options.nodes))
          : "the readiness of nodes is not looked at (--kubeconfig): only what ARM says of the pools is waited for",
      fmt::format("{} more node(s) of {} are needed meanwhile: without quota for them the run stops before anything is deleted",
                  bodies.stand_in_count, bodies.vm_size),
      fmt::format("the new pool runs Kubernetes {}, as the control plane does{}", bodies.version,
                  bodies.version_now.empty() || bodies.version_now == bodies.version
                      ? ""
                      : fmt::format("; the wedged one runs {}", bodies.version_now)),
      fmt::format("left out of the new pool, as only the service writes it: {}", fmt::join(bodies.left_out, ", ")),
  };
}

std::string plan_text(const Target& target, const Inspection& inspection, const RunOptions& options, PlanAs form) {
  const bool goes = inspection.bodies.has_value();
  if (form == PlanAs::Json) {
    Json plan{{"cluster", target.cluster}, {"pool", target.pool}, {"would_act", goes}, {"guards", Json::array()}};
    for (const Guard& guard : inspection.guards) {
      plan["guards"].push_back({{"name", guard.name}, {"says", word_of(guard.says)}, {"why", guard.why}});
    }
    if (goes) {
      plan["steps"] = Json::array();
      for (const Step& step : all_steps()) {
        plan["steps"].push_back({{"phase", to_text(step.phase)},
                                 {"title", step.title},
                                 {"request", request_of(target, step.phase, form)},
                                 {"deadline_min", std::chrono::duration_cast<std::chrono::minutes>(step.deadline).count()}});
      }
      plan["losses"] = losses(target, *inspection.bodies, options);
      plan["again"] = Json::parse(inspection.bodies->again);
      plan["stand_in"] = Json::parse(inspection.bodies->stand_in);
    }
    return dumped(plan);
  }
  std::string text =
      fmt::format("cluster {}\npool    {}\n\nIs it wedged, and may it be touched?\n", target.cluster, target.pool);
  for (const Guard& guard : inspection.guards) {
    text += fmt::format("  {:13}  {:15}  {}\n", word_of(guard.says), guard.name, printable(guard.why));
  }
  if (!goes) return text + "\nNothing would be done.\n";
  text += "\nWhat would be done, each step until it is seen to be done, by looking at the cluster:\n";
  size_t number = 0;
  for (const Step& step : all_steps()) {
    const bool has_nothing_to_do = step.phase == Phase::Abort && !has_running_operation(inspection.seen.cluster);
    const std::string request = has_nothing_to_do ? "nothing: no operation runs now" : request_of(target, step.phase, form);
    text += fmt::format("  {}. {} (at most {} min)\n", ++number, step.title, minutes_text(step.deadline));
    if (!request.empty()) text += fmt::format("     {}\n", request);
  }
  text += "\nWhat will be lost, and needed:\n";
  for (const std::string& loss : losses(target, *inspection.bodies, options)) text += fmt::format("  - {}\n", printable(loss));
  text += fmt::format(
      "\nUntil step 3 is sent it can be undone (--undo --confirm). From then on there is no way back, only forward: the run can be taken up\n"
      "again at any point. The delete is sent only while {} min are left of the {} min for the whole run. Nobody else writes to the cluster\n"
      "through armgate meanwhile.\n\nThis was a dry run: nothing was changed. To do it: the same command with --confirm.\n",
      minutes_text(kReservedForRecreate), minutes_text(options.overall));
  return text;
}

std::string refused_plan(std::string_view cluster, std::string_view pool, std::string_view why) {
  return dumped({{"cluster", cluster}, {"pool", pool}, {"would_act", false}, {"error", why}});
}

std::string resume_text(const RunFound& run, PlanAs form) {
  if (form == PlanAs::Json) {
    Json json = run_json(run);
    json["would_act"] = !run.is_running;  // --confirm goes on with it
    return dumped(json);
  }
  const std::string so_far =
      fmt::format("run {} of this cluster, begun {}, {}\nsteps done: {}\n\nThis was a dry run: nothing was changed.", run.id,
                  utc_text(run.progress.begun), printable(state_of(run)), steps_that(Are::Done, run.progress));
  if (run.is_running) return so_far + " A process of this machine works on it: wait for its end.\n";
  return fmt::format("{} To go on: --confirm. To go back: --undo --confirm{}.\n", so_far,
                     run.progress.may_be_deleted() ? fmt::format(", which is too late here: {}", kTooLate) : "");
}

std::string way_on_text(const Progress& progress, const std::string& directory, const std::string& command) {
  const bool may_go_back = !progress.may_be_deleted();
  return fmt::format("steps done: {}; not done: {}; all of it is in {}\nto go on: the same command again; {}\n",
                     steps_that(Are::Done, progress), steps_that(Are::ToDo, progress), directory,
                     may_go_back ? fmt::format("to go back, while nothing was deleted: {} --undo --confirm", command)
                                 : fmt::format("there is no way back: {}", kTooLate));
}

std::string runs_text(const std::vector<RunFound>& runs, PlanAs form) {
  if (form == PlanAs::Json) {
    Json list = Json::array();
    for (const RunFound& run : runs) list.push_back(run_json(run));
    return dumped(list);
  }
  if (runs.empty()) return "no runs\n";
  std::string text;
  for (const RunFound& run : runs) {
    text += fmt::format("{}  pool {} of {}\n    steps done: {}; {}\n", run.id, run.progress.target.pool,
                        run.progress.target.cluster, steps_that(Are::Done, run.progress), printable(state_of(run)));
  }
  return text;
}

}  // namespace armgate::heal
