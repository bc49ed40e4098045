// Goal: the laws of getting through (docs/design.md, "Getting through"), for each kind of client, judged by the clients' own
// knowledge.
// Method: loops of modelled clients in many random orders; the bounds are those of the law, not of a run.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/rng.h"
#include "tests/proxy/policy/gate_actors.h"

namespace armgate::policy {
namespace {

using std::chrono::seconds;

constexpr int kSeeds = 40;
const std::vector<Actors> kKinds{Actors::Single, Actors::Unknown, Actors::Many};

struct Loop {
  const char* name;
  std::vector<std::string> ops;
  int most_in_a_row_of_unknown;  // refusals, of a lone client
};

std::vector<Loop> loops() {
  std::vector<Loop> all{{"counts", {}, 0}, {"adds", {}, 0}, {"takes back", {}, 2}, {"sets back", {}, 2}};
  for (int i = 0; i < 12; ++i) {
    all[0].ops.push_back("inc");
    all[1].ops.push_back("+t" + std::to_string(i));
    all[2].ops.push_back(i % 2 == 0 ? "-a" : "+a");
    all[3].ops.push_back(i % 2 == 0 ? "=10" : "=11");
  }
  return all;
}

template <class Check>
void each_lone_loop(Actors kind, const Disturbances& disturbances, Check check) {
  for (const Loop& loop : loops()) {
    for (const Habit habit : {Habit::Get, Habit::Chain, Habit::Poll}) {
      for (const bool etags : {true, false}) {
        for (uint64_t seed = 0; seed < kSeeds; ++seed) {
          Rng rng(seed);
          Disturbances left = disturbances;
          left.ids = seed % 3 == 0;
          GateActors actors({kind, etags}, {{'A', loop.ops, habit}}, left);
          actors.run([&](size_t width) { return rng.below(width); }, 200);
          SCOPED_TRACE(std::string(loop.name) + ", " + std::string(to_text(kind)) + (etags ? "" : ", no ETags") + ": " +
                       actors.log());
          check(loop, actors.counts());
        }
      }
    }
  }
}

Disturbances by_the_service() {
  Disturbances some;
  some.service = 3;
  return some;
}

TEST(GateLaws, L1_WhoIsDeclaredSingleAndAloneIsNeverRefused) {
  each_lone_loop(Actors::Single, by_the_service(), [](const Loop&, const Counts& counts) {
    ASSERT_EQ(counts.refused, 0);
    ASSERT_GT(counts.writes, 8);
  });
}

TEST(GateLaws, L1_NorIfReadsAndAnswersGetLost) {
  Disturbances some = by_the_service();
  some.losses = 3;
  each_lone_loop(Actors::Single, some, [](const Loop&, const Counts& counts) {
    ASSERT_EQ(counts.refused, 0);
    ASSERT_EQ(counts.lost + counts.twice + counts.not_done, 0);
  });
}

TEST(GateLaws, L1_ALoneUnknownIsRefusedForTakingBackAlone) {
  each_lone_loop(Actors::Unknown, by_the_service(), [](const Loop& loop, const Counts& counts) {
    ASSERT_LE(counts.most_in_a_row, loop.most_in_a_row_of_unknown);
    ASSERT_EQ(counts.lost + counts.twice + counts.not_done, 0);
  });
}

TEST(GateLaws, L1_LostReadsCostALoneUnknownNothing) {
  for (const char* op : {"inc", "+t"}) {
    for (const bool etags : {true, false}) {
      GateModel gate({Actors::Unknown, etags});
      Content view;
      for (int i = 0; i < 12; ++i) {
        gate.tick();
        gate.read('A', Link::Breaks);
        view = *gate.read('A', Link::Holds);
        gate.read('A', Link::Holds);  // its answer was never looked at
        const auto wanted = apply_op(op[0] == '+' ? op + std::to_string(i) : op, view);
        ASSERT_TRUE(gate.process(gate.arrive('A', wanted), Link::Holds).done) << op << i << etags;
      }
    }
  }
}

// Of `many` a changed leaf is refused until think_max after the older state was superseded, and not longer.
TEST(GateLaws, L2_WhatManyWereShownIsOverAfterThinkMax) {
  for (const bool etags : {true, false}) {
    GateModel gate({Actors::Many, etags, seconds(60)});
    for (int i = 0; i < 5; ++i) {
      const Content wanted = apply_op("inc", *gate.read('A', Link::Holds));
      EXPECT_TRUE(gate.process(gate.arrive('A', wanted), Link::Holds).done) << i;
      const Content next = apply_op("inc", *gate.read('A', Link::Holds));
      EXPECT_FALSE(gate.process(gate.arrive('A', next), Link::Holds).done) << i;
      for (int s = 0; s < 62; ++s) gate.tick();
    }
  }
}

struct Upset {
  const char* name;
  std::function<void(GateModel&)> happens;
};

// Reads and writes until it gets through.
void write_by(GateModel& gate, char client, const std::string& op, Link link = Link::Holds) {
  for (int tries = 0; tries < 5; ++tries) {
    gate.tick();
    const Content wanted = apply_op(op, *gate.read(client, Link::Holds));
    if (gate.process(gate.arrive(client, wanted), link).done) return;
  }
  ADD_FAILURE() << client << " does not get through with " << op;
}

// What may happen between a client's first read and its write.
std::vector<Upset> upsets() {
  return {
      {"another's write", [](GateModel& g) { write_by(g, 'B', "inc"); }},
      {"another's, whose answer broke", [](GateModel& g) { write_by(g, 'B', "inc", Link::Breaks); }},
      {"a change around", [](GateModel& g) { g.around(apply_op("inc", *g.there())); }},
      {"there and back by others",
       [](GateModel& g) {
         write_by(g, 'B', "inc");
         write_by(g, 'B', "=5");
       }},
      {"there and back around",
       [](GateModel& g) {
         g.around(apply_op("inc", *g.there()));
         g.around(Content{});
       }},
      {"there and back around, both seen by another",
       [](GateModel& g) {
         g.around(apply_op("inc", *g.there()));
         g.read('B', Link::Holds);
         g.around(Content{});
         g.read('B', Link::Holds);
       }},
      {"there and back around, both seen by the client itself",
       [](GateModel& g) {
         g.around(apply_op("inc", *g.there()));
         g.read('A', Link::Holds);
         g.around(Content{});
         g.read('A', Link::Holds);
       }},
      {"deleted and made anew",
       [](GateModel& g) {
         g.around(std::nullopt);
         g.around(Content{});
       }},
      {"deleted, read by another, and made anew",
       [](GateModel& g) {
         g.around(std::nullopt);
         g.read('B', Link::Holds);
         g.around(Content{});
       }},
      {"a 404 that lacks another's create",
       [](GateModel& g) {
         g.around(std::nullopt);
         g.read('B', Link::Holds);
         g.process(g.arrive('B', Content{}), Link::Holds);
         g.read('C', Link::Holds, GateModel::Reads::Lagging);
       }},
      {"a restart after another's write",
       [](GateModel& g) {
         write_by(g, 'B', "inc");
         g.restart();
       }},
      {"a read that lacks another's write",
       [](GateModel& g) {
         write_by(g, 'B', "+b");
         g.read('A', Link::Holds, GateModel::Reads::Lagging);
       }},
      {"the service's", [](GateModel& g) { g.around(*g.there()); }},
  };
}

// Whatever came between: who is refused and reads again gets through as long as nothing else happens, at the third try at the latest.
TEST(GateLaws, L3_WhoReadsAgainGetsThrough) {
  for (const Actors kind : {Actors::Single, Actors::Unknown}) {
    for (const bool etags : {true, false}) {
      for (const Upset& upset : upsets()) {
        for (const char* op : {"inc", "+x", "-a", "=9"}) {
          GateModel gate({kind, etags});
          Content view = *gate.read('A', Link::Holds);
          upset.happens(gate);
          bool done = gate.process(gate.arrive('A', apply_op(op, view)), Link::Holds).done;
          int refusals = 0;
          while (!done && refusals < 4) {
            ++refusals;
            gate.tick();
            view = *gate.read('A', Link::Holds);
            done = gate.process(gate.arrive('A', apply_op(op, view)), Link::Holds).done;
          }
          EXPECT_LE(refusals, kind == Actors::Single ? 1 : 2)
              << upset.name << ", " << op << ", " << to_text(kind) << (etags ? "" : ", no ETags");
        }
      }
    }
  }
}

// The same, while the service writes between each read and the write.
TEST(GateLaws, L3_TheServicesOwnWritesTakeNobodysRight) {
  for (const Actors kind : {Actors::Single, Actors::Unknown}) {
    for (const bool etags : {true, false}) {
      for (const char* op : {"inc", "-a"}) {
        GateModel gate({kind, etags});
        for (const char* before : {"-a", "+a", "=6", "=5"}) write_by(gate, 'A', before);
        bool done = false;
        int tries = 0;
        while (!done && ++tries < 6) {
          gate.tick();
          const Content view = *gate.read('A', Link::Holds);
          gate.around(*gate.there());
          gate.read('B', Link::Holds);
          done = gate.process(gate.arrive('A', apply_op(op, view)), Link::Holds).done;
        }
        EXPECT_LE(tries, 3) << op << ", " << to_text(kind) << (etags ? "" : ", no ETags");
      }
    }
  }
}

}  // namespace
}  // namespace armgate::policy
