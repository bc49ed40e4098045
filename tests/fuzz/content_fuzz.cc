// Comparing contents: whatever the texts, the questions agree with each other. The input is two JSON texts with a NUL between them.
#include "arm/body/content.h"
#include "arm/long_running.h"
#include "base/check.h"
#include "json/scan.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {

void fuzz_one(std::string_view input) {
  const size_t cut = input.find('\0');
  const std::string_view a = input.substr(0, cut);
  const std::string_view b = cut == std::string_view::npos ? a : input.substr(cut + 1);
  static const arm::BodyFacts kFacts;
  const bool same = arm::same_writable_content(a, b, kFacts);
  GATE_CHECK(same == arm::same_writable_content(b, a, kFacts), "sameness is symmetric");
  GATE_CHECK(same == arm::changed_pointers(a, b, kFacts, 10).empty(), "equal contents differ nowhere");
  (void)arm::satisfies(a, b, kFacts);
  (void)list_items(a);
  (void)arm::provisioning_state(a);
}

}  // namespace armgate::fuzz
