// top.h – a running service at a glance, for a terminal that is written anew every moment.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/view/answer.h"

namespace armgate {

struct TerminalSize {
  size_t rows = 24;
  size_t columns = 80;
};

// What stands on the screen; no line is longer, nor are there more of them, than the terminal has room for. `before`, which may
// be null, is an earlier status of the same address: rates are those since then. Without a terminal nothing is cut.
std::string top_screen(const ShownStatus& now, const ShownStatus* before, std::optional<TerminalSize> terminal);

// For programs: the status page, or why there is none, as JSON on one line.
std::string top_line(const Result<std::string>& status);

// The latter alone: {"error": "..."}.
std::string error_line(const Error& error);

}  // namespace armgate
