#include "proxy/gateway/gateway.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "certs/authority.h"
#include "certs/authority_facts.h"
#include "proxy/cluster/replica.h"
#include "proxy/gateway/cluster/member.h"
#include "proxy/gateway/common.h"
#include "proxy/gateway/ending.h"
#include "proxy/gateway/event_loop.h"
#include "proxy/gateway/events.h"
#include "proxy/gateway/parent.h"
#include "proxy/gateway/records.h"
#include "proxy/observability/admin.h"
#include "proxy/request/identify.h"
#include "proxy/request/operation/restore.h"
#include "proxy/request/operation/unlock.h"

namespace armgate {
namespace {

constexpr Duration kLastCallMax = std::chrono::seconds(5);  // for answers to those who only waited, before what is left is cut

Result<certs::LeafMinter> load_minter(const Config& config) {
  auto authority = certs::load_authority(config.ca.directory, config.intercept, RealClock().wall(), ca_init_command(config));
  if (!authority) return std::move(authority).error();
  return certs::LeafMinter::make(*std::move(authority));
}

}  // namespace

Gateway::Gateway(std::unique_ptr<GatewayCommon> common)
    : common_(std::move(common)),
      admin_(std::make_unique<const Admin>(AdminSources{
          common_->clock,
          common_->shared.locks,
          common_->shared.results,
          [this](const Hash128& key) { return common_->is_at_work(key); },
          [this] { return common_->state(); },
          [this] { return tally(); },
          [this] { return metrics(); },
          [this] { return common_->shared.budgets.report(common_->clock.now()); },
          [this](const Hash128& key, std::string_view who) { return unlock(loops_.front()->parts(), key, who); },
          [this](size_t most, const std::string& resource, WhichWrites which) { return history(most, resource, which); },
          [this] { return common_->timeline.json(); },
          [this] { return common_->decisions.json(common_->clock.wall(), common_->clock.now()); },
          {common_->clock, common_->shared.run_leases, [this] { return common_->shared.rules.mode(); },
           [this](std::string_view name) { return client_key(common_->shared.hasher, name); },
           [this](std::string_view event, const RunLeases::Lease& lease, std::string_view who) {
             log_run_lease(*common_->log, common_->clock.wall(), event, lease, who);
           }}})) {}

Gateway::~Gateway() {
  if (runner_.joinable()) runner_.join();
  if (common_->cluster) common_->cluster->on_lapse({});
}

Result<std::unique_ptr<Gateway>> Gateway::open(Config config) {
  auto log = Log::open(config.log.file, config.log.level);
  if (!log) return std::move(log).error();
  auto parent = parent_proxy(config);
  if (!parent) return std::move(parent).error();
  auto minter = load_minter(config);
  if (!minter) return std::move(minter).error();
  auto records = open_records(config, **log);
  if (!records) return std::move(records).error();
  const auto former = std::exchange(records->former, std::nullopt);
  std::unique_ptr<Gateway> gateway(new Gateway(std::make_unique<GatewayCommon>(
      std::move(config), *std::move(parent), *std::move(records), *std::move(log), *std::move(minter))));
  const auto asked = static_cast<size_t>(gateway->common_->config.threads);
  for (size_t i = asked > 0 ? asked : std::max(1u, std::thread::hardware_concurrency()); i > 0; --i) {
    gateway->loops_.push_back(std::make_unique<EventLoop>(*gateway->common_, random_hash_key().first));
    if (auto opened = gateway->loops_.back()->open(gateway->ports_, *gateway->admin_); !opened)
      return std::move(opened).error();
  }
  gateway->common_->shared.begin(gateway->common_->clock);
  if (former) gateway->take_up(*former);
  auto* const cluster = gateway->common_->cluster.get();
  if (cluster) {
    cluster->on_lapse([all = gateway.get()] {
      all->common_->replica()->give_up();
      for (auto& loop : all->loops_) loop->stop_waiting();
    });
  }
  if (auto started = cluster ? cluster->start(gateway->loops_.front()->parts()) : Result<void>(); !started)
    return std::move(started).error();
  return gateway;
}

void Gateway::take_up(const PreviousProcess& former) {
  const Restored restored = restore(loops_.front()->parts(), former);
  if (former.open.empty()) return;
  log_line(LogLevel::Warning, "journal-taken-up",
           {{"running", restored.running}, {"in_doubt", restored.in_doubt}, {"dropped", restored.dropped}});
}

const Config& Gateway::config() const { return common_->config; }
std::string Gateway::parent() const { return common_->parent ? common_->parent->text() : std::string(); }
size_t Gateway::connections_max() const { return common_->connections_max; }
GatewayTally::Counts Gateway::tally() const {
  GatewayTally::Counts all;
  for (const auto& loop : loops_) all += loop->tally().counts();
  return all;
}
// By all loops.
struct Gateway::Counted {
  RequestMetrics::Counts requests;
  UpstreamCounts upstream;
};

std::string Gateway::metrics() const {
  const Counted all = counted();
  return metrics_text(common_->state(), all.requests, all.upstream, tally(), common_->shared.counters,
                      common_->shared.results.counts(), common_->shared.budgets.report(common_->clock.now()));
}

Result<std::string> Gateway::history(size_t most, const std::string& resource, WhichWrites which) const {
  if (common_->memory == nullptr) return recorded_json(common_->config.journal.file, most, resource, which);
  return remembered_json(*common_->memory, most, resource, which,
                         common_->shared.results.state_of(common_->shared.locks.key_of(resource)));
}
Gateway::Counted Gateway::counted() const {
  Counted all;
  for (const auto& loop : loops_) {
    all.requests += loop->metrics().counts();
    all.upstream += loop->watch().counts();
  }
  return all;
}
void Gateway::sample() {
  for (const auto& lease : common_->shared.run_leases.expire(common_->clock.now())) {
    common_->log_line(LogLevel::Error, "attention",
                      {{"text", fmt::format("lease of {} on {} is over because {}: {}", lease.client, lease.resources,
                                            lease.over, lease.purpose)}});
  }
  const Counted all = counted();
  common_->timeline.add({tally(), all.requests.waited, all.upstream, common_->shared.locks.counts().waiting});
  next_sample_ = common_->clock.call_at(io().get_executor(), common_->clock.now() + Timeline::kEvery, [this] { sample(); });
}
// All tools stop at the same moment when it is over, and nobody runs `armgate doctor` where all is well.
void Gateway::remind_of_end() {
  const Config& config = common_->config;
  const auto warning = certs::warning_of_end(config.ca.directory, certs::end_of(common_->cert_cache.authority()),
                                             common_->clock.wall(), ca_init_command(config));
  if (warning) {
    common_->log_line(LogLevel::Warning, "authority-ends", {{"text", fmt::format("{}; {}", warning->text, warning->remedy)}});
  }
  next_reminder_ =
      common_->clock.call_at(io().get_executor(), common_->clock.now() + std::chrono::days(1), [this] { remind_of_end(); });
}
Log& Gateway::log() { return *common_->log; }
boost::asio::io_context& Gateway::io() { return loops_.front()->io(); }

void Gateway::log_line(LogLevel level, std::string_view name, Log::Fields fields) { common_->log_line(level, name, fields); }

size_t Gateway::use(const Config& changed) {
  common_->use(changed);
  common_->reload_good = true;
  return common_->shared.rules.draining();
}

void Gateway::note_refused_reload() { common_->reload_good = false; }

void Gateway::run() {
  if (ports_.admin != 0) sample();
  remind_of_end();
  for (auto& loop : loops_) loop->start();
  std::vector<std::thread> others;
  for (size_t i = 1; i < loops_.size(); ++i) {
    EventLoop* loop = loops_[i].get();
    others.emplace_back([loop] { loop->run(); });
  }
  loops_.front()->run();
  for (auto& thread : others) thread.join();
}

void Gateway::start() { runner_ = std::thread(&Gateway::run, this); }

void Gateway::join() { runner_.join(); }

void Gateway::drain(Duration limit) {
  boost::asio::post(io(), [this, limit] {
    if (common_->draining.exchange(true)) return;
    common_->log_line(LogLevel::Info, "draining");
    const Duration delay = common_->config.drain_delay;
    if (delay == Duration::zero()) return close_listeners(limit);
    delay_ =
        common_->clock.call_at(io().get_executor(), common_->clock.now() + delay, [this, limit] { close_listeners(limit); });
  });
}

// What is under way goes on to its end.
void Gateway::close_listeners(Duration limit) {
  const TimePoint last_call = common_->clock.now() + limit - std::min<Duration>(kLastCallMax, limit / 5);
  last_call_ = common_->clock.call_at(io().get_executor(), last_call, [this] {
    for (auto& loop : loops_) loop->stop_waiting();
  });
  limit_ = common_->clock.call_at(io().get_executor(), common_->clock.now() + limit, [this] { abort("drain-limit"); });
  for (auto& loop : loops_) {
    loop->drain([this] {
      boost::asio::post(io(), [this] {
        if (++drained_ == loops_.size()) stop("drained");
      });
    });
  }
}

void Gateway::abort(std::string_view why) {
  const auto tell = [this](std::string_view method, std::string_view resource, std::string_view client) {
    common_->log_line(LogLevel::Warning, "write-cut-off",
                      {{"method", method},
                       {"resource", resource},
                       {"client", client},
                       {"message", "whether it took effect is not known: read the resource"}});
  };
  for (const Store::Unfinished& write : common_->store->unfinished()) tell(write.method, write.resource, write.client);
  for (const RunningActions::Action& action : common_->shared.running_actions.all())
    tell("POST", action.resource, action.client);
  stop(why);
}

void Gateway::stop(std::string_view why) {
  if (std::exchange(stopped_, true)) return;
  common_->log_line(LogLevel::Info, "stopped", {{"why", why}});
  delay_.reset();
  last_call_.reset();
  limit_.reset();
  next_sample_.reset();
  next_reminder_.reset();
  for (auto& loop : loops_) loop->stop();
}

void Gateway::leave(Ending ending) {
  if (common_->cluster) common_->cluster->leave();
  common_->store.reset();  // the last records are written
  common_->log.reset();    // and the last lines
  end_now(ending);
}

}  // namespace armgate
