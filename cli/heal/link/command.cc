#include "cli/heal/link/command.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <ostream>
#include <random>
#include <utility>

#include "base/text.h"
#include "base/utc.h"
#include "cli/heal/cluster_lock.h"
#include "cli/heal/facts/activity_log.h"
#include "cli/heal/link/arm_link.h"
#include "cli/heal/link/interruptions.h"
#include "cli/heal/link/kubectl.h"
#include "cli/heal/link/lease_keeper.h"
#include "cli/heal/link/run_heal.h"
#include "cli/heal/link/what_is_needed.h"
#include "cli/heal/runs.h"
#include "cli/link/arm_host.h"
#include "cli/link/send_through.h"
#include "json/tree.h"
#include "proxy/config/config.h"
#include "proxy/config/tool_environment.h"
#include "proxy/gateway/listeners.h"
#include "proxy/seams/real_clock.h"

namespace armgate::heal {
namespace {

constexpr int kExitDone = 0;
constexpr int kExitNotDone = 1;
constexpr Duration kTokenMax = std::chrono::seconds(60);   // for az
constexpr Duration kServiceMax = std::chrono::minutes(6);  // armgate itself waits 5 for ARM

std::string client_of(const std::string& run) { return "heal-" + run; }

// The way through the running service for a run's requests. `client`: the name under which they go; `root`: armgate's
// certificate.
Through service_listener(const Config& config, const std::filesystem::path& root, const std::string& client) {
  const auto [host, port] = split_address(reachable(config.listen.proxy));
  return {host, port, client + ":x", root, "armgate-heal", kServiceMax, "listen.proxy"};
}

int exit_code_of(Ending::Kind kind) {
  const bool is_well = kind == Ending::Kind::NothingToDo || kind == Ending::Kind::Finished || kind == Ending::Kind::Recovered ||
                       kind == Ending::Kind::Undone;
  return is_well ? kExitDone : kExitNotDone;
}

std::string_view word_of(Ending::Kind kind) {
  switch (kind) {
    case Ending::Kind::NothingToDo: return "nothing to do";
    case Ending::Kind::Refused: return "refused, nothing was changed";
    case Ending::Kind::Finished: return "done";
    case Ending::Kind::Recovered: return "the cluster helped itself";
    case Ending::Kind::Undone: return "undone";
    case Ending::Kind::Stopped: return "stopped";
    case Ending::Kind::Interrupted: return "interrupted";
  }
  return "";
}

// Nothing was begun.
int refuse(const HealRequest& request, const std::string& run, std::ostream& out, std::ostream& err, const Error& error) {
  if (request.form == PlanAs::Json)
    out << refusal_json(request.target, request.confirm, RealClock().wall(), run, error.context) << std::flush;
  fmt::print(err, "armgate: {}\n", printable(error.context));
  return kExitNotDone;
}

// One run of the command.
class Session {
 public:
  Session(const Config& config, const HealRequest& request, std::string run, std::ostream& out, std::ostream& err)
      : request_(request),
        run_(std::move(run)),
        out_(out),
        err_(err),
        link_(service_listener(config, request.root, client_of(run_)), arm_host(config),
              Token(request.environment, arm_host(config),
                    [this](const Words& words) { return run_command(words, request_.environment, kTokenMax); }),
              run_) {}

  World world(LeaseKeeper* lease, const NodeAccess& access) {
    World outside{.send = [this](const Write& write) { return link_.send(write); },
                  .now = [this] { return clock_.now(); },
                  .wall = [this] { return clock_.wall(); },
                  .pause = rest,
                  .interrupted = Interruptions::now,
                  .lease_held = [this, lease] { return lease_held(lease); },
                  .print = [this](const Told& told) { print(told); }};
    if (lease != nullptr) outside.behind_age = [lease] { return lease->behind_age(); };
    if (!access.kubeconfig.empty())
      outside.nodes = [this, access](const std::string& pool) { return count_nodes(access, request_.environment, pool); };
    if (access.drains)
      outside.drain = [this, access](const std::string& pool) { return drain_pool(access, request_.environment, pool); };
    return outside;
  }

  // `journal`: of a run that was begun.
  int print_end(const Ending& ending, const Journal* journal = nullptr) {
    const int code = exit_code_of(ending.kind);
    if (request_.form == PlanAs::Json) {
      print({Phase::Check, "end", fmt::format("{}: {}", word_of(ending.kind), ending.why)});
    } else {
      (code == kExitDone ? out_ : err_) << fmt::format("armgate: {}: {}\n", word_of(ending.kind), printable(ending.why));
    }
    const bool goes_on = ending.kind == Ending::Kind::Stopped || ending.kind == Ending::Kind::Interrupted;
    if (goes_on && journal != nullptr)
      err_ << way_on_text(journal->progress(), (request_.runs / run_).string(), request_.command);
    return code;
  }

  int fail(const Error& error) { return refuse(request_, run_, out_, err_, error); }

  // A dry run's plan is alone on standard output.
  void print(const Told& told) {
    phase_ = told.phase;
    const PlanAs form = request_.confirm ? request_.form : PlanAs::Text;
    (request_.confirm ? out_ : err_) << progress_line(told, clock_.wall(), run_, form) << std::flush;
  }

  WallTime wall() const { return clock_.wall(); }

 private:
  Result<bool> lease_held(LeaseKeeper* lease) {
    if (lease == nullptr) return true;
    auto held = lease->held();
    if (lease->was_taken_anew()) {
      print(
          {phase_, "lease",
           "the lease was lost (it was not renewed in time, or somebody released it: armgate unlock) and is taken anew; others "
           "may have written meanwhile"});
    }
    return held;
  }

  const HealRequest& request_;
  const std::string run_;
  std::ostream& out_;
  std::ostream& err_;
  RealClock clock_;
  ArmLink link_;
  Phase phase_ = Phase::Guards;  // that was told of last
};

StandIn stand_in_of(const HealRequest& request, const std::string& run) {
  return {request.target.pool_id(), run, request.options.stand_in_count};
}

Event access_event(const NodeAccess& access, WallTime at) {
  Event event{Event::Kind::Access, at};
  event.access = access;
  return event;
}

Ending ending_of(const Guard& objection) {
  return {objection.says == Guard::Says::Refuse ? Ending::Kind::Refused : Ending::Kind::NothingToDo, objection.why};
}

int dry_run(Session& session, const Config& config, const HealRequest& request, const std::string& run, std::ostream& out) {
  const World world = session.world(nullptr, {});
  auto inspection = inspect(world, request.target, request.options.guards, stand_in_of(request, run));
  if (!inspection) return session.fail(inspection.error());
  for (Guard& guard : what_is_needed(config, request)) inspection->guards.push_back(std::move(guard));
  const Guard* const objection = first_objection(inspection->guards);
  if (objection != nullptr) inspection->bodies.reset();
  out << plan_text(request.target, *inspection, request.options, request.form);
  return objection != nullptr && objection->says == Guard::Says::Refuse ? kExitNotDone : kExitDone;
}

// How a run that is taken up gets at Kubernetes: as it was begun, unless something else is asked for.
NodeAccess access_of(const HealRequest& request, const Progress& progress) {
  NodeAccess access = progress.access;
  if (request.without_kubeconfig) return {};
  const NodeAccess& asked = request.options.access;
  if (!asked.kubeconfig.empty()) access.kubeconfig = asked.kubeconfig;
  if (asked.drains) {
    access.drains = true;
    access.drain = asked.drain;
  }
  return access;
}

int resume(Session& session, HealRequest request, LeaseKeeper& lease, const RunFound& found) {
  const NodeAccess access = access_of(request, found.progress);
  if (!access.kubeconfig.empty() && !request.undo) {
    if (const auto usable = check_kubectl(access, request.environment); !usable) {
      return session.fail(client_error(
          ErrorKind::BadInput, fmt::format("{}; run {} looks at nodes with it: name another file, or go on without looking at "
                                           "them: --without-kubeconfig",
                                           usable.error().context, found.id)));
    }
  }
  auto journal = Journal::resume(request.runs, found.id);
  if (!journal) return session.fail(journal.error());
  session.print({Phase::Guards, "resume",
                 fmt::format("run {} is taken up, with the api-version {}{}", found.id, journal->progress().target.api_version,
                             access.kubeconfig.empty() ? "" : ", and nodes are looked at with " + access.kubeconfig)});
  if (access != found.progress.access) {
    if (const auto noted = journal->append(access_event(access, session.wall())); !noted) return session.fail(noted.error());
  }
  request.options.access = access;
  const World world = session.world(&lease, access);
  Runbook runbook(world, *journal, request.options);
  return session.print_end(request.undo ? runbook.undo() : runbook.carry_on(std::nullopt), &*journal);
}

int begin(Session& session, const HealRequest& request, LeaseKeeper& lease, const std::string& run) {
  const NodeAccess& access = request.options.access;
  if (!access.kubeconfig.empty()) {
    if (const auto usable = check_kubectl(access, request.environment); !usable) return session.fail(usable.error());
  }
  const World world = session.world(&lease, access);
  const auto inspection = inspect(world, request.target, request.options.guards, stand_in_of(request, run));
  if (!inspection) return session.fail(inspection.error());
  for (const Guard& guard : inspection->guards)
    session.print({Phase::Guards, "guard", fmt::format("{}: {}", guard.name, guard.why)});
  if (const Guard* objection = first_objection(inspection->guards)) return session.print_end(ending_of(*objection));
  for (const std::string& loss : losses(request.target, *inspection->bodies, request.options))
    session.print({Phase::Guards, "loss", loss});
  auto journal = Journal::begin(request.runs, run, request.target, session.wall());
  if (!journal) return session.fail(journal.error());
  if (!access.kubeconfig.empty()) {
    if (const auto noted = journal->append(access_event(access, session.wall())); !noted) return session.fail(noted.error());
  }
  return session.print_end(Runbook(world, *journal, request.options).carry_on(*inspection), &*journal);
}

// Its requests were worked out by another one.
std::optional<Error> fault_of_api_version(const HealRequest& request, const RunFound& found) {
  const std::string& own = found.progress.target.api_version;
  if (!request.names_api_version || request.target.api_version == own) return std::nullopt;
  return client_error(
      ErrorKind::BadInput,
      fmt::format("run {0} was begun with --api-version {1}, not with {2}: go on without --api-version, or with {1}", found.id,
                  own, request.target.api_version));
}

// A process that was killed before its run began has left nothing but the service's lease, and perhaps a journal without its
// first line.
Result<std::string> name_of_next_run(const ClusterLock& lock, const HealRequest& request) {
  const std::string last = lock.last_run();
  const auto runs = find_runs(request.runs);
  const bool has_begun = std::any_of(runs.begin(), runs.end(), [&](const RunFound& run) { return run.id == last; });
  if (last.empty() || has_begun) return new_run_id(RealClock().wall());
  if (auto cleared = clear_unbegun(request.runs, last); !cleared) return std::move(cleared).error();
  return last;
}

// Where the process before was killed between its run's end and that of its lease, nobody else needs that one any more: this
// machine's lock says that the process is gone.
void release_of_before(const Config& config, const HealRequest& request, const std::string& last) {
  LeaseKeeper(config, request.target, client_of(last), request.who).held().ok();
}

}  // namespace

std::string new_run_id(WallTime now) {
  std::random_device random;
  return fmt::format("{:%Y%m%dT%H%M%SZ}-{:04x}", std::chrono::floor<std::chrono::seconds>(now), random() & 0xffffu);
}

std::string progress_line(const Told& told, WallTime at, const std::string& run, PlanAs form) {
  if (form == PlanAs::Text) {
    return fmt::format("{:%H:%M:%S}  {:11}  {:8}  {}\n", std::chrono::floor<std::chrono::seconds>(at), to_text(told.phase),
                       told.event, printable(told.text));
  }
  const nlohmann::ordered_json line{{"at", utc_text(at)},           {"component", "armgate-heal"}, {"run_id", run},
                                    {"phase", to_text(told.phase)}, {"event", told.event},         {"text", told.text}};
  return dump_json(line, kOneLine, JsonLetters::AsTheyAre) + "\n";
}

std::string refusal_json(const Target& target, bool confirm, WallTime at, const std::string& run, std::string_view why) {
  if (!confirm) return refused_plan(target.cluster, target.pool, why);
  return progress_line({Phase::Guards, "end", fmt::format("{}: {}", word_of(Ending::Kind::Refused), why)}, at, run,
                       PlanAs::Json);
}

namespace {

int look_only(const Config& config, const HealRequest& request, std::ostream& out, std::ostream& err) {
  const auto found = open_run(request.runs, request.target, ClusterLock::last_run(request.runs, request.target));
  if (!found) return refuse(request, "", out, err, found.error());
  if (*found) {
    if (const auto fault = fault_of_api_version(request, **found)) return refuse(request, (*found)->id, out, err, *fault);
    out << resume_text(**found, request.form);
    return kExitNotDone;
  }
  const std::string run = new_run_id(RealClock().wall());
  Session session(config, request, run, out, err);
  return dry_run(session, config, request, run, out);
}

}  // namespace

int run_heal(const Config& config, const HealRequest& request, std::ostream& out, std::ostream& err) {
  if (!request.confirm) return look_only(config, request, out, err);
  auto lock = ClusterLock::take(request.runs, request.target);
  if (!lock) return refuse(request, "", out, err, lock.error());
  const std::string last = lock->last_run();
  const auto open = open_run(request.runs, request.target, last);
  if (!open) return refuse(request, "", out, err, open.error());
  const std::optional<RunFound>& found = *open;
  if (request.undo && !found) {
    return refuse(request, "", out, err, client_error(ErrorKind::BadInput, "there is no run of this cluster and pool to undo"));
  }
  if (found) {
    if (const auto fault = fault_of_api_version(request, *found)) return refuse(request, found->id, out, err, *fault);
  }
  const auto named = found ? Result<std::string>(found->id) : name_of_next_run(*lock, request);
  if (!named) return refuse(request, "", out, err, named.error());
  const std::string& run = *named;
  if (const auto noted = lock->note_run(run); !noted) return refuse(request, run, out, err, noted.error());
  Session session(config, request, run, out, err);
  const Interruptions interruptions_noted;
  LeaseKeeper lease(config, request.target, client_of(run), request.who);
  auto held = lease.held();
  if (!held && held.error().kind == ErrorKind::BadInput && !last.empty() && last != run) {
    release_of_before(config, request, last);
    held = lease.held();
  }
  if (!held) return session.fail(held.error());
  if (!*held)
    session.print(
        {Phase::Guards, "lease",
         fmt::format("others wait from now on; what began earlier ({}) comes to its end, or is aborted in the first step",
                     lease.behind())});
  return found ? resume(session, request, lease, *found) : begin(session, request, lease, run);
}

}  // namespace armgate::heal
