#include "arm/identity.h"
#include "base/check.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {

void fuzz_one(std::string_view input) {
  if (const auto claims = arm::claims_of(input)) GATE_CHECK(!claims->principal.empty(), "claims name a principal");
  if (const auto user = arm::basic_user(input)) GATE_CHECK(!user->empty(), "a user has a name");
}

}  // namespace armgate::fuzz
