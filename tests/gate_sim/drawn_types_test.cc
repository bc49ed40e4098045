// Goal: types that nobody has described are protected and never in the way. Method: fifty of them, drawn by lot (drawn_types.txt), in
// a simulated ARM that adds members of its own, fills in defaults and spells ids in its own way: who is alone is never refused, and of
// two named writers nothing is lost.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <ostream>
#include <sstream>

#include "base/source_tree.h"
#include "base/text.h"
#include "tests/gate_sim/workloads/cast.h"
#include "tests/gate_sim/workloads/loops.h"
#include "tests/gate_sim/workloads/world_rules.h"

namespace armgate::world {
namespace {

using std::chrono::milliseconds;

constexpr int kRounds = 8;

struct DrawnType {
  std::string type;
  std::string api_version;
  std::string belongs_to;
};

std::vector<DrawnType> drawn_types() {
  std::ifstream file(source_path("tests/gate_sim/drawn_types.txt"));
  std::vector<DrawnType> all;
  for (std::string line; std::getline(file, line);) {
    DrawnType one;
    if (!line.starts_with("#")) std::istringstream(line) >> one.type >> one.api_version >> one.belongs_to;
    if (!one.type.empty()) all.push_back(std::move(one));
  }
  return all;
}

void PrintTo(const DrawnType& drawn, std::ostream* out) { *out << drawn.type; }

// What the type stands below must be there before it, the outermost first; itself comes last.
std::vector<Subject> chain_of(const DrawnType& drawn) {
  std::string path(arm::path_of(group_target()));
  const std::string initial = R"({"location":"westeurope","properties":{"planId":")" + path + R"(/Plans/Mine"}})";
  std::vector<Subject> chain;
  const auto add = [&] {
    const ChangeKind change = chain.empty() ? ChangeKind::AddTag : ChangeKind::MarkChild;
    chain.push_back({fmt::format("{}?api-version={}", path, drawn.api_version), initial, change});
  };
  if (drawn.belongs_to == "resource") {
    path += "/providers/Microsoft.Example/widgets/owner";
    add();
  }
  std::istringstream words(drawn.type);
  std::string word;
  std::getline(words, word, '/');
  path += "/providers/" + word;
  while (std::getline(words, word, '/')) {
    path += fmt::format("/{}/{}", word, chain.empty() ? "Mine" : "default");
    add();
  }
  return chain;
}

struct Told {
  std::map<std::string, uint64_t> tally;
  std::vector<Violation> violations;
};

Told run_loops(const DrawnType& drawn, int clients, uint64_t seed, std::vector<rules::Rule> rules = world_rules()) {
  WorldOptions options;
  options.seed = seed;
  options.rules = std::move(rules);
  options.errors = world_errors();
  options.liveness = Liveness::Forbidden;
  options.network.delay_max = milliseconds(15);
  options.arm.operation = milliseconds(300);
  if (seed % 2 == 0) options.arm.operation_by_type[lower_text(drawn.type)] = milliseconds(200);
  SimWorld world(std::move(options));
  const auto chain = chain_of(drawn);
  for (const Subject& subject : chain) prepare(world, subject);
  for (int i = 0; i < clients; ++i) {
    const std::string name = fmt::format("client{}", i);
    Habits habits = loop_habits(world);
    habits.known_by = Habits::KnownBy::Name;
    Loop how;
    how.rounds = kRounds;
    how.follows = seed % 3 == 0 ? 0 : 1;
    how.lists = 0.2;
    world.add_client(name, loop(client_of(world, name, name, habits), chain.back(), how));
  }
  world.run();
  return {world.tally(), world.checkers().violations()};
}

class DrawnTypes : public testing::TestWithParam<DrawnType> {};

TEST_P(DrawnTypes, ALoopThatIsAloneIsNeverRefused) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Told told = run_loops(GetParam(), 1, seed);
    for (const Violation& violation : told.violations)
      ADD_FAILURE() << seed << " " << violation.promise << ": " << violation.what;
    EXPECT_EQ(told.tally.at("changes done"), kRounds) << seed;
    EXPECT_EQ(told.tally.count("PUT 412"), 0u) << seed;
    EXPECT_EQ(told.tally.count("PUT 503"), 0u) << seed;
  }
}

TEST_P(DrawnTypes, TwoNamedWritersLoseNothing) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Told told = run_loops(GetParam(), 2, seed);
    for (const Violation& violation : told.violations)
      ADD_FAILURE() << seed << " " << violation.promise << ": " << violation.what;
    EXPECT_EQ(told.tally.at("changes done"), 2 * kRounds) << seed;
  }
}

std::string test_name(const testing::TestParamInfo<DrawnType>& info) {
  std::string name = info.param.type;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '.'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(GateSim, DrawnTypes, testing::ValuesIn(drawn_types()), test_name);

// A list that cannot be read would be fifty tests less.
TEST(DrawnTypesFile, HasFiftyTypes) { EXPECT_EQ(drawn_types().size(), 50u); }

TEST(DrawnTypesFile, WithoutRulesWritesAreLost) { EXPECT_FALSE(run_loops(drawn_types().front(), 2, 1, {}).violations.empty()); }

}  // namespace
}  // namespace armgate::world
