// completion.h – what shells need to complete armgate's command line, made from the commands as they are declared.
#pragma once

#include <string>

#include "cli/help/command_help.h"

namespace armgate {

// Scripts to be sourced, or to be put where the shell looks for them.
std::string bash_completion(const CommandHelp& program);
std::string zsh_completion(const CommandHelp& program);
std::string fish_completion(const CommandHelp& program);

}  // namespace armgate
