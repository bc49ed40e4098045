#include "base/check.h"
#include "rules/rule_file.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {

void fuzz_one(std::string_view input) {
  rules::FaultList faults;
  const auto rules = rules::read_rules("fuzz.json", input, faults);
  for (const auto& rule : rules) GATE_CHECK(rule.place.line >= 0, "a rule knows its line");
}

}  // namespace armgate::fuzz
