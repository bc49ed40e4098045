#include "base/check.h"
#include "rules/file/rule_file.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {

void fuzz_one(std::string_view input) {
  rules::FaultList faults;
  const auto book = rules::read_rule_book("fuzz.json", input, faults);
  for (const auto& rule : book.rules) GATE_CHECK(rule.place.line >= 0, "a rule knows its line");
  for (const auto& rule : book.errors) GATE_CHECK(rule.place.line >= 0, "an entry knows its line");
}

}  // namespace armgate::fuzz
