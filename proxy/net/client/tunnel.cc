#include "proxy/net/client/tunnel.h"

#include <utility>

#include "proxy/async/spawn.h"
#include "proxy/async/waiter.h"
#include "proxy/net/socket/input_buffer.h"

namespace armgate::net {
namespace {

struct Tunnel {
  Tunnel(Clock& with, Duration limit, const Executor& executor)
      : clock(with), idle_max(limit), last_moved(with.now()), other_done(executor) {}

  Clock& clock;
  const Duration idle_max;
  TimePoint last_moved;
  Waiter other_done;

  TimePoint deadline() const { return last_moved + idle_max; }
};

enum class Ended { InOrder, Broken };

Task<Ended> relay(Tunnel& tunnel, ByteStream& from, ByteStream& to, std::string early, uint64_t& bytes) {
  InputBuffer arrived;  // while nothing is on its way it holds no memory: most tunnels are idle
  if (!early.empty()) arrived.append(std::exchange(early, {}));
  while (true) {
    if (!arrived.empty()) {
      bytes += arrived.bytes().size();
      tunnel.last_moved = tunnel.clock.now();
      const auto written = co_await to.write_all(arrived.bytes(), tunnel.deadline());
      if (!written) co_return Ended::Broken;
      tunnel.last_moved = tunnel.clock.now();
      arrived.clear();
    }
    const auto got = co_await from.read_some(scratch_area(), tunnel.deadline());
    if (got && *got == 0) {
      co_await to.shutdown(tunnel.deadline());
      co_return Ended::InOrder;
    }
    const bool still_moving = !got && got.error().kind == ErrorKind::TimedOut && tunnel.clock.now() < tunnel.deadline();
    if (!got && !still_moving) co_return Ended::Broken;
    const size_t count = got ? *got : 0;
    if (count > 0) arrived.append(std::string_view(scratch_area().data(), count));
    // It may wait for this with the rest of what it has to say (Nagle's algorithm, RFC 896).
    if (count < scratch_area().size()) from.acknowledge_now();
    co_await let_others_run();  // both sides may be ready for ever
  }
}

Task<void> relay_back(Tunnel& tunnel, ByteStream& host, ByteStream& client, uint64_t& bytes) {
  std::string nothing;
  const Ended ended = co_await relay(tunnel, host, client, std::move(nothing), bytes);
  if (ended == Ended::Broken) {
    client.close();
    host.close();
  }
  tunnel.other_done.signal(1);
}

}  // namespace

Task<TunnelCounts> run_tunnel(ByteStream& client, ByteStream& host, std::string early, Clock& clock, Duration idle_max) {
  const Executor executor = co_await current_executor();
  TunnelCounts counts;
  Tunnel tunnel(clock, idle_max, executor);
  spawn(executor, relay_back(tunnel, host, client, counts.from_host_bytes));
  const Ended ended = co_await relay(tunnel, client, host, std::move(early), counts.to_host_bytes);
  if (ended == Ended::Broken) {
    client.close();
    host.close();
  }
  co_await tunnel.other_done.wait();
  client.close();
  host.close();
  co_return counts;
}

}  // namespace armgate::net
