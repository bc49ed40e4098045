// `armgate check`: every fault and every warning, for people or for a program.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "cli/check.h"
#include "cli/load.h"
#include "json/tree.h"
#include "proxy/gateway/parent.h"
#include "rules/overlap.h"

namespace armgate::commands {
namespace {

nlohmann::ordered_json faults_as_json(const rules::FaultList& faults) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const rules::Fault& fault : faults) {
    nlohmann::ordered_json one{{"file", fault.file}, {"message", fault.message}};
    if (fault.line > 0) one["line"] = fault.line;
    if (!fault.pointer.empty()) one["pointer"] = fault.pointer;
    all.push_back(std::move(one));
  }
  return all;
}

rules::FaultList warnings_of(const Config& config) {
  auto warnings = warnings_about_options(config);
  std::ranges::move(rules::warnings_about(config.rules), std::back_inserter(warnings));
  if (config.facts) std::ranges::move(rules::warnings_about(*config.facts), std::back_inserter(warnings));
  return warnings;
}

int check_as_json(LoadedConfig loaded, const CliContext& context) {
  nlohmann::ordered_json told{{"good", false}, {"configuration", source_text(loaded.config)}};
  rules::FaultList faults = std::move(loaded.faults);
  if (faults.empty()) {
    FileFindings files = look_at_files(loaded.config, context.wall);
    faults = std::move(files.faults);
    told["notices"] = faults_as_json(files.notices);
    told["warnings"] = faults_as_json(warnings_of(loaded.config));
    told["mode"] = rules::to_text(loaded.config.mode);
    told["proxy"] = loaded.config.listen.proxy;
    told["rules"] = loaded.config.rules.size();
  }
  told["good"] = faults.empty();
  told["faults"] = faults_as_json(faults);
  context.out << dump_json(told, 2) << "\n";
  return faults.empty() ? kExitDone : kExitBadInput;
}

}  // namespace

int check(const Asked& asked, const CliContext& context) {
  if (asked.output == "json") return check_as_json(load_with_flags(asked, context, RuleFiles::Prove), context);
  auto config = load_asked(asked, context, RuleFiles::Prove);
  if (!config) return kExitBadInput;
  context.err << adopt_environment_proxy(*config, context.environment);
  const FileFindings files = look_at_files(*config, context.wall);
  for (const rules::Fault& notice : files.notices) fmt::print(context.err, "{}\n", rules::to_text(notice));
  if (!tell_faults(files.faults, context)) return kExitBadInput;
  const rules::FaultList warnings = warnings_of(*config);
  for (rules::Fault warning : warnings) {
    warning.message.insert(0, "warning: ");
    fmt::print(context.err, "{}\n", rules::to_text(warning));
  }
  fmt::print(context.out, "armgate: {}: good; mode {}, proxy on {}, {} rules", source_text(*config),
             rules::to_text(config->mode), config->listen.proxy, config->rules.size());
  if (!warnings.empty()) fmt::print(context.out, ", {} warning{}", warnings.size(), warnings.size() == 1 ? "" : "s");
  fmt::print(context.out, "\n");
  return kExitDone;
}

}  // namespace armgate::commands
