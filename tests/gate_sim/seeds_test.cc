// What once failed stays mended, and a run is what its names say, whatever else there is.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/source_tree.h"
#include "tests/gate_sim/seed_file.h"

namespace armgate::world {
namespace {

const std::string kFile = source_path("tests/gate_sim/seeds.txt");

TEST(Seeds, WhatOnceFailedHolds) {
  std::ifstream file(kFile);
  ASSERT_TRUE(file) << kFile << " cannot be read";
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto lines = parse_seed_file(kFile, text);
  ASSERT_TRUE(lines.ok()) << lines.error().context;
  for (const SeedLine& line : *lines) {
    for (const Violation& violation : run_scenario(line.scenario).violations) {
      ADD_FAILURE() << kFile << ":" << line.line << ": again: " << line.sentence << "\n  " << violation.promise << ": "
                    << violation.what;
    }
  }
}

TEST(Seeds, WithItsNamesASeedIsTheRunThatItDrew) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Scenario drawn;
    drawn.seed = seed;
    const RunResult first = run_scenario(drawn);
    Scenario named = drawn;
    named.workload = first.workload;
    named.disturbances = first.disturbances;
    if (named.disturbances.empty()) named.disturbances = {"none"};
    EXPECT_EQ(run_scenario(named).hash, first.hash) << seed;
  }
}

TEST(Seeds, LinesAreReadWithTheirNames) {
  const auto lines =
      parse_seed_file("f", "# only a remark\n\n 12 tags lossy,slow-arm # an update was lost\n7 chains none #x\n");
  ASSERT_TRUE(lines.ok()) << lines.error().context;
  ASSERT_EQ(lines->size(), 2u);
  EXPECT_EQ((*lines)[0].scenario.seed, 12u);
  EXPECT_EQ((*lines)[0].scenario.workload, "tags");
  EXPECT_EQ((*lines)[0].scenario.disturbances, (std::vector<std::string>{"lossy", "slow-arm"}));
  EXPECT_EQ((*lines)[0].line, 3);
  EXPECT_EQ((*lines)[1].scenario.disturbances, std::vector<std::string>{"none"});
}

TEST(Seeds, FaultsNameTheFileAndTheLine) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"x tags none # s", "f:1: \"x\" is no seed"},
      {"\n12x tags none # s", "f:2: \"12x\" is no seed"},
      {"1 tag none # s", "f:1: there is no workload \"tag\"; known are tags, "},
      {"1 tags lossy,lossi # s", "f:1: there is no disturbance \"lossi\"; known are "},
      {"1 tags lossy, slow-arm # s", "f:1: there is no disturbance \"\""},
      {"1 tags # s", "f:1: there is no disturbance \"\""},
      {"1 tags none more # s", "f:1: \"more\" is too much"},
      {"1 tags none", "f:1: a sentence is missing"},
  };
  for (const auto& [text, error] : cases) {
    const auto lines = parse_seed_file("f", text);
    ASSERT_FALSE(lines.ok()) << text;
    EXPECT_TRUE(lines.error().context.starts_with(error)) << lines.error().context;
  }
}

}  // namespace
}  // namespace armgate::world
