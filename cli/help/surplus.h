// surplus.h – what to say about a word on the command line that nobody expects there.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace armgate {

// After parsing failed because of surplus words: which one, and what was most likely meant.
std::string explain_surplus(const CLI::App& app);

}  // namespace armgate
