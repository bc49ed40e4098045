#include "base/check.h"
#include "json/select.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {

// The first line is a pointer, the rest a body.
void fuzz_one(std::string_view input) {
  const size_t line = input.find('\n');
  const std::string pointer(input.substr(0, line));
  const auto body = line == input.npos ? std::string_view() : input.substr(line + 1);
  const auto found = StringSelection({pointer, "/properties/*/id"}).in(body);
  if (found.empty()) return;
  GATE_CHECK(found.size() == 2, "every pointer has its answer");
  GATE_CHECK(!found[0].empty() || !found[1].empty(), "who finds nothing says nothing");
  for (const auto& text : found[0]) GATE_CHECK(text.size() <= body.size(), "what is selected stands in the body");
}

}  // namespace armgate::fuzz
