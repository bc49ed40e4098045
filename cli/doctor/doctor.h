// doctor.h – `armgate doctor`: does a set-up work for the tools of this shell, and what is to be done if it does not.
//
// Why: "it does not work" has a dozen causes between a tool and ARM: a variable that is missing, a certificate that one runtime
// does not look at, a service that is not there, a company's proxy. Each is looked at from where a tool stands, with the tool's
// own runtime, and told with its remedy. Nothing is changed, and nothing is asked of ARM that needs a token.
// Threads   one; the command line's.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/doctor/ask_through.h"
#include "cli/doctor/runtimes.h"
#include "proxy/config/config.h"
#include "proxy/config/tool_environment.h"

namespace armgate {

enum class Health { Good, Warning, Failed, Skipped };

struct Finding {
  std::string check;  // "proxy", "curl", ...
  Health health = Health::Good;
  std::string text;
  std::string remedy{};  // of a warning or a failure
};

// What it looks at; main.cc has the real one.
struct DoctorWorld {
  Environment environment;
  WallTime now;
  std::function<bool(const std::string& address)> somebody_listens;
  std::function<Result<std::string>(const Config&)> status;                   // of the service, JSON
  std::function<Result<ProxiedAnswer>(const ProxiedQuestion& question)> ask;  // through the proxy
  std::function<RuntimeVerdict(const Runtime&, const RuntimeQuestion&)> try_runtime;
};

// In the order from the configuration to the tools. What cannot be looked at because of an earlier failure is Skipped.
std::vector<Finding> examine(const Config& config, const DoctorWorld& world);

// Whether nothing failed.
bool is_well(const std::vector<Finding>& findings);

std::string findings_text(const std::vector<Finding>& findings);
std::string findings_json(const std::vector<Finding>& findings);

}  // namespace armgate
