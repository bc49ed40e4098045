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
  for (const auto method : {arm::Method::Get, arm::Method::Head}) {
    const auto parsed = http::parse_response_head(input.substr(0, *end), limits, method);
    if (!parsed || parsed->is_interim()) continue;
    std::string wire;
    const auto composed =
        http::compose_response(wire, parsed->head, http::body_length(parsed->framing), http::Connection::Keep, 1);
    GATE_CHECK(composed.ok(), "what was accepted can be passed on");
    const auto again = http::parse_response_head(wire, limits, method);
    GATE_CHECK(again.ok() || again.error().kind == ErrorKind::TooLarge, "what is passed on has one reading");
    if (!again) continue;
    GATE_CHECK(again->head.status == parsed->head.status, "the status survives");
    GATE_CHECK(listed(again->head.fields) == listed(parsed->head.fields), "every field survives");
  }
}

}  // namespace armgate::fuzz
