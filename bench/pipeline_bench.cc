// The whole decision for one request: every stage between the head that was parsed and the answer that is written, with an
// upstream and a client in memory, so that no byte passes a socket.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/counted.h"
#include "bench/samples.h"
#include "bench/shipped.h"
#include "proxy/async/spawn.h"
#include "proxy/request/identify.h"
#include "proxy/request/parts.h"
#include "proxy/request/pipeline.h"
#include "proxy/seams/real_clock.h"
#include "proxy/state/memory_store.h"

namespace armgate::bench {
namespace {

class WholeBody final : public BodySource {
 public:
  explicit WholeBody(const std::string& text) : text_(text) {}
  Task<Result<std::string_view>> read() override {
    const std::string_view piece = std::exchange(given_, true) ? std::string_view() : std::string_view(text_);
    co_return piece;
  }

 private:
  const std::string& text_;
  bool given_ = false;
};

class MemoryUpstream final : public Upstream {
 public:
  explicit MemoryUpstream(size_t bytes) : body_(network_body(bytes)) {}

  Task<Result<UpstreamAnswer>> send(const arm::Request&, SendLimits) override {
    UpstreamAnswer answer;
    answer.head.status = 200;
    answer.head.fields.take_lines(kLines, 2);  // as a parsed head
    answer.head.fields.add_part(kLines, kLines.substr(0, 12), kLines.substr(14, 16));
    answer.head.fields.add_part(kLines, kLines.substr(32, 15), kLines.substr(49, 36));
    answer.length = {BodyLength::Kind::Known, body_.size()};
    answer.body = std::make_unique<WholeBody>(body_);
    co_return std::move(answer);
  }

 private:
  static constexpr std::string_view kLines =
      "Content-Type: application/json\r\nx-ms-request-id: 11111111-2222-3333-4444-555555555555\r\n";
  const std::string body_;
};

class MemoryLink final : public ClientLink {
 public:
  Task<Result<void>> write_head(const arm::ResponseHead& head, BodyLength) override {
    status = head.status;
    co_return Result<void>();
  }
  Task<Result<void>> write_body(std::string_view) override { co_return Result<void>(); }
  Task<Result<void>> finish() override { co_return Result<void>(); }
  bool gone() const override { return false; }
  std::shared_ptr<const Presence> presence() const override { return presence_; }
  bool closing() const override { return false; }
  void watch(Waiter*, uint32_t) override {}

  int status = 0;

 private:
  const std::shared_ptr<Presence> presence_ = std::make_shared<Presence>();
};

std::shared_ptr<const rules::Ruleset> network_rules() {
  std::vector<rules::Rule> rules = shipped("network.json").rules;
  std::ranges::move(shipped("unruled.json").rules, std::back_inserter(rules));
  return std::make_shared<const rules::Ruleset>(std::move(rules), std::vector<rules::ErrorRule>{},
                                                std::vector<rules::QueueTimeout>{},
                                                rules::share(shipped("facts-network.json").facts));
}

// What all threads share.
struct Common {
  RealClock clock;
  SharedState shared{SharedState::Options{}, Hasher(HashKey{1, 2}), network_rules()};
  MemoryStore store;
  NoFaults faults;
};

// A thread's own: one client, which works on a resource of its own, with bodies of so many bytes.
struct Rig {
  Rig(Common& with, int thread, size_t bytes = 1500) : common(with), number(static_cast<size_t>(thread)), upstream(bytes) {}

  Common& common;
  const size_t number;
  boost::asio::io_context loop{1};
  MemoryUpstream upstream;
  Rng rng{1};
  Parts parts{common.shared, common.clock, upstream, common.store, common.faults, rng, loop.get_executor(), {}, {}};
  Pipeline pipeline{parts};
  MemoryLink link;
  Sender sender;  // of the last request, as its connection keeps it

  Exchange make_exchange(arm::Method method) {
    Exchange exchange;
    arm::RequestHead& head = exchange.request.head;
    head.method = method;
    head.method_token = std::string(arm::to_text(method));
    head.target = network(number) + "?api-version=2023-09-01";
    head.host = "management.azure.com";
    head.fields = {{"Authorization", token(number == 0 ? kClaims : kOtherClaims)},
                   {"User-Agent", "bench"},
                   {"Accept", "application/json"},
                   {"Content-Type", "application/json"}};
    exchange.from = {number + 1, "", "127.0.0.1"};
    exchange.last_sender = &sender;
    exchange.executor = loop.get_executor();
    return exchange;
  }

  static Task<void> serve_one(Rig& rig, Exchange& exchange) {
    Receipt receipt = co_await rig.pipeline.serve(exchange, rig.link);
    receipt.confirm();
  }

  void serve(Exchange& exchange) {
    const RealClock::LoopIteration iteration;  // as where an event loop is told of a request
    exchange.report = {};
    exchange.delivered = false;
    exchange.arrived = common.clock.next_moment();
    spawn(loop.get_executor(), serve_one(*this, exchange));
    loop.restart();
    loop.run();
  }
};

void identify_client(benchmark::State& state) {
  Common common;
  Rig rig(common, 0);
  const Exchange exchange = rig.make_exchange(arm::Method::Get);
  const AllocationCounter counter;
  for (auto _ : state) benchmark::DoNotOptimize(identify(rig.parts, exchange));
  counter.report(state);
}
BENCHMARK(identify_client);

std::unique_ptr<Common> common_of_all;  // of the threads of one run
void begin(const benchmark::State&) { common_of_all = std::make_unique<Common>(); }
void end(const benchmark::State&) { common_of_all.reset(); }

enum class Of { TypeWithARule, TypeWithout };

void whole_read(benchmark::State& state, Of type) {
  Rig rig(*common_of_all, state.thread_index());
  Exchange exchange = rig.make_exchange(arm::Method::Get);
  if (type == Of::TypeWithout) {
    exchange.request.head.target =
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Example/widgets/w?api-version=2023-09-01";
  }
  const AllocationCounter counter;
  for (auto _ : state) rig.serve(exchange);
  counter.report(state);
  if (rig.link.status != 200) state.SkipWithError("a read was refused");
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}
BENCHMARK_CAPTURE(whole_read, of_a_type_with_a_rule, Of::TypeWithARule)
    ->Setup(begin)
    ->Teardown(end)
    ->ThreadRange(1, 2)
    ->UseRealTime();
BENCHMARK_CAPTURE(whole_read, of_a_type_without_one, Of::TypeWithout)
    ->Setup(begin)
    ->Teardown(end)
    ->ThreadRange(1, 2)
    ->UseRealTime();

void whole_read_of(benchmark::State& state) {
  Rig rig(*common_of_all, 0, static_cast<size_t>(state.range(0)));
  Exchange exchange = rig.make_exchange(arm::Method::Get);
  const AllocationCounter counter;
  for (auto _ : state) rig.serve(exchange);
  counter.report(state);
  if (rig.link.status != 200) state.SkipWithError("a read was refused");
}
BENCHMARK(whole_read_of)->Setup(begin)->Teardown(end)->Arg(1'500)->Arg(30'000)->Arg(1'000'000)->Arg(4'000'000);

// Bodies as a client would have them that goes on changing one thing, each another than the one before.
std::vector<std::string> changing_bodies(size_t bytes, uint64_t count) {
  std::vector<std::string> bodies;
  for (uint64_t number = 1'000'000; number < 1'000'000 + count; ++number) {
    std::string& body = bodies.emplace_back(network_body(bytes, std::to_string(number)));
    body.replace(body.find("\"etag\""), 6, "\"note\"");  // no ETag of the client's own
  }
  return bodies;
}

void write_them(benchmark::State& state, Rig& rig, const std::vector<std::string>& bodies) {
  Exchange exchange = rig.make_exchange(arm::Method::Put);
  size_t next = 0;
  const AllocationCounter counter;
  for (auto _ : state) {
    exchange.request.body = bodies[next++ % bodies.size()];
    rig.serve(exchange);
  }
  counter.report(state);
  if (rig.link.status != 200) state.SkipWithError("a write was refused");
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}

void whole_write(benchmark::State& state) {
  Rig rig(*common_of_all, state.thread_index());
  write_them(state, rig, changing_bodies(1500, 256));
}
BENCHMARK(whole_write)->Setup(begin)->Teardown(end)->ThreadRange(1, 2)->UseRealTime();

// A read, and the write that is built on it: less a whole read, what a write with one possible base costs.
void read_and_write(benchmark::State& state) {
  Rig rig(*common_of_all, 0);
  const auto bodies = changing_bodies(1500, 256);
  Exchange read = rig.make_exchange(arm::Method::Get), write = rig.make_exchange(arm::Method::Put);
  size_t next = 0;
  const AllocationCounter counter;
  for (auto _ : state) {
    rig.serve(read);
    write.request.body = bodies[next++ % bodies.size()];
    rig.serve(write);
  }
  counter.report(state);
  if (rig.link.status != 200) state.SkipWithError("a write was refused");
}
BENCHMARK(read_and_write)->Setup(begin)->Teardown(end);

void whole_write_of(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0));
  Rig rig(*common_of_all, 0, bytes);
  write_them(state, rig, changing_bodies(bytes, 16));
}
BENCHMARK(whole_write_of)->Setup(begin)->Teardown(end)->Arg(1'500)->Arg(30'000)->Arg(1'000'000)->Arg(4'000'000);

}  // namespace
}  // namespace armgate::bench
