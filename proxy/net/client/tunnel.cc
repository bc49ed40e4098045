#include "proxy/net/client/tunnel.h"

#include <utility>
#include <vector>

#include "proxy/async/spawn.h"
#include "proxy/async/waiter.h"

namespace armgate::net {
namespace {

constexpr size_t kPieceBytes = 16 * 1024;

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
  std::vector<char> piece(early.begin(), early.end());
  size_t count = piece.size();
  if (piece.size() < kPieceBytes) piece.resize(kPieceBytes);
  while (true) {
    if (count > 0) {
      bytes += count;
      tunnel.last_moved = tunnel.clock.now();
      const auto written = co_await to.write_all(std::string_view(piece.data(), count), tunnel.deadline());
      if (!written) co_return Ended::Broken;
      tunnel.last_moved = tunnel.clock.now();
    }
    const auto got = co_await from.read_some(piece, tunnel.deadline());
    if (got && *got == 0) {
      co_await to.shutdown(tunnel.deadline());
      co_return Ended::InOrder;
    }
    const bool still_moving = !got && got.error().kind == ErrorKind::TimedOut && tunnel.clock.now() < tunnel.deadline();
    if (!got && !still_moving) co_return Ended::Broken;
    count = got ? *got : 0;
    // It may wait for this with the rest of what it has to say (Nagle's algorithm, RFC 896).
    if (count < kPieceBytes) from.acknowledge_now();
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
