// Configuration files: whatever stands in one, it is read or refused with faults that name a place.
#include "base/check.h"
#include "proxy/config/config.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {

void fuzz_one(std::string_view input) {
  static const Surroundings kSurroundings{.home = "/home/u", .shipped_rules = "/usr/share/armgate/rules"};
  const LoadedConfig loaded = parse_config("/etc/armgate/armgate.json", input, kSurroundings);
  for (const rules::Fault& fault : loaded.faults) {
    GATE_CHECK(!fault.file.empty() && !fault.message.empty(), "a fault says where and what");
    GATE_CHECK(fault.line >= 0, "a fault knows its line");
  }
  if (!loaded.faults.empty()) return;
  const Config& config = loaded.config;
  GATE_CHECK(config.queue.wait_max >= Duration{} && config.limits.head_bytes > 0, "what is accepted is within its bounds");
  GATE_CHECK(config.queue.waiters_per_key <= config.queue.waiters_total, "what is accepted fits together");
}

}  // namespace armgate::fuzz
