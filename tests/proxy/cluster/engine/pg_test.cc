// Connections to servers that are silent, that are standbys, and that answer: of PostgreSQL's protocol no more than that takes.
#include "proxy/cluster/engine/pg.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "proxy/seams/real_clock.h"

namespace armgate::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string number(size_t value, int bytes) {
  std::string all;
  for (int i = bytes - 1; i >= 0; --i) all.push_back(static_cast<char>(value >> (8 * i)));
  return all;
}

std::string message(char type, const std::string& text) { return type + number(text.size() + 4, 4) + text; }
std::string parameter(const std::string& name, const std::string& value) { return message('S', name + '\0' + value + '\0'); }

// An answer of one row of texts.
std::string row_of(const std::vector<std::string>& values) {
  std::string columns = number(values.size(), 2);
  std::string row = columns;
  for (const std::string& value : values) {
    columns += std::string("x\0", 2) + number(0, 6) + number(25, 4) + number(0xffff, 2) + number(0, 6);
    row += number(value.size(), 4) + value;
  }
  return message('T', columns) + message('D', row) + message('C', std::string("SELECT 1\0", 9));
}

// Greets whoever comes, says what it is, and answers one statement with "off" after a pause.
class Speaker {
 public:
  enum class Kind { Silent, Standby, Primary };
  struct Manner {
    milliseconds pause{0};
    int timeline = 1;
    std::string begun = "now";
    std::string warned_by{};  // the function that warns before each answer; empty: none does
    bool reads_slowly = false;
    std::string version = "15.0";
  };
  explicit Speaker(Kind kind) : Speaker(kind, Manner{}) {}
  Speaker(Kind kind, Manner manner) : kind_(kind), manner_(std::move(manner)), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (manner_.reads_slowly) {
      const int bytes = 64 << 10;
      setsockopt(listener_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    }
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
  std::string answer_to(char asked) const {
    const std::string ready = message('Z', "I");
    const auto field = [](char name, const std::string& value) { return name + value + '\0'; };
    if (asked == 'Q')
      return row_of(
                 {kind_ == Kind::Primary ? "t" : "f", std::to_string(manner_.timeline), "4711", manner_.begun, "1 since now"}) +
             ready;
    std::string warning;
    if (!manner_.warned_by.empty()) {
      warning = message('N', field('S', "WARNUNG") + field('V', "WARNING") + field('C', "01000") + field('M', "abgebrochen") +
                                 field('R', manner_.warned_by) + '\0');
    }
    return message('1', "") + message('2', "") + warning + row_of({"off"}) + ready;
  }

  void speak() {
    const int client = accept(listener_, nullptr, nullptr);
    if (client < 0) return;
    std::string heard(64 << 10, '\0');
    while (recv(client, heard.data(), heard.size(), 0) > 0) {
      const bool is_first = std::exchange(is_first_, false);
      const bool is_asked = !is_first && (heard.front() == 'P' || heard.front() == 'Q');
      if (manner_.reads_slowly) poll(nullptr, 0, 1);
      if (!is_first && !is_asked) continue;
      if (heard.front() == 'P') poll(nullptr, 0, static_cast<int>(manner_.pause.count()));
      const std::string said = is_first ? message('R', std::string(4, '\0')) + parameter("client_encoding", "UTF8") +
                                              parameter("server_version", manner_.version) + message('Z', "I")
                                        : answer_to(heard.front());
      send(client, said.data(), said.size(), MSG_NOSIGNAL);
    }
    close(client);
  }

  const Kind kind_;
  const Manner manner_;
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
  const Speaker slow(Speaker::Kind::Primary, {.pause = milliseconds(400)});
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

TEST(PgConnection, OfServersThatTakeWritesTheOneThatWasPromotedLastIsTaken) {
  const auto timeline_of = [](int first, int second, const std::optional<Primary>& known) {
    const Speaker one(Speaker::Kind::Primary, {.timeline = first, .begun = "yesterday"});
    const Speaker other(Speaker::Kind::Primary, {.timeline = second, .begun = "today"});
    const auto opened = PgConnection::open(url_of(one, other), seconds(2), PgConnection::For::Writing, known);
    return opened ? opened->primary()->timeline : int64_t{-1};
  };
  EXPECT_EQ(timeline_of(1, 2, {}), 2);
  EXPECT_EQ(timeline_of(2, 1, {}), 2);
  EXPECT_EQ(timeline_of(2, 2, {}), -1) << "nobody knows which one it is";
  EXPECT_EQ(timeline_of(2, 3, Primary{"seen", "4711", 3, "before"}), 3);
  EXPECT_EQ(timeline_of(1, 2, Primary{"seen", "4711", 3, "before"}), -1) << "both are old";
  EXPECT_EQ(timeline_of(1, 2, Primary{"seen", "another system", 3, "before"}), 2);
}

TEST(PgConnection, AllServersAreAskedWhetherTheyTakeWrites) {
  const Speaker one(Speaker::Kind::Primary, {.timeline = 1, .begun = "yesterday"});
  const Speaker other(Speaker::Kind::Primary, {.timeline = 2, .begun = "today"});
  const auto found = PgConnection::primaries(url_of(one, other), seconds(2));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].system, "4711");
  EXPECT_TRUE(rivals_among(found));
}

TEST(PgConnection, ACommitThatNoStandbyHasIsToldInAnyLanguage) {
  const auto run_with = [](const std::string& function) {
    const Speaker speaker(Speaker::Kind::Primary, {.warned_by = function});
    auto opened = PgConnection::open(url_of(speaker), seconds(2));
    return opened && opened->run("select 1", {}, seconds(2));
  };
  EXPECT_FALSE(run_with("SyncRepWaitForLSN"));
  EXPECT_TRUE(run_with("DropErrorMsgNonExistent")) << "another warning";
}

TEST(PgConnection, AServerThatIsTooOldIsRefusedByName) {
  const Speaker old(Speaker::Kind::Primary, {.version = "13.9"});
  const auto opened = PgConnection::open(url_of(old), seconds(2));
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().context.find("is PostgreSQL 13, and armgate needs 14 or later"), std::string::npos)
      << opened.error().context;
}

TEST(PgConnection, WhatLeavesSlowlyIsNotGivenUpAsLongAsItMoves) {
  const Speaker slow(Speaker::Kind::Primary, {.reads_slowly = true});
  auto opened = PgConnection::open(url_of(slow), seconds(2));
  ASSERT_TRUE(opened) << opened.error().context;
  const auto answered = opened->run("select $1", {pg_bytes(std::string(32 << 20, 'x'))}, milliseconds(20));
  EXPECT_TRUE(answered) << answered.error().context;
}

}  // namespace
}  // namespace armgate::cluster
