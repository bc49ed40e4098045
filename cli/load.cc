#include "cli/load.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "cli/view/top.h"
#include "proxy/config/option_table.h"
#include "proxy/gateway/parent.h"

namespace armgate::commands {
namespace {

namespace fs = std::filesystem;

// Else a change of the file that has no effect, because a flag goes before it, would look as if it had one.
void note_kept(LoadedConfig& loaded, std::string_view flag, std::string_view given, std::string_view configured) {
  if (given == configured) return;
  loaded.kept.push_back(fmt::format("{} {} of the command line goes before the file's {}", flag, given, configured));
}

// Whether it is the option that is wrong, or what it stands in.
bool is_about(const rules::Fault& fault, std::string_view option) {
  const std::string_view at = fault.pointer;
  return option == at || (option.starts_with(at) && option[at.size()] == '/');
}

std::nullopt_t refuse_faults(const Asked& asked, const CliContext& context, const rules::FaultList& faults) {
  tell_faults(faults, context);
  std::string text;
  for (const rules::Fault& fault : faults) text += (text.empty() ? "" : "\n") + rules::to_text(fault);
  if (asked.output == "json") context.out << error_line(gateway_error(ErrorKind::BadInput, text));
  return std::nullopt;
}

void tell_as_warnings(const CliContext& context, const rules::FaultList& faults) {
  for (rules::Fault fault : faults) {
    fault.message.insert(0, "warning: ");
    fmt::print(context.err, "{}\n", rules::to_text(fault));
  }
  if (faults.empty()) return;
  fmt::print(context.err, "armgate: {} {} found: a start or a reload refuses this file; what runs is looked at all the same\n",
             faults.size(), faults.size() == 1 ? "fault" : "faults");
}

}  // namespace

LoadedConfig load_with_flags(const Asked& asked, const CliContext& context, RuleFiles rule_files) {
  fs::path file = asked.config;
  std::error_code error;
  if (file.empty() && fs::exists(context.default_config, error)) file = context.default_config;
  LoadedConfig loaded = load_config(file, context.surroundings, rule_files);
  if (const fs::path& home = context.surroundings.home; !home.is_absolute()) {
    loaded.faults.push_back({"HOME", 0, "", fmt::format("\"{}\" is no absolute path; set it to one", home.string())});
  }
  rules::FaultList ignored;  // faults_of_flags() has told them
  if (!asked.mode.empty()) {
    note_kept(loaded, "--mode", asked.mode, rules::to_text(loaded.config.mode));
    set_option(loaded.config, "mode", asked.mode, "--mode", ignored);
  }
  if (!asked.listen.empty()) {
    note_kept(loaded, "--listen", asked.listen, loaded.config.listen.proxy);
    set_option(loaded.config, "listen/proxy", asked.listen, "--listen", ignored);
  }
  if (!asked.ca_directory.empty()) {
    const fs::path absolute = fs::absolute(asked.ca_directory, error);
    loaded.config.ca.directory = error ? asked.ca_directory : absolute.lexically_normal().string();
  }
  if (!asked.log_file.empty()) {
    const fs::path log = fs::absolute(asked.log_file, error).lexically_normal();
    for (std::string& fault : faults_of_log_file(loaded.config, log.string()))
      loaded.faults.push_back({"--log", 0, "", std::move(fault)});
  }
  if (auto fault = fault_of_proxy(loaded.config, context.environment); !fault.empty()) {
    loaded.faults.push_back({source_text(loaded.config), 0, "/upstream/proxy", std::move(fault)});
  }
  return loaded;
}

bool tell_faults(const rules::FaultList& faults, const CliContext& context) {
  if (faults.empty()) return true;
  for (const rules::Fault& fault : faults) fmt::print(context.err, "{}\n", rules::to_text(fault));
  fmt::print(context.err, "armgate: {} {} found; nothing was changed\n", faults.size(),
             faults.size() == 1 ? "fault" : "faults");
  return false;
}

std::optional<Config> load_asked(const Asked& asked, const CliContext& context, RuleFiles rule_files) {
  LoadedConfig loaded = load_with_flags(asked, context, rule_files);
  if (!loaded.faults.empty()) return refuse_faults(asked, context, loaded.faults);
  return std::move(loaded.config);
}

std::optional<Config> load_to_look(const Asked& asked, const CliContext& context, LooksAt what) {
  LoadedConfig loaded = load_with_flags(asked, context, RuleFiles::Leave);
  const bool is_place_known = !loaded.config.listen.admin.empty();
  const auto is_in_the_way = [&](const rules::Fault& fault) {
    if (what == LooksAt::Records && is_about(fault, "/journal/file")) return true;
    return fault.pointer.empty() ? !is_place_known : is_about(fault, "/listen/admin");
  };
  if (std::ranges::any_of(loaded.faults, is_in_the_way)) return refuse_faults(asked, context, loaded.faults);
  tell_as_warnings(context, loaded.faults);
  return std::move(loaded.config);
}

// What it quotes may be an argument, a file's text or another program's. What that printed has lines.
int fail(const CliContext& context, const Error& error) {
  std::string_view rest = error.context;
  std::string text;
  for (size_t end; (end = rest.find('\n')) != rest.npos; rest.remove_prefix(end + 1))
    text += printable(rest.substr(0, end)) + "\n";
  fmt::print(context.err, "armgate: {}\n", text + printable(rest));
  return error.kind == ErrorKind::BadInput || error.kind == ErrorKind::TooLarge ? kExitBadInput : kExitRuntime;
}

int fail_asked(const Asked& asked, const CliContext& context, const Error& error) {
  if (asked.output == "json") context.out << error_line(error);
  return fail(context, error);
}

}  // namespace armgate::commands
