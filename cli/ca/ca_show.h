// ca_show.h – `armgate ca show`: what a person wants to know about the local authority.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/ca/trust_store.h"

namespace armgate {

enum class ShowAs { Text, Json };

struct ShownAuthority {
  std::string text;
  std::string fault;  // why armgate would not run with it; empty if it would
};

// `hosts` are those that it should sign for; `init_command` makes it.
ShownAuthority show_authority(const SystemTrust& system, const std::filesystem::path& directory,
                              const std::vector<std::string>& hosts, WallTime now, std::string_view init_command, ShowAs as);

}  // namespace armgate
