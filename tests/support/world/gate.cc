#include "tests/support/world/gate.h"

#include <utility>

#include "proxy/request/operation/restore.h"

namespace armgate::world {

Task<Result<UpstreamAnswer>> Gate::Wire::send(const arm::Request& request, TimePoint deadline) {
  if (!gate_.is_cut()) {
    auto answer = co_await network_.send(request, deadline);
    if (gate_.is_cut()) co_return upstream_error(ErrorKind::Reset, Sent::Maybe, "the process is gone");
    co_return std::move(answer);
  }
  co_await clock_.sleep_for(std::chrono::seconds(1));
  co_return upstream_error(ErrorKind::Unreachable, Sent::No, "the process is gone");
}

std::unique_ptr<Store> Gate::make_store(SimJournal* journal) const {
  if (journal == nullptr) return std::make_unique<MemoryStore>();
  return std::make_unique<SimStore>(*journal, [this] { return cut_; });
}

SharedState::Options Gate::shared_options(GateOptions& options) {
  SharedState::Options shared;
  shared.pipeline = std::move(options.pipeline);
  shared.results = options.results;
  shared.budgets = options.budgets;
  return shared;
}

Gate::Gate(GateOptions options, SimClock& clock, Upstream& network, const Executor& executor, Voice voice)
    : life_(options.life),
      shared_(shared_options(options), Hasher(HashKey{options.seed, 6 + (options.journal ? 0 : options.life)}),
              std::move(options.rules)),
      store_(make_store(options.journal)),
      wire_(*this, clock, network),
      faults_(Rng(options.seed ^ (0xfa016 + options.life)), options.poll_skipped),
      rng_(options.seed ^ (0x5eed0 + options.life)),
      parts_{
          shared_, clock, wire_, *store_, faults_, rng_, executor, {}, std::move(voice.alert), std::move(voice.report_finding)},
      pipeline_(parts_) {
  shared_.begin(clock);
  if (options.journal == nullptr || options.journal->is_new()) return;
  const PreviousProcess former = options.journal->previous_process(shared_.resources.limits().observation_age);
  for (const auto* writes : {&former.open, &former.recent}) {
    for (const JournaledWrite& write : *writes) clients_.insert(write.client);
  }
  restore(parts_, former);
}

Task<Receipt> Gate::serve(std::shared_ptr<SimLink> link) {
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
  for (const auto& [number, link] : links_) link->leave(Leaving::Reset);
}

}  // namespace armgate::world
