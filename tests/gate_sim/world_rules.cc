#include "tests/gate_sim/world_rules.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/check.h"
#include "rules/rule_file.h"

namespace armgate::world {
namespace {

namespace fs = std::filesystem;

std::vector<rules::Rule> shipped_rules() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(ARMGATE_SOURCE_DIR) / "conf/rules")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<rules::Rule> all;
  rules::FaultList faults;
  for (const auto& file : files) {
    std::ifstream stream(file);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    auto more = rules::read_rules(file.filename().string(), text, faults);
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  GATE_CHECK(faults.empty() && !all.empty(), "the shipped rule files cannot be read");
  return all;
}

}  // namespace

const std::vector<rules::Rule>& world_rules() {
  static const std::vector<rules::Rule> rules = shipped_rules();
  return rules;
}

std::vector<rules::Rule> varied_rules(Rng& rng) {
  std::vector<rules::Rule> all = world_rules();
  for (rules::Rule& rule : all) {
    const bool has_parents = !rule.lock.parents.empty();
    if (has_parents && rng.chance(0.4)) rule.lock.parents.clear();
    if (!has_parents && rng.chance(0.3)) rule.lock.parents = {"*"};
    if (rng.chance(0.3)) rule.hold.max = std::chrono::minutes(10 + rng.below(50));
    if (rng.chance(0.3)) rule.busy.attempts = 2 + static_cast<int>(rng.below(20));
  }
  return all;
}

}  // namespace armgate::world
