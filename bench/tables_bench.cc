// The tables that every event loop shares: versions and locks, small and large. And what the copy of a TLS record costs.
#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>

#include "base/rng.h"
#include "bench/counted.h"
#include "bench/samples.h"
#include "proxy/state/lock/lock_table.h"
#include "proxy/state/resource_table.h"

namespace armgate::bench {
namespace {

const Hasher kHasher(HashKey{1, 2});

policy::StateShown shown(uint64_t order) {
  policy::StateShown seen;
  seen.etag = "W/\"0c2b6a7e-1111-2222-3333-444455556666\"";
  seen.rendering.api_version = "2023-09-01";
  seen.asked = order;
  seen.at = Moment{order, TimePoint(std::chrono::seconds(1))};
  return seen;
}

// A client is shown once more what it was shown before, in a table of `range(0)` resources.
void remember_a_read(benchmark::State& state) {
  const auto resources = static_cast<size_t>(state.range(0));
  ResourceTable::Options options;
  options.resources_max = 2'000'000;
  ResourceTable table(options, kHasher);
  uint64_t order = 0;
  const Allocated before = allocated();
  for (size_t i = 0; i < resources; ++i) table.apply(kHasher.hash(network(i)), shown(++order));
  const Allocated after = allocated();
  Rng rng(1);
  std::vector<Hash128> keys(65'536);
  for (Hash128& key : keys) key = kHasher.hash(network(rng.below(resources)));
  size_t at = 0;
  const AllocationCounter counter;
  for (auto _ : state) table.apply(keys[at++ % keys.size()], shown(++order));
  counter.report(state);
  state.counters["allocated_per_resource"] = static_cast<double>(after.bytes - before.bytes) / static_cast<double>(resources);
}
BENCHMARK(remember_a_read)->Arg(1'000)->Arg(30'000)->Arg(1'000'000);

struct Locks {
  boost::asio::io_context loop;
  Waiter waiter{loop.get_executor()};
  LockTable table{LockTable::Options{20'000, 100'000}, kHasher};

  QueuePosition join(const std::string& id) {
    return *table.join({rules::LockKey{id, rules::LockMode::Exclusive}}, ClaimInfo{"client", "PUT", {}}, &waiter, 1);
  }
};

// Beside `range(0)` other keys that are held.
void acquire_and_release_lock(benchmark::State& state) {
  Locks locks;
  std::vector<WriteLease> held;
  for (int64_t i = 1; i <= state.range(0); ++i) held.push_back(locks.join(network(static_cast<size_t>(i))).into_lease());
  const std::string id = network(0);
  const AllocationCounter counter;
  for (auto _ : state) {
    QueuePosition place = locks.join(id);
    WriteLease lease = place.into_lease();
    lease.release();
  }
  counter.report(state);
}
BENCHMARK(acquire_and_release_lock)->Arg(0)->Arg(1'000'000);

// One holder and `range(0)` waiters on one key: the holder releases, the next takes over, and another joins the end.
void hand_over_contended_lock(benchmark::State& state) {
  Locks locks;
  const std::string id = network(0);
  WriteLease holder = locks.join(id).into_lease();
  std::deque<QueuePosition> waiting;
  for (int64_t i = 0; i < state.range(0); ++i) waiting.push_back(locks.join(id));
  const AllocationCounter counter;
  for (auto _ : state) {
    holder.release();
    if (!waiting.front().granted()) return state.SkipWithError("the next in line was not granted");
    holder = waiting.front().into_lease();
    waiting.pop_front();
    waiting.push_back(locks.join(id));
  }
  counter.report(state);
  while (!waiting.empty()) waiting.pop_back();
}
BENCHMARK(hand_over_contended_lock)->Arg(1)->Arg(100)->Arg(10'000);

// The content of a record, to memory that begins `range(0)` bytes further within its page (proxy/net/socket/record_area.h).
void copy_a_record(benchmark::State& state) {
  constexpr size_t kPage = 4096;
  constexpr size_t kRecord = 4 * kPage;
  using Pages = std::unique_ptr<char, decltype(&std::free)>;
  const Pages from(static_cast<char*>(std::aligned_alloc(kPage, kRecord)), &std::free);
  const Pages to(static_cast<char*>(std::aligned_alloc(kPage, kRecord + kPage)), &std::free);
  std::memset(from.get(), 1, kRecord);
  for (auto _ : state) {
    std::memcpy(to.get() + state.range(0), from.get(), kRecord);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(copy_a_record)->Arg(0)->Arg(8)->Arg(2048);

}  // namespace
}  // namespace armgate::bench
