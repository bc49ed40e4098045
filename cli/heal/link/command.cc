#include "cli/heal/link/command.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ostream>
#include <random>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "base/utc.h"
#include "cli/heal/facts/activity_log.h"
#include "cli/heal/link/arm_link.h"
#include "cli/heal/link/lease_keeper.h"
#include "cli/heal/link/run_heal.h"
#include "cli/heal/link/service_listener.h"
#include "cli/link/arm_host.h"
#include "cli/process/child_command.h"
#include "json/tree.h"
#include "proxy/seams/real_clock.h"

namespace armgate::heal {
namespace {

constexpr int kExitDone = 0;
constexpr int kExitNotDone = 1;

std::atomic<int> interruptions{0};

// Said at once, whatever is waited for: this may run in a signal's handler.
void note_interruptions(int count) {
  constexpr std::string_view kAtTheEdge =
      "armgate: it ends at the end of the step that is under way; a second Ctrl-C ends it at once, when a request that is under way "
      "has its answer\n";
  constexpr std::string_view kNow = "armgate: it ends now, when a request that is under way has its answer\n";
  if (count == 0) return;
  const std::string_view text = interruptions.fetch_add(count) + count == 1 ? kAtTheEdge : kNow;
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // nobody reads it: it ends all the same
}

void note_interruption(int) {
  const int error = errno;
  note_interruptions(1);
  errno = error;
}

// Ctrl-C asks for an end at the step's edge, a second one for an end at once.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction wanted {};
    wanted.sa_handler = note_interruption;
    ::sigaction(SIGINT, &wanted, &before_int_);
    ::sigaction(SIGTERM, &wanted, &before_term_);
  }
  ~Interruptions() {
    ::sigaction(SIGINT, &before_int_, nullptr);
    ::sigaction(SIGTERM, &before_term_, nullptr);
  }
  static Interrupted now() {
    const int count = interruptions.load();
    return count == 0 ? Interrupted::No : count == 1 ? Interrupted::AtTheStepsEnd : Interrupted::Now;
  }

 private:
  struct sigaction before_int_ {};
  struct sigaction before_term_ {};
};

// Ends early when a signal comes.
void rest(Duration duration) {
  const int64_t milliseconds = std::max<int64_t>(0, whole_milliseconds(duration));
  ::poll(nullptr, 0, static_cast<int>(std::min<int64_t>(milliseconds, 3'600'000)));
}

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return printable(std::string_view(text).substr(text.rfind('\n') + 1));
}

Finished run_to_its_end(const Words& words, const Environment& environment) {
  CommandRunner runner;
  Finished finished = runner.run_quietly(words, environment);
  note_interruptions(finished.interruptions);
  return finished;
}

Error failed(const Words& words, const Finished& finished) {
  return gateway_error(ErrorKind::BadInput,
                       fmt::format("{} ended with {}: {}", words.front(), finished.exit_code, last_line(finished.printed)));
}

Result<std::string> run_command(const Words& words, const Environment& environment) {
  Finished finished = run_to_its_end(words, environment);
  if (finished.exit_code != 0) return failed(words, finished);
  return std::move(finished.printed);
}

Result<NodeCount> count_nodes(const HealRequest& request, const std::string& pool) {
  const auto printed = run_command(nodes_command(request.kubeconfig, pool), request.environment);
  return printed ? read_nodes(*printed) : Result<NodeCount>(printed.error());
}

Result<std::string> drain_pool(const HealRequest& request, const std::string& pool) {
  const auto cordoned = run_command(cordon_command(request.kubeconfig, pool), request.environment);
  if (!cordoned) return cordoned.error();
  const Words drain = drain_command(request.kubeconfig, pool, request.options.drain);
  const Finished drained = run_to_its_end(drain, request.environment);
  if (drained.exit_code == 0) return std::string();
  const Words pods = pods_given_up(drained.printed);
  return pods.empty() ? failed(drain, drained).context : first_of(pods);
}

std::string client_of(const std::string& run) { return "heal-" + run; }

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
      : config_(config),
        request_(request),
        run_(std::move(run)),
        out_(out),
        err_(err),
        link_(service_listener(config, request.root, client_of(run_)), arm_host(config),
              Token(request.environment, arm_host(config),
                    [this](const std::vector<std::string>& words) { return run_command(words, request_.environment); }),
              run_) {}

  World world(LeaseKeeper* lease) {
    World outside{
        .send = [this](const Write& write) { return link_.send(write); },
        .now = [this] { return clock_.now(); },
        .wall = [this] { return clock_.wall(); },
        .pause = rest,
        .interrupted = Interruptions::now,
        .lease_held = [lease]() -> Result<bool> { return lease != nullptr ? lease->held() : Result<bool>(true); },
        .tell = [this](const Told& told) { out_ << progress_line(told, clock_.wall(), run_, request_.form) << std::flush; }};
    if (request_.options.looks_at_nodes)
      outside.nodes = [this](const std::string& pool) { return count_nodes(request_, pool); };
    if (request_.options.drains) outside.drain = [this](const std::string& pool) { return drain_pool(request_, pool); };
    return outside;
  }

  // `journal`: of a run that was begun.
  int tell_end(const Ending& ending, const Journal* journal = nullptr) {
    const int code = exit_code_of(ending.kind);
    if (request_.form == PlanAs::Json) {
      tell({Phase::Check, "end", fmt::format("{}: {}", word_of(ending.kind), ending.why)});
    } else {
      (code == kExitDone ? out_ : err_) << fmt::format("armgate: {}: {}\n", word_of(ending.kind), printable(ending.why));
    }
    const bool goes_on = ending.kind == Ending::Kind::Stopped || ending.kind == Ending::Kind::Interrupted;
    if (goes_on && journal != nullptr)
      err_ << way_on_text(journal->progress(), (request_.runs / run_).string(), request_.command);
    return code;
  }

  int fail(const Error& error) { return refuse(request_, run_, out_, err_, error); }

  void tell(const Told& told) { out_ << progress_line(told, clock_.wall(), run_, request_.form) << std::flush; }

  WallTime wall() const { return clock_.wall(); }

 private:
  const Config& config_;
  const HealRequest& request_;
  const std::string run_;
  std::ostream& out_;
  std::ostream& err_;
  RealClock clock_;
  ArmLink link_;
};

std::optional<RunFound> open_run(const HealRequest& request) {
  for (RunFound& run : find_runs(request.runs)) {
    const Target& target = run.progress.target;
    const bool same = equal_ignoring_case(target.cluster, request.target.cluster) && target.pool == request.target.pool;
    if (same && run.progress.is_open()) return std::move(run);
  }
  return std::nullopt;
}

StandIn stand_in_of(const HealRequest& request, const std::string& run) {
  return {request.target.pool_id(), run, request.options.stand_in_count};
}

Ending ending_of(const Guard& objection) {
  return {objection.says == Guard::Says::Refuse ? Ending::Kind::Refused : Ending::Kind::NothingToDo, objection.why};
}

int dry_run(Session& session, const HealRequest& request, const std::string& run, std::ostream& out) {
  const World world = session.world(nullptr);
  const auto inspection = inspect(world, request.target, request.options.guards, stand_in_of(request, run));
  if (!inspection) return session.fail(inspection.error());
  out << plan_text(request.target, *inspection, request.options, request.form);
  const Guard* const objection = first_objection(inspection->guards);
  return objection != nullptr && objection->says == Guard::Says::Refuse ? kExitNotDone : kExitDone;
}

int resume(Session& session, const HealRequest& request, const World& world, const RunFound& found) {
  auto journal = Journal::resume(request.runs, found.id);
  if (!journal) return session.fail(journal.error());
  session.tell({Phase::Guards, "resume",
                fmt::format("run {} is taken up, with the api-version {}", found.id, journal->progress().target.api_version)});
  Runbook runbook(world, *journal, request.options);
  return session.tell_end(request.undo ? runbook.undo() : runbook.carry_on(std::nullopt), &*journal);
}

int begin(Session& session, const HealRequest& request, const World& world, const std::string& run) {
  const auto inspection = inspect(world, request.target, request.options.guards, stand_in_of(request, run));
  if (!inspection) return session.fail(inspection.error());
  for (const Guard& guard : inspection->guards)
    session.tell({Phase::Guards, "guard", fmt::format("{}: {}", guard.name, guard.why)});
  if (const Guard* objection = first_objection(inspection->guards)) return session.tell_end(ending_of(*objection));
  for (const std::string& loss : losses(request.target, *inspection->bodies, request.options))
    session.tell({Phase::Guards, "loss", loss});
  auto journal = Journal::begin(request.runs, run, request.target, session.wall());
  if (!journal) return session.fail(journal.error());
  return session.tell_end(Runbook(world, *journal, request.options).carry_on(*inspection), &*journal);
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

// A process that was killed before its run began has left nothing but the service's lease, and perhaps a journal without its first line.
std::string name_of_next_run(const ClusterLock& lock, const HealRequest& request) {
  const std::string last = lock.last_run();
  const auto runs = find_runs(request.runs);
  const bool has_begun = std::any_of(runs.begin(), runs.end(), [&](const RunFound& run) { return run.id == last; });
  if (last.empty() || has_begun) return new_run_id(RealClock().wall());
  std::error_code ignored;  // what stays keeps the run from being begun, by name
  std::filesystem::remove_all(request.runs / last, ignored);
  return last;
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

int run_heal(const Config& config, const HealRequest& request, std::ostream& out, std::ostream& err) {
  if (!request.confirm) {
    if (const auto found = open_run(request)) {
      if (const auto fault = fault_of_api_version(request, *found)) return refuse(request, found->id, out, err, *fault);
      out << resume_text(*found, request.form);
      return kExitDone;
    }
    const std::string run = new_run_id(RealClock().wall());
    Session session(config, request, run, out, err);
    return dry_run(session, request, run, out);
  }
  auto lock = ClusterLock::take(request.runs, request.target);
  if (!lock) return refuse(request, "", out, err, lock.error());
  const auto found = open_run(request);
  if (request.undo && !found) {
    return refuse(request, "", out, err, client_error(ErrorKind::BadInput, "there is no run of this cluster and pool to undo"));
  }
  if (found) {
    if (const auto fault = fault_of_api_version(request, *found)) return refuse(request, found->id, out, err, *fault);
  }
  const std::string run = found ? found->id : name_of_next_run(*lock, request);
  if (const auto noted = lock->note_run(run); !noted) return refuse(request, run, out, err, noted.error());
  Session session(config, request, run, out, err);
  const Interruptions interruptions_noted;
  LeaseKeeper lease(config, request.target, client_of(run), request.who);
  const auto held = lease.held();
  if (!held) return session.fail(held.error());
  if (!*held)
    session.tell(
        {Phase::Guards, "lease",
         fmt::format("others wait from now on; what began earlier ({}) comes to its end, or is aborted in the first step",
                     lease.behind())});
  const World world = session.world(&lease);
  return found ? resume(session, request, world, *found) : begin(session, request, world, run);
}

}  // namespace armgate::heal
