// option_table.h – the one table of all options: where each stands in the configuration file, what it may be, and what it
// is for. It reads, checks and prints them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/config/config.h"
#include "rules/file/json_reader.h"

namespace armgate {

// The options, bound to `config`; also what the places of `config` are printed from.
rules::SettingTable options_of(Config& config);

// Everything that a configuration file can say: the options, and where editors find its schema.
rules::SettingTable file_settings(Config& config, std::string& schema);

// The same for editors; conf/schema/armgate.schema.json is this text.
std::string config_schema();

// Sets one option as the command line asks for it; `pointer` without its first slash. `origin` names the flag in faults.
void set_option(Config& config, std::string_view pointer, std::string_view value, const std::string& origin,
                rules::FaultList& faults);

// The pointers of the options whose values differ, in the order of the table.
std::vector<std::string> changed_options(Config one, Config other);

// A commented configuration file with every option at its default; conf/armgate.json is this text.
std::string print_defaults();

}  // namespace armgate
