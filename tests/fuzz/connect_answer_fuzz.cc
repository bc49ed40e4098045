#include "proxy/http/connect_answer.h"

#include "base/check.h"
#include "proxy/http/head_parser.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {

void fuzz_one(std::string_view input) {
  const auto end = http::find_head_end(input, 0);
  const auto answer = http::parse_connect_answer(input.substr(0, end.value_or(input.size())));
  if (!answer) return;
  GATE_CHECK(input.starts_with("HTTP/1."), "what is taken for an answer looks like one");
  GATE_CHECK(answer->status >= 100 && answer->status <= 999, "a status has three digits");
  for (const std::string& scheme : answer->schemes) {
    GATE_CHECK(scheme.find('\n') == scheme.npos && scheme.find('\x1b') == scheme.npos, "what is shown steers no terminal");
  }
}

}  // namespace armgate::fuzz
