// introduction.h – what `armgate exec` says to a user who runs it for the first time: what it protects, and how to see more.
//
// Why: a command that behaves as ever says nothing of what stands around it. Once is enough; in each run it would be noise.
#pragma once

#include <filesystem>
#include <string>

#include "proxy/config/tool_environment.h"
#include "rules/rule.h"

namespace armgate {

// The directory for what a user's programs remember (XDG Base Directory Specification 0.8); it ignores relative paths.
std::filesystem::path state_directory(const Environment& environment, const std::filesystem::path& home);

// The text, with its end, if this user was not told before; a file below XDG_STATE_HOME remembers that. Empty: told before, or
// that cannot be remembered, or nothing is protected. Of processes at the same time one is given it.
std::string introduction(const Environment& environment, const std::filesystem::path& home, rules::Mode mode);

}  // namespace armgate
