// When a server has drained, and what each connection is told on the way.
#include "proxy/net/client/live_connections.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace armgate::net {
namespace {

class LiveConnectionsEnd : public testing::Test {
 protected:
  std::unique_ptr<LiveConnections::Slot> join(const std::string& name) {
    auto place = std::make_unique<LiveConnections::Slot>(all);
    place->enter(handles(name));
    return place;
  }
  LiveConnections::Handles handles(const std::string& name) {
    return {[this, name] { told += name + " drains "; }, [this, name] { told += name + " is cut "; },
            [this, name] { told += name + " waits no more "; }};
  }
  void drain() {
    all.drain([this] { told += "drained "; });
  }

  LiveConnections all;
  std::string told;
};

TEST_F(LiveConnectionsEnd, WithoutAnyItHasDrainedAtOnceAndOnce) {
  drain();
  EXPECT_EQ(told, "drained ");
  join("late").reset();
  EXPECT_EQ(told, "drained late drains ");
}

TEST_F(LiveConnectionsEnd, TheLastThatLeavesEndsTheDrain) {
  auto a = join("a"), b = join("b");
  drain();
  EXPECT_EQ(told, "a drains b drains ");
  a.reset();
  EXPECT_EQ(told, "a drains b drains ");
  b.reset();
  EXPECT_EQ(told, "a drains b drains drained ");
}

TEST_F(LiveConnectionsEnd, ATunnelIsNotWaitedForButCut) {
  auto tunnel = join("t"), other = join("o");
  tunnel->enter_tunnel([this] { told += "tunnel is cut "; });
  drain();
  EXPECT_EQ(told, "o drains ") << "a tunnel cannot be drained";
  other->enter_tunnel([this] { told += "other is cut "; });
  EXPECT_EQ(told, "o drains drained ");
  all.abort();
  EXPECT_EQ(told, "o drains drained tunnel is cut other is cut ");
}

TEST_F(LiveConnectionsEnd, APhaseThatBeginsLaterIsToldWhatItMissed) {
  auto a = join("a");
  a->leave_phase();
  drain();
  all.stop_waiting();
  EXPECT_EQ(told, "") << "what the handles refer to is gone";
  a->enter(handles("a again"));
  EXPECT_EQ(told, "a again drains a again waits no more ");
}

}  // namespace
}  // namespace armgate::net
