// run_heal.h – the repair in the real world: this machine's service, clock, signals and disk.
#pragma once

#include <iosfwd>

namespace armgate {
struct Config;
}  // namespace armgate

namespace armgate::heal {

struct HealRequest;

// A dry run unless it is confirmed. Progress and what was found go to `out`, faults to `err`. The exit code: 0 done, or nothing
// to do; 1 anything else.
int run_heal(const Config& config, const HealRequest& request, std::ostream& out, std::ostream& err);

}  // namespace armgate::heal
