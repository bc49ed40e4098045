#include "tests/gate_sim/world_rules.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/check.h"
#include "base/source_tree.h"
#include "rules/rule_file.h"

namespace armgate::world {
namespace {

namespace fs = std::filesystem;

rules::RuleBook shipped_rules() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(source_path("conf/rules"))) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  rules::RuleBook all;
  rules::FaultList faults;
  for (const auto& file : files) {
    std::ifstream stream(file);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    all.add(rules::read_rule_book(file.filename().string(), text, faults));
  }
  GATE_CHECK(faults.empty() && !all.rules.empty() && !all.errors.empty(), "the shipped rule files cannot be read");
  return all;
}

const rules::RuleBook& shipped() {
  static const rules::RuleBook book = shipped_rules();
  return book;
}

}  // namespace

const std::vector<rules::Rule>& world_rules() { return shipped().rules; }

const std::vector<rules::ErrorRule>& world_errors() { return shipped().errors; }

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
