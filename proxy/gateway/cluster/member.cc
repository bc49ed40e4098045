#include "proxy/gateway/cluster/member.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <utility>

#include "proxy/async/mutex.h"
#include "proxy/cluster/cluster_store.h"
#include "proxy/cluster/engine/engine.h"
#include "proxy/cluster/replica.h"
#include "proxy/gateway/cluster/configured.h"
#include "proxy/gateway/cluster/requirements.h"
#include "proxy/gateway/cluster/rules_of_others.h"
#include "proxy/gateway/options.h"
#include "proxy/observability/log.h"
#include "proxy/observability/service_state.h"
#include "proxy/request/cluster/share_tables.h"

namespace armgate {
namespace {

constexpr int kExitApart = 75;  // EX_TEMPFAIL (sysexits.h): whoever watches over it is to start it again
constexpr Duration kKeepLonger = std::chrono::hours(1);  // than what is kept of the rows
static_assert(kKeepLonger >= 2 * cluster::kToldByHashMax);

constexpr useconds_t kLastAnswers = 300'000;  // a client that only waits is told to come again

std::string machine_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

cluster::EngineOptions engine_options(const Config& config) {
  cluster::EngineOptions options;
  options.url = config.cluster.engine;
  options.key_file = config.cluster.key_file;
  options.name = config.cluster.replica.empty() ? machine_name() : config.cluster.replica;
  options.keep = std::max(config.history.observation_age, config.history.repeat_keep) + kKeepLonger;
  return options;
}

}  // namespace

// The end of the membership: calls the one function that is set for it, if there is one.
struct ClusterMember::Lapse {
  void call() {
    MutexLock lock(&mutex);
    if (listener) listener();
  }
  Mutex mutex;
  std::function<void()> listener ABSL_GUARDED_BY(mutex);
};

Result<std::unique_ptr<ClusterMember>> ClusterMember::join(const Config& config, Log& log, RealClock& clock,
                                                           MemoryStore::Options history) {
  if (auto fits = check_cluster_options(config); !fits) return std::move(fits).error();
  const auto log_attention = [&log, &clock](const std::string& text) {
    log.event(LogLevel::Error, clock.wall(), "attention", {{"text", text}});
  };
  cluster::Engine::Calls calls;
  calls.alert = log_attention;
  const auto lapse = std::make_shared<Lapse>();
  calls.end = [log_attention, lapse](const std::string& why) {
    log_attention(fmt::format("armgate ends, to be started again: {}", why));
    lapse->call();
    usleep(kLastAnswers);  // the log, too, is written by a thread of its own
    std::_Exit(kExitApart);
  };
  if (const auto weak = weak_way_to_engine(config)) log_attention("cluster.engine: " + *weak);
  const std::string root = root_of(config);
  auto options = engine_options(config);
  options.configured = configured_text(config, root);
  auto engine = cluster::Engine::join(std::move(options), std::move(calls));
  if (!engine) return std::move(engine).error();
  std::unique_ptr<ClusterMember> member(new ClusterMember(clock, history));
  member->replica_ =
      std::make_unique<cluster::Replica>(cluster::Replica::Options{.id = (*engine)->joined().id,
                                                                   .membership_lease = (*engine)->joined().membership_lease,
                                                                   .quiet = config.cluster.quiet,
                                                                   .hash_key = (*engine)->joined().hash_key});
  member->engine_ = *std::move(engine);
  member->lapse_ = lapse;
  member->root_ = root;
  member->alert_ = log_attention;
  return member;
}

ClusterMember::ClusterMember(RealClock& clock, MemoryStore::Options history) : clock_(clock), history_(history) {}
ClusterMember::~ClusterMember() = default;

HashKey ClusterMember::hash_key() const { return engine_->joined().hash_key; }
bool ClusterMember::is_apart() const { return replica_->is_apart(); }
ClusterView ClusterMember::view() const {
  cluster::Health health = engine_->health();
  const auto left = std::max<Duration>(replica_->apart_from() - clock_.now(), Duration::zero());
  return {.replica = replica_->id(),
          .engine_up = health.is_reachable,
          .membership_lease_left = left,
          .alive = health.alive,
          .synchronous = health.synchronous,
          .warnings = std::move(health.warnings),
          .commits = health.commits,
          .late = health.late,
          .failed = health.failed,
          .log_position = replica_->applied(),
          .log_waiting = replica_->counts().waiting};
}

void ClusterMember::set_configured(const Config& config) { engine_->set_configured(configured_text(config, root_)); }
void ClusterMember::leave() { engine_->close(); }
void ClusterMember::on_lapse(std::function<void()> listener) {
  MutexLock lock(&lapse_->mutex);
  lapse_->listener = std::move(listener);
}
void ClusterMember::end() {
  engine_.reset();
  replica_->let_go();
}

std::unique_ptr<Store> ClusterMember::store(const Config& config) {
  return std::make_unique<cluster::ClusterStore>(*replica_, clock_, config.cluster.write_max);
}

Result<void> ClusterMember::start(Parts& parts) {
  parts.shared.begin(clock_, engine_->joined().known_for);
  share_tables(parts, *replica_, {[this](uint64_t order) { clock_.pass(order); }, &history_});
  rules_ = std::make_unique<RulesOfOthers>(parts.shared.rules, alert_);
  return engine_->start(*replica_, *rules_);
}

SharedState::Options shared_options(const Config& config, ClusterMember* member) {
  SharedState::Options options = shared_options(config);
  if (member == nullptr) return options;
  auto& sendings = options.clients.client.sendings;
  sendings.first_id = (uint64_t{member->replica().id()} << 40) + 1;
  sendings.sink = &member->replica();
  // All replicas must have the same queues: none of them turns away who stands in them elsewhere.
  constexpr size_t kUnbounded = std::numeric_limits<size_t>::max();
  options.locks = {kUnbounded, kUnbounded};
  return options;
}

}  // namespace armgate
