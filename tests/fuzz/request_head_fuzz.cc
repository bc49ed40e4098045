// What the gate lets through must be composed into a message that the gate reads as the same one.
#include "base/check.h"
#include "proxy/http/compose.h"
#include "proxy/http/head_parser.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/same_fields.h"

namespace armgate::fuzz {

void fuzz_one(std::string_view input) {
  const http::Limits limits;
  const auto end = http::find_head_end(input, 0);
  if (!end) return;
  const auto parsed = http::parse_request_head(input.substr(0, *end), limits);
  if (!parsed || parsed->head.method == arm::Method::Connect) return;
  arm::RequestHead head = parsed->head;
  head.host = "management.azure.com";
  std::string wire;
  const BodyLength length = http::body_length(parsed->framing);
  if (length.kind == BodyLength::Kind::Unknown) return;  // requests go on with a known length only
  const auto composed = http::compose_request(wire, head, length, "1.1 armgate");
  GATE_CHECK(composed.ok(), "what was accepted can be sent on");
  const auto again = http::parse_request_head(wire, limits);
  if (!again) {
    // Our own fields may push a head over the limits, nothing else may be wrong with it.
    GATE_CHECK(again.error().kind == ErrorKind::TooLarge, "what is sent on has one reading");
    return;
  }
  GATE_CHECK(again->head.method_token == head.method_token, "the method survives");
  GATE_CHECK(again->head.target == head.target, "the target survives byte for byte");
  GATE_CHECK(again->authority == "management.azure.com", "there is one Host, ours");
  auto passed = listed(head.fields);
  passed.push_back("Via\n1.1 armgate");
  GATE_CHECK(listed(again->head.fields) == passed, "every field survives, and nothing is added but Via");
}

}  // namespace armgate::fuzz
