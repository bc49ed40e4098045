#include "tests/support/world/gate.h"

#include <utility>

#include "proxy/async/spawn.h"
#include "proxy/cluster/cluster_store.h"
#include "proxy/request/cluster/share_tables.h"
#include "proxy/request/operation/restore.h"

namespace armgate::world {

Task<Result<UpstreamAnswer>> Gate::Wire::send(const arm::Request& request, SendLimits limits) {
  if (!gate_.is_cut()) {
    auto answer = co_await network_.send(request, limits);
    co_await process_.until_it_runs();
    if (gate_.is_cut()) co_return upstream_error(ErrorKind::Reset, Sent::Maybe, "the process is gone");
    co_return std::move(answer);
  }
  co_await clock_.sleep_for(std::chrono::seconds(1));
  co_return upstream_error(ErrorKind::Unreachable, Sent::No, "the process is gone");
}

std::unique_ptr<cluster::Replica> Gate::make_replica(const GateOptions& options) {
  if (options.log == nullptr) return nullptr;
  const LogFaults& faults = options.log->faults();
  return std::make_unique<cluster::Replica>(cluster::Replica::Options{
      .id = options.log->next_id(), .membership_lease = faults.membership_lease, .quiet = faults.quiet, .hashed_least = 1});
}

std::unique_ptr<Store> Gate::make_store(const GateOptions& options) {
  if (replica_) return std::make_unique<cluster::ClusterStore>(*replica_, clock_, std::chrono::seconds(5));
  if (options.journal == nullptr) return std::make_unique<MemoryStore>();
  return std::make_unique<SimStore>(*options.journal, [this] { return cut_; });
}

SharedState::Options Gate::shared_options(GateOptions& options, cluster::Replica* replica) {
  SharedState::Options shared;
  shared.pipeline = std::move(options.pipeline);
  shared.results = options.results;
  shared.budgets = options.budgets;
  if (options.body_bytes_max > 0) shared.resources.body_bytes_max = options.body_bytes_max;
  if (replica == nullptr) return shared;
  shared.clients.client.sendings.first_id = (uint64_t{replica->id()} << 40) + 1;
  shared.clients.client.sendings.sink = replica;
  return shared;
}

void Gate::join(const GateOptions& options) {
  share_tables(parts_, *replica_, {[this](uint64_t order) { own_clock_.pass(order); }});
  parts_.cluster = replica_.get();
  member_ = options.log->join(*replica_, own_clock_, [this] { cut(); });
}

Gate::Gate(GateOptions options, SimClock& clock, Upstream& network, const Executor& executor, Voice voice)
    : life_(options.life),
      own_clock_(clock),
      clock_(options.log != nullptr ? static_cast<Clock&>(own_clock_) : clock),
      replica_(make_replica(options)),
      shared_(shared_options(options, replica_.get()),
              Hasher(HashKey{options.seed, 6 + (options.journal || options.log ? 0 : options.life)}), std::move(options.rules)),
      store_(make_store(options)),
      wire_(*this, clock, network),
      faults_(Rng(options.seed ^ (0xfa016 + options.life)), options.poll_skipped),
      rng_(options.seed ^ (0x5eed0 + options.life)),
      parts_{shared_,
             clock_,
             wire_,
             *store_,
             faults_,
             rng_,
             executor,
             {},
             std::move(voice.alert),
             std::move(voice.report_finding)},
      pipeline_(parts_),
      tell_cut_off_(std::move(voice.cut_off)) {
  shared_.begin(clock_, options.log != nullptr ? clock_.now() - options.log->began() : Duration{});
  if (options.log != nullptr) join(options);
  if (options.journal == nullptr || options.journal->is_new()) return;
  const PreviousProcess former = options.journal->previous_process(shared_.resources.limits().observation_age);
  for (const auto* writes : {&former.open, &former.recent}) {
    for (const JournaledWrite& write : *writes) clients_.insert(write.client);
  }
  restore(parts_, former);
}

Task<Receipt> Gate::serve(std::shared_ptr<SimLink> link) {
  link->served_by(own_clock_);
  co_await own_clock_.until_it_runs();
  const uint64_t number = ++exchanges_;
  links_[number] = link;
  Receipt receipt = co_await pipeline_.serve(link->exchange, *link);
  links_.erase(number);
  clients_.insert(link->exchange.client);
  co_return std::move(receipt);
}

void Gate::stop_waiting() {
  for (const auto& [number, link] : links_) link->close();
}

void Gate::cut() {
  accepts_ = false;
  cut_ = true;
  if (member_) member_->leave();
  for (const auto& [number, link] : links_) {
    if (tell_cut_off_) tell_cut_off_(*link);
    link->leave(Leaving::Reset);
  }
}

}  // namespace armgate::world
