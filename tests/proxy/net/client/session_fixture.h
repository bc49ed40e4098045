// session_fixture.h – a session whose handler answers by the request's path and notes what becomes of its receipts.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "proxy/net/client/body_room.h"
#include "proxy/net/client/session.h"
#include "proxy/net/socket/plain_stream.h"
#include "tests/proxy/net/net_test_support.h"

namespace armgate::net {

class Ledger : public Receipt::Effect {
 public:
  Ledger(std::vector<std::string>& log, std::string name) : log_(log), name_(std::move(name)) {}
  void confirm() override { log_.push_back("confirm " + name_); }
  void drop() override { log_.push_back("drop " + name_); }

 private:
  std::vector<std::string>& log_;
  const std::string name_;
};

class SessionFixture : public NetTest {
 protected:
  SessionFixture() {
    handler_ = [this](Exchange& exchange, ClientLink& link) { return answer(*this, exchange, link); };
  }
  ~SessionFixture() override {
    if (!running_) return;
    session_->abort();
    run_until([this] { return ended_; });
  }
  void make_session(std::unique_ptr<ByteStream> stream) {
    session_ = std::make_unique<Session>(
        std::move(stream), SessionSetup{clock_, executor(), options_, handler_, events_, "arm.example.test", 443,
                                        http::LedBy::Tunnel, ConnectionIdentity{7, "user", "127.0.0.1"}, &bodies_});
  }
  void begin() {
    running_ = true;
    start(session_->run(), ended_);
  }
  static std::string get(const std::string& path, const std::string& more = {}) {
    return "GET " + path + " HTTP/1.1\r\nHost: arm.example.test\r\n" + more + "\r\n";
  }

  SessionOptions options_;
  BodyRoom bodies_{1 << 20};
  RequestHandler handler_;
  NetEventSink events_;
  bool running_ = false;
  bool ended_ = false;
  std::vector<arm::Request> seen_;
  std::vector<uint64_t> arrived_;
  std::vector<std::string> log_;
  uint32_t noticed_ = 0;
  std::unique_ptr<Session> session_;

 private:
  static Task<Receipt> answer(SessionFixture& test, Exchange& exchange, ClientLink& link) {
    test.seen_.push_back(exchange.request);
    test.arrived_.push_back(exchange.arrived.order);
    const std::string path = exchange.request.head.target;
    arm::ResponseHead head{path == "/204" ? 204 : path == "/304" ? 304 : 200, "OK", {}};
    Waiter waiter(exchange.executor);
    if (path.starts_with("/watch")) link.watch(&waiter, 4);
    if (path == "/watch") test.noticed_ = co_await waiter.wait();
    if (path == "/watch-briefly") co_await test.clock_.sleep_for(std::chrono::seconds(1));
    if (path != "/watch-to-the-end") link.watch(nullptr, 0);
    if (path == "/slow") co_await test.clock_.sleep_for(std::chrono::seconds(1));
    if (path == "/none") co_return Receipt{};
    const bool unknown = path == "/chunked" || path == "/cut";
    std::ignore = co_await link.write_head(
        head, unknown ? BodyLength{BodyLength::Kind::Unknown, 0} : BodyLength{BodyLength::Kind::Known, 5});
    std::ignore = co_await link.write_body("he");
    if (path == "/paused") co_await test.clock_.sleep_for(std::chrono::seconds(1));
    if (path == "/cut") co_return Receipt(std::make_unique<Ledger>(test.log_, path));
    std::ignore = co_await link.write_body("llo");
    std::ignore = co_await link.finish();
    if (path == "/watch-to-the-end") co_await test.clock_.sleep_for(std::chrono::seconds(1));
    link.watch(nullptr, 0);
    co_return Receipt(std::make_unique<Ledger>(test.log_, path));
  }
};

// A session without TLS, and the client's end of its connection.
class PlainSession : public SessionFixture {
 protected:
  PlainSession() {
    const auto [server, client] = make_tcp_pair();
    client_ = client;
    make_session(std::make_unique<PlainStream>(wrap(server)));
  }
  ~PlainSession() override {
    if (client_ >= 0) ::close(client_);
    client_ = -1;
  }
  void receive_until(const std::string& text) {
    run_until([&] {
      received_.take_from(client_);
      return received_.text.find(text) != std::string::npos;
    });
  }
  std::string ask(const std::string& request, const std::string& until = "\r\n\r\n") {
    received_.text.clear();
    if (!running_) begin();
    send_text(client_, request);
    receive_until(until);
    return received_.text;
  }

  int client_ = -1;
  Received received_;
};

}  // namespace armgate::net
