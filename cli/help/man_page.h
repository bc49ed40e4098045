// man_page.h – man pages of the commands, from the same text as --help.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/help/command_help.h"

namespace armgate {

// "armgate.1", "armgate-ca-init.1".
std::string man_page_name(const CommandHelp& command);

// In the language of man(7). `program` is what the command belongs to.
std::string man_page(const CommandHelp& command, const CommandHelp& program, std::string_view version);

// One file for each command. BadInput, with the remedy, if one cannot be written.
Result<void> write_man_pages(const CommandHelp& program, std::string_view version, const std::filesystem::path& directory);

}  // namespace armgate
