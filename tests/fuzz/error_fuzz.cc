#include "arm/arm_error.h"
#include "arm/throttle.h"
#include "base/check.h"
#include "proxy/policy/error_class.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {

void fuzz_one(std::string_view input) {
  const auto error = arm::parse_error(input);
  for (const int status : {404, 409, 412, 429}) {
    arm::ResponseHead head;
    head.status = status;
    (void)policy::classify_error(head, input, WallTime{});
  }
  (void)arm::retry_hint_in_message(input);
  const auto made = arm::parse_error(arm::error_body("ArmgateTest", input, input));
  GATE_CHECK(made && made->code == "ArmgateTest", "our own errors read as errors, whatever text is in them");
  (void)error;
}

}  // namespace armgate::fuzz
