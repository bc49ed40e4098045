#include "arm/arm_error.h"
#include "arm/throttle.h"
#include "base/check.h"
#include "proxy/policy/error_class.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {
namespace {

rules::ErrorTable table() {
  rules::ErrorRule busy;
  busy.kind = rules::ErrorClass::Dependency;
  busy.statuses = {404, 409, 429};
  busy.codes = {"AnotherOperationInProgress", "59203"};
  busy.message_any = {"in progress"};
  return rules::ErrorTable({busy});
}

}  // namespace

void fuzz_one(std::string_view input) {
  const auto error = arm::parse_error(input);
  for (const int status : {404, 409, 412, 429}) {
    arm::ResponseHead head;
    head.status = status;
    const auto facts = policy::classify_error(table(), head, input, rules::OwnPrecondition::Absent, WallTime{});
    GATE_CHECK(facts.kind == rules::ErrorClass::Final || error, "what is no error means nothing");
  }
  (void)arm::retry_hint_in_message(input);
  const auto made = arm::parse_error(arm::error_body("ArmgateTest", input, input));
  GATE_CHECK(made && made->code == "ArmgateTest", "our own errors read as errors, whatever text is in them");
}

}  // namespace armgate::fuzz
