#include "arm/json_select.h"
#include "base/check.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {

// The first line is a pointer, the rest a body.
void fuzz_one(std::string_view input) {
  const size_t line = input.find('\n');
  const auto tokens = arm::pointer_tokens(input.substr(0, line));
  const auto body = line == input.npos ? std::string_view() : input.substr(line + 1);
  const auto found = arm::select_strings(body, {tokens, {"properties", "*", "id"}});
  GATE_CHECK(found.size() == 2, "every pointer has its answer");
  for (const auto& text : found[0]) GATE_CHECK(text.size() <= body.size(), "what is selected stands in the body");
}

}  // namespace armgate::fuzz
