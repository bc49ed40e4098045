// `armgate check`: every fault and every warning, for people or for a program.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <iterator>

#include "cli/check.h"
#include "cli/load.h"
#include "json/tree.h"
#include "proxy/gateway/parent.h"
#include "rules/overlap.h"
#include "rules/unknown_types.h"

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

rules::FaultList warnings_of(const Config& config, const FileFindings& files) {
  auto warnings = warnings_about_options(config);
  std::ranges::copy(files.warnings, std::back_inserter(warnings));
  std::ranges::copy(config.rule_warnings, std::back_inserter(warnings));
  std::ranges::move(rules::warnings_about(config.rules), std::back_inserter(warnings));
  std::ranges::move(rules::warnings_about_types(config.rules, config.facts), std::back_inserter(warnings));
  std::ranges::move(rules::warnings_about(config.errors), std::back_inserter(warnings));
  if (config.facts) std::ranges::move(rules::warnings_about(*config.facts), std::back_inserter(warnings));
  return warnings;
}

// All that can be said: also of the files that sound options name, unless the configuration as a whole cannot be read.
FileFindings findings_of(const LoadedConfig& loaded, const CliContext& context) {
  FileFindings all = look_at_files(loaded.config, context.wall);
  // An option that is wrong, or could not be read, has its default here, which nobody asked for.
  const auto is_told = [&](const rules::Fault& found) {
    return std::any_of(loaded.faults.begin(), loaded.faults.end(), [&](const rules::Fault& fault) {
      return fault.file == loaded.config.source && found.pointer.starts_with(fault.pointer);
    });
  };
  std::erase_if(all.faults, is_told);
  std::erase_if(all.notices, is_told);
  std::erase_if(all.warnings, is_told);
  all.faults.insert(all.faults.begin(), loaded.faults.begin(), loaded.faults.end());
  return all;
}

int check_as_json(const LoadedConfig& loaded, const CliContext& context) {
  nlohmann::ordered_json told{{"good", false}, {"configuration", source_text(loaded.config)}};
  const FileFindings found = findings_of(loaded, context);
  const rules::FaultList& faults = found.faults;
  told["notices"] = faults_as_json(found.notices);
  if (faults.empty()) {
    told["warnings"] = faults_as_json(warnings_of(loaded.config, found));
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
  LoadedConfig loaded = load_with_flags(asked, context, RuleFiles::Prove);
  Config& config = loaded.config;
  const FileFindings files = findings_of(loaded, context);
  if (!tell_faults(files.faults, context)) return kExitBadInput;
  context.err << adopt_environment_proxy(config, context.environment);
  for (const rules::Fault& notice : files.notices) fmt::print(context.err, "{}\n", rules::to_text(notice));
  const rules::FaultList warnings = warnings_of(config, files);
  for (rules::Fault warning : warnings) {
    warning.message.insert(0, "warning: ");
    fmt::print(context.err, "{}\n", rules::to_text(warning));
  }
  const char* const word = files.is_partial ? "good as far as this user may look" : "good";
  fmt::print(context.out, "armgate: {}: {}; mode {}, proxy on {}, {} rules", source_text(config), word,
             rules::to_text(config.mode), config.listen.proxy, config.rules.size());
  if (!warnings.empty()) fmt::print(context.out, ", {} warning{}", warnings.size(), warnings.size() == 1 ? "" : "s");
  fmt::print(context.out, "\n");
  return kExitDone;
}

}  // namespace armgate::commands
