// Connections to servers that are silent, that are standbys, and that answer: of PostgreSQL's protocol no more than that takes.
#include "proxy/cluster/engine/pg.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/check.h"
#include "proxy/seams/real_clock.h"

namespace armgate::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string message(char type, const std::string& text) {
  const auto length = static_cast<uint32_t>(text.size() + 4);
  std::string all(1, type);
  for (const int shift : {24, 16, 8, 0}) all.push_back(static_cast<char>(length >> shift));
  return all + text;
}
std::string parameter(const std::string& name, const std::string& value) { return message('S', name + '\0' + value + '\0'); }

// Greets whoever comes, and answers one statement with "off" after a pause.
class Speaker {
 public:
  enum class Kind { Silent, Standby, Primary };
  explicit Speaker(Kind kind, milliseconds pause = milliseconds(0))
      : kind_(kind), pause_(pause), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    GATE_CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&at), size) == 0, "there is a free port");
    GATE_CHECK(listen(listener_, 8) == 0, "a bound socket listens");
    getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    if (kind_ != Kind::Silent) thread_ = std::thread([this] { speak(); });
  }
  ~Speaker() {
    shutdown(listener_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    close(listener_);
  }
  Speaker(const Speaker&) = delete;
  Speaker& operator=(const Speaker&) = delete;
  uint16_t port() const { return port_; }

 private:
  void speak() {
    const int client = accept(listener_, nullptr, nullptr);
    if (client < 0) return;
    std::string heard(1024, '\0');
    while (recv(client, heard.data(), heard.size(), 0) > 0) {
      const bool is_first = std::exchange(is_first_, false);
      if (!is_first && heard.front() != 'P') continue;
      if (!is_first) poll(nullptr, 0, static_cast<int>(pause_.count()));
      const std::string ready = message('Z', "I");
      const std::string greeting = message('R', std::string(4, '\0')) + parameter("client_encoding", "UTF8") +
                                   parameter("server_version", "15.0") +
                                   parameter("in_hot_standby", kind_ == Kind::Standby ? "on" : "off") + ready;
      const std::string column =
          std::string("x\0", 2) + std::string(6, '\0') + std::string("\0\0\0\x19\xff\xff", 6) + std::string(6, '\0');
      const std::string answer = message('1', "") + message('2', "") + message('T', std::string("\0\1", 2) + column) +
                                 message('D', std::string("\0\1\0\0\0\3off", 9)) + message('C', std::string("SHOW\0", 5)) +
                                 ready;
      const std::string& said = is_first ? greeting : answer;
      send(client, said.data(), said.size(), MSG_NOSIGNAL);
    }
    close(client);
  }

  const Kind kind_;
  const milliseconds pause_;
  const int listener_;
  uint16_t port_ = 0;
  bool is_first_ = true;
  std::thread thread_;
};

std::string url_of(const Speaker& first, const Speaker& second) {
  return fmt::format("postgres://u@127.0.0.1:{},127.0.0.1:{}/x?sslmode=disable&gssencmode=disable&connect_timeout=2",
                     first.port(), second.port());
}
std::string url_of(const Speaker& one) {
  return fmt::format("postgres://u@127.0.0.1:{}/x?sslmode=disable&gssencmode=disable", one.port());
}

TEST(PgConnection, AServerThatIsSilentLeavesTimeForTheNext) {
  const Speaker silent(Speaker::Kind::Silent);
  const Speaker primary(Speaker::Kind::Primary);
  const TimePoint begun = RealClock().now();
  const auto opened = PgConnection::open(url_of(silent, primary), seconds(2));
  EXPECT_TRUE(opened) << opened.error().context;
  EXPECT_LT(RealClock().now() - begun, seconds(4));
}

TEST(PgConnection, WhatTheLibrarySaysInLinesWithTabsIsToldInOne) {
  const auto refused = PgConnection::open("postgres://u@127.0.0.1:1/x?sslmode=disable&gssencmode=disable", seconds(2));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context.find_first_of("\n\t"), std::string::npos) << refused.error().context;
  EXPECT_NE(refused.error().context.find("Connection refused Is the server running"), std::string::npos)
      << refused.error().context;
}

TEST(PgConnection, AStandbyIsPassedByAndTakenOnlyIfNobodyElseAnswers) {
  {
    const Speaker standby(Speaker::Kind::Standby);
    const Speaker primary(Speaker::Kind::Primary);
    EXPECT_TRUE(PgConnection::open(url_of(standby, primary), seconds(2)));
  }
  {
    const Speaker standby(Speaker::Kind::Standby);
    const auto refused = PgConnection::open(url_of(standby), seconds(2));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::Unreachable) << "one of them may be promoted just now";
    EXPECT_EQ(refused.error().context, kIsStandby);
  }
  const Speaker standby(Speaker::Kind::Standby);
  const Speaker silent(Speaker::Kind::Silent);
  EXPECT_TRUE(PgConnection::open(url_of(standby, silent), seconds(2), PgConnection::For::Anything));
}

TEST(PgConnection, AStatementThatIsNotAnsweredInTimeWaitsOn) {
  const Speaker slow(Speaker::Kind::Primary, milliseconds(400));
  auto opened = PgConnection::open(url_of(slow), seconds(2));
  ASSERT_TRUE(opened) << opened.error().context;
  const auto late = opened->run("select 1", {}, milliseconds(50));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::TimedOut);
  ASSERT_TRUE(opened->is_waiting()) << "its process at the engine waits on, so another connection would be one more";
  const auto answered = opened->wait_on(seconds(2));
  ASSERT_TRUE(answered) << answered.error().context;
  EXPECT_EQ(answered->text(0, 0), "off");
  EXPECT_FALSE(opened->is_waiting());
}

}  // namespace
}  // namespace armgate::cluster
