#include "arm/etag.h"
#include "base/check.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {

void fuzz_one(std::string_view input) {
  const auto etag = arm::etag_in_body(input);
  if (!etag) return;
  GATE_CHECK(!etag->empty(), "an empty ETag is none");
  for (const char c : *etag) GATE_CHECK(c != '\r' && c != '\n' && c != '\0', "an ETag never breaks a header");
}

}  // namespace armgate::fuzz
