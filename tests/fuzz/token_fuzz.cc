#include "arm/identity.h"
#include "base/check.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {

void fuzz_one(std::string_view input) {
  if (const auto claims = arm::claims_of(input)) GATE_CHECK(!claims->principal.empty(), "claims name a principal");
  const auto user = arm::basic_user(input);
  GATE_CHECK(user.name.empty() || !user.is_unusable, "a name that is taken can be used");
}

}  // namespace armgate::fuzz
