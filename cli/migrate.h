// migrate.h – `armgate migrate FILE...`: configuration and rule files of the version before, with the names of this one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/file/renames.h"

namespace armgate {

// What has another name now in a configuration or a rule file, by line. Which of the two it is does not matter: no old name of
// the one is a name of the other.
std::vector<rules::Rename> old_names_in(std::string_view text);

}  // namespace armgate
