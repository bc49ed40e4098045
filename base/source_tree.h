// source_tree.h – where the source tree lies that the program was built from, for what reads its files when it runs.
//
// Why: the path is in one object alone (cmake/source_tree.cc.in). As a definition on the command line of others it would make
// them differ between two clones, and the compiler's cache would find none of them.
#pragma once

#include <string>
#include <string_view>

namespace armgate {

// `relative` names a file from the root of the tree: "conf/rules".
std::string source_path(std::string_view relative);

}  // namespace armgate
