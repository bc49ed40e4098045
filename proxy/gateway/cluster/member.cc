#include "proxy/gateway/cluster/member.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <utility>

#include "proxy/cluster/cluster_store.h"
#include "proxy/cluster/engine/engine.h"
#include "proxy/cluster/replica.h"
#include "proxy/gateway/options.h"
#include "proxy/observability/log.h"
#include "proxy/request/cluster/share_tables.h"

namespace armgate {
namespace {

constexpr int kExitApart = 75;  // EX_TEMPFAIL (sysexits.h): whoever watches over it is to start it again
constexpr Duration kKeepLonger = std::chrono::hours(1);  // than what is kept of the rows

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

Result<std::unique_ptr<ClusterMember>> ClusterMember::join(const Config& config, Log& log, RealClock& clock,
                                                           MemoryStore::Options history) {
  if (!config.journal.file.empty()) {
    return gateway_error(ErrorKind::BadInput,
                         "journal.file and cluster.engine exclude each other: the cluster records what a journal would");
  }
  if (!config.cluster.experimental) {
    return gateway_error(
        ErrorKind::BadInput,
        "cluster.engine is experimental: docs/cluster.md says what is not proven and what is missing; to try it all "
        "the same say cluster.experimental: \"on\"");
  }
  if (config.cluster.key_file.empty()) {
    return gateway_error(ErrorKind::BadInput,
                         "cluster.engine needs cluster.key_file, with 32 random bytes or more that all replicas have");
  }
  const auto tell = [&log, &clock](const std::string& text) {
    log.event(LogLevel::Error, clock.wall(), "attention", {{"text", text}});
  };
  cluster::Engine::Calls calls;
  calls.alert = tell;
  calls.end = [tell](const std::string& why) {
    tell(fmt::format("armgate ends, to be started again: {}", why));
    usleep(100'000);  // the log is written by a thread of its own
    std::_Exit(kExitApart);
  };
  auto engine = cluster::Engine::join(engine_options(config), std::move(calls));
  if (!engine) return std::move(engine).error();
  for (const std::string& warning : (*engine)->joined().warnings) tell(warning);
  std::unique_ptr<ClusterMember> member(new ClusterMember(config.cluster.quiet, clock, history));
  member->replica_ = std::make_unique<cluster::Replica>(
      cluster::Replica::Options{.id = (*engine)->joined().id, .lease = (*engine)->joined().lease});
  member->engine_ = *std::move(engine);
  return member;
}

ClusterMember::ClusterMember(Duration quiet, RealClock& clock, MemoryStore::Options history)
    : quiet_(quiet), clock_(clock), history_(history) {}
ClusterMember::~ClusterMember() = default;

HashKey ClusterMember::hash_key() const { return engine_->joined().hash_key; }
bool ClusterMember::is_apart() const { return replica_->is_apart(); }
void ClusterMember::leave() { engine_->close(); }
void ClusterMember::end() {
  engine_.reset();
  replica_->let_go();
}

std::unique_ptr<Store> ClusterMember::store(const Config& config) {
  return std::make_unique<cluster::ClusterStore>(*replica_, clock_, config.cluster.write_max);
}

Result<void> ClusterMember::start(Parts& parts) {
  parts.shared.begin(clock_, engine_->joined().known_for);
  share_tables(parts, *replica_, {[this](uint64_t order) { clock_.pass(order); }, quiet_, &history_});
  return engine_->start(*replica_);
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
