#include "proxy/cli.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <system_error>

#include "certs/authority.h"
#include "proxy/option_table.h"

namespace armgate {
namespace {

// What was asked for; empty texts were not given.
struct Asked {
  std::string config;
  std::string mode;
  std::string listen;
  std::string ca_directory;
  bool force = false;
};

std::string source_of(const Config& config) {
  return config.source.empty() ? "the built-in defaults" : config.source;
}

void print_faults(const rules::FaultList& faults, std::ostream& err) {
  for (const rules::Fault& fault : faults) fmt::print(err, "{}\n", rules::to_text(fault));
  fmt::print(err, "armgate: {} {} found; nothing was changed\n", faults.size(), faults.size() == 1 ? "fault" : "faults");
}

// The configuration that the command line asks for. Nothing after the faults were printed.
std::optional<Config> load_asked(const Asked& asked, const CliContext& context, RuleFiles rule_files) {
  std::filesystem::path file = asked.config;
  std::error_code error;
  if (file.empty() && std::filesystem::exists(context.default_config, error)) file = context.default_config;
  LoadedConfig loaded = load_config(file, context.surroundings, rule_files);
  if (!asked.mode.empty()) set_option(loaded.config, "mode", asked.mode, "--mode", loaded.faults);
  if (!asked.listen.empty()) set_option(loaded.config, "listen/proxy", asked.listen, "--listen", loaded.faults);
  if (loaded.faults.empty()) return std::move(loaded.config);
  print_faults(loaded.faults, context.err);
  return std::nullopt;
}

int check(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Load);
  if (!config) return kExitBadInput;
  fmt::print(context.out, "armgate: {}: good; mode {}, proxy on {}, {} rules\n", source_of(*config),
             config->mode == rules::Mode::Off ? "off" : "protect", config->listen.proxy, config->rules.size());
  return kExitDone;
}

int run(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Load);
  if (!config) return kExitBadInput;
  fmt::print(context.err, "armgate: configuration from {}\n", source_of(*config));
  return context.run(*config);
}

// The directory and the hosts of the local authority; no rule is needed for them.
std::optional<Config> config_for_ca(const Asked& asked, const CliContext& context) {
  auto config = load_asked(asked, context, RuleFiles::Leave);
  if (config && !asked.ca_directory.empty()) config->ca.directory = asked.ca_directory;
  return config;
}

int ca_init(const Asked& asked, const CliContext& context) {
  const auto config = config_for_ca(asked, context);
  if (!config) return kExitBadInput;
  const auto fail = [&](const Error& error) {
    fmt::print(context.err, "armgate: {}\n", error.context);
    return error.kind == ErrorKind::BadInput ? kExitBadInput : kExitRuntime;
  };
  const auto authority = certs::make_authority(config->intercept, context.wall);
  if (!authority) return fail(authority.error());
  const auto overwrite = asked.force ? certs::Overwrite::Force : certs::Overwrite::Refuse;
  const auto saved = certs::save_authority(*authority, config->ca.directory, overwrite);
  if (!saved) return fail(saved.error());
  fmt::print(context.out, "{}\n", certs::files_in(config->ca.directory).root.string());
  return kExitDone;
}

int ca_path(const Asked& asked, const CliContext& context) {
  const auto config = config_for_ca(asked, context);
  if (!config) return kExitBadInput;
  const auto root = certs::files_in(config->ca.directory).root;
  std::error_code error;
  if (!std::filesystem::exists(root, error)) {
    fmt::print(context.err, "armgate: there is no {}; make it with: armgate ca init\n", root.string());
    return kExitBadInput;
  }
  fmt::print(context.out, "{}\n", root.string());
  return kExitDone;
}

}  // namespace

int run_cli(int argc, const char* const* argv, const CliContext& context) {
  CLI::App app{"armgate makes Azure Resource Manager traffic safe under concurrency.\n"
               "Exit codes: 0 done, 1 bad input or configuration, 2 wrong command line, 3 failed while running.",
               "armgate"};
  Asked asked;
  app.set_version_flag("--version", "armgate " ARMGATE_VERSION);
  bool print_defaults_asked = false;
  app.add_flag("--print-defaults", print_defaults_asked, "Print a commented configuration with every option's default");
  app.require_subcommand(0, 1);
  const auto add_config = [&](CLI::App* command) {
    command->add_option("--config", asked.config,
                        "Configuration file (" + context.default_config.string() + " if it exists, else the defaults)");
  };

  CLI::App* run_command = app.add_subcommand("run", "Run the service in the foreground");
  add_config(run_command);
  run_command->add_option("--mode", asked.mode, "protect or off, in place of the configured mode");
  run_command->add_option("--listen", asked.listen, "host:port, in place of the configured listen.proxy");

  CLI::App* check_command = app.add_subcommand("check", "Check the configuration and its rule files, and do nothing else");
  add_config(check_command);

  CLI::App* ca_command = app.add_subcommand("ca", "The local certificate authority");
  ca_command->require_subcommand(1);
  CLI::App* init_command = ca_command->add_subcommand("init", "Make it, and print the certificate that tools must trust");
  CLI::App* path_command = ca_command->add_subcommand("path", "Print the path of the certificate that tools must trust");
  for (CLI::App* command : {init_command, path_command}) {
    add_config(command);
    command->add_option("--directory", asked.ca_directory, "Where it is kept, in place of the configured ca.directory");
  }
  init_command->add_flag("--force", asked.force, "Replace the one that is there; tools must then trust the new one");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, context.out, context.err) == 0 ? kExitDone : kExitUsage;
  }
  if (*run_command) return run(asked, context);
  if (*check_command) return check(asked, context);
  if (*init_command) return ca_init(asked, context);
  if (*path_command) return ca_path(asked, context);
  if (print_defaults_asked) {
    context.out << print_defaults();
    return kExitDone;
  }
  context.err << app.help();
  return kExitUsage;
}

}  // namespace armgate
