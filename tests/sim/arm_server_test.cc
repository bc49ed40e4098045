// The simulated ARM behind real TLS and HTTP on the loopback interface, asked by the demo's own client.
#include <gtest/gtest.h>

#include "proxy/async/spawn.h"
#include "proxy/seams/real_clock.h"
#include "sim/demo/link.h"
#include "sim/server/arm_server.h"
#include "tests/sim/sim_requests.h"

namespace armgate::sim {
namespace {

constexpr const char* kGroupTarget = "/subscriptions/s1/resourceGroups/g1?api-version=2021-04-01";

struct Exchange {
  arm::Request request;
  Result<arm::Response> answer = arm::Response{};
};

Task<void> send_all(DemoLink& link, std::vector<Exchange>& exchanges) {
  for (Exchange& exchange : exchanges) {
    Result<arm::Response> answer = co_await link.send(exchange.request);
    exchange.answer = std::move(answer);
  }
}

Task<void> send_and_stop(DemoLink& link, std::vector<Exchange>& exchanges, boost::asio::io_context& io) {
  co_await send_all(link, exchanges);
  io.stop();
}

// Sends the requests one after the other over one link; `trusted` replaces the authority that the client trusts.
std::vector<Exchange> converse(std::vector<Exchange> exchanges, const std::string& trusted = {}) {
  boost::asio::io_context io(1);
  RealClock clock;
  const Result<ServerIdentity> identity = make_server_identity(clock.wall());
  EXPECT_TRUE(identity.ok());
  ArmServer server(io, clock, *identity, {}, {});
  const Result<uint16_t> port = server.start();
  EXPECT_TRUE(port.ok());
  DemoLink link(io.get_executor(), Route{*port, trusted.empty() ? identity->ca_pem : trusted, false}, "tester");
  spawn(io.get_executor(), send_and_stop(link, exchanges, io));
  io.run_for(std::chrono::seconds(20));
  return exchanges;
}

TEST(ArmServer, AnswersSeveralRequestsOverOneConnection) {
  const auto done = converse({{make_request("PUT", kGroupTarget, R"({"location":"we"})")},
                              {make_request("GET", kGroupTarget)},
                              {make_request("GET", "/__sim/report")}});
  ASSERT_TRUE(done[2].answer.ok());
  EXPECT_EQ(done[0].answer->head.status, 201);
  EXPECT_EQ(body_of(*done[1].answer)["name"], "g1");
  EXPECT_EQ(body_of(*done[2].answer)["requests"], 2);
}

TEST(ArmServer, DroppedAnswerIsAResetAndTheWriteWasApplied) {
  const auto done = converse({{make_request("PUT", kGroupTarget, R"({"location":"we"})", {{"x-sim-fault", "drop-after"}})},
                              {make_request("GET", kGroupTarget)}});
  ASSERT_FALSE(done[0].answer.ok());
  EXPECT_EQ(done[0].answer.error().kind, ErrorKind::Reset);
  ASSERT_TRUE(done[1].answer.ok());
  EXPECT_EQ(done[1].answer->head.status, 200);
}

TEST(ArmServer, ClientThatTrustsAnotherAuthorityRefusesIt) {
  const Result<ServerIdentity> other = make_server_identity(RealClock().wall());
  const auto done = converse({{make_request("GET", kGroupTarget)}}, other->ca_pem);
  ASSERT_FALSE(done[0].answer.ok());
  EXPECT_EQ(done[0].answer.error().kind, ErrorKind::Untrusted);
}

}  // namespace
}  // namespace armgate::sim
