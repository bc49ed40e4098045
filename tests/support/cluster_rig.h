// cluster_rig.h – two processes that serve as one, on a simulated log that loses nothing until the test cuts one off, and an ARM that
// follows a script.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "proxy/async/spawn.h"
#include "tests/support/stage_rig.h"
#include "tests/support/world/gate.h"

namespace armgate::world {

class ClusterRig {
 public:
  struct Asked {
    std::shared_ptr<SimLink> link;
    bool done = false;
    Receipt receipt;
  };

  explicit ClusterRig(const std::shared_ptr<const rules::Ruleset>& rules = shipped_ruleset(),
                      const PipelineOptions& pipeline = StageRig::default_options()) {
    for (auto& gate : gates) {
      GateOptions options;
      options.pipeline = pipeline;
      options.rules = rules;
      options.log = &log;
      gate = std::make_unique<Gate>(std::move(options), clock, upstream, loop.get_executor(), Gate::Voice{});
    }
    pass(std::chrono::seconds(1));
  }

  std::shared_ptr<Asked> start(size_t process, const std::string& client, const std::string& what, std::string body = {},
                               arm::Headers fields = {}) {
    auto asked = std::make_shared<Asked>();
    Gate& gate = *gates[process];
    asked->link = std::make_shared<SimLink>(clock, loop.get_executor());
    Exchange& exchange = asked->link->exchange;
    begin_exchange(exchange, client, what, std::move(body), std::move(fields), gate.clock().next_moment());
    exchange.from = {++connections_, client, "127.0.0.1"};
    exchange.executor = loop.get_executor();
    spawn(loop.get_executor(), serve(gate, asked));
    return asked;
  }
  arm::Response end_of(const std::shared_ptr<Asked>& asked) {
    while (!asked->done) {
      if (!clock.step()) break;
    }
    EXPECT_TRUE(asked->done);
    asked->receipt.confirm();
    return asked->link->answer();
  }
  arm::Response ask(size_t process, const std::string& client, const std::string& what, std::string body = {}) {
    return end_of(start(process, client, what, std::move(body)));
  }
  void arm(std::string expected, int status, arm::Headers fields = {}, std::string body = {}, Duration takes = {}) {
    upstream.steps.push_back({std::move(expected), status, std::move(fields), std::move(body), {}, {}, takes});
  }
  void pass(Duration time) {
    bool over = false;
    clock.at(clock.now() + time, [&over] { over = true; });
    while (!over && clock.step()) {
    }
    clock.settle();
  }

  boost::asio::io_context loop{1};
  SimClock clock{loop, 1};
  SimLog log{clock, {.way_max = std::chrono::milliseconds(5), .lost_reply = 0, .lost_signal = 1}, 1};
  ScriptedUpstream upstream{clock};
  std::array<std::unique_ptr<Gate>, 2> gates;

 private:
  static Task<void> serve(Gate& gate, std::shared_ptr<Asked> asked) {
    asked->receipt = co_await gate.serve(asked->link);
    asked->done = true;
  }

  uint64_t connections_ = 0;
};

}  // namespace armgate::world
