#include "cli/link/send_through.h"

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "proxy/async/spawn.h"
#include "proxy/net/upstream/name_resolver.h"
#include "proxy/net/upstream/upstream_pool.h"
#include "proxy/seams/real_clock.h"

namespace armgate {
namespace {

constexpr size_t kBodyBytesMax = 16u << 20;

net::UpstreamOptions options_of(const Through& through) {
  net::UpstreamOptions options;
  net::ParentProxy armgate;
  armgate.host = through.proxy_host;
  armgate.port = through.proxy_port;
  armgate.credentials = through.credentials;
  armgate.named_by = through.named_by;
  armgate.mark = through.mark;
  options.connector.parent = std::move(armgate);
  options.ca_file = through.root;
  options.host.connections_max = 1;
  options.via.clear();
  return options;
}

Task<Result<arm::Response>> ask(Clock& clock, Upstream& upstream, const arm::Request& request, TimePoint deadline) {
  auto answer = co_await upstream.send(request, deadline);
  if (!answer) co_return std::move(answer).error();
  arm::Response response;
  response.head.status = answer->head.status;
  response.head.fields = answer->head.fields;
  auto body = co_await read_whole(*answer->body, clock, {kBodyBytesMax, deadline});
  if (!body) co_return std::move(body).error();
  response.body = *std::move(body);
  co_return response;
}

Task<void> keep(Clock& clock, Upstream& upstream, const arm::Request& request, TimePoint deadline,
                std::optional<Result<arm::Response>>& result) {
  result = co_await ask(clock, upstream, request, deadline);
}

}  // namespace

Result<arm::Response> send_through(const Through& through, const arm::Request& request) {
  RealClock clock;
  boost::asio::io_context io(1);
  net::NameResolver names(clock, 1);
  auto upstream = net::UpstreamPool::make(clock, io.get_executor(), options_of(through), names.as_resolve());
  if (!upstream) return std::move(upstream).error();
  std::optional<Result<arm::Response>> result;
  spawn(io.get_executor(), keep(clock, **upstream, request, clock.now() + through.timeout, result));
  while (!result && io.run_one() > 0) {
  }
  if (result) return *std::move(result);
  return upstream_error(ErrorKind::TimedOut, Sent::Maybe, "no answer came");
}

}  // namespace armgate
