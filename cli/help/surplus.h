// surplus.h – what to say about a word on the command line that nobody expects there, or that is missing or wrong.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace armgate {

// After parsing failed because of surplus words: which one, and what was most likely meant.
std::string explain_surplus(const CLI::App& app);

// After parsing failed because something is missing: what, and the whole line.
std::string explain_missing(const CLI::App& app);

// What the parser says of a flag's value, in the words of this program; empty: in its own.
std::string explain_wrong(std::string_view said);

}  // namespace armgate
