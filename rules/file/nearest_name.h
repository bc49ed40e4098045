// nearest_name.h – the valid name that somebody who wrote an invalid one most likely meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace armgate::rules {

// How many single-character changes (insert, delete, replace, swap neighbours) lead from one name to the other; the case
// of letters does not count.
size_t edit_distance(std::string_view a, std::string_view b);

// The name of the smallest distance, the first of several; empty if even that is too far to be meant.
std::string nearest_name(std::string_view written, const std::vector<std::string>& valid);
// The same; `mistakes_max` is the distance that may still be meant.
std::string nearest_name(std::string_view written, const std::vector<std::string>& valid, size_t mistakes_max);

// The end of a sentence: 'did you mean "x"?', or 'valid here: "a", "b" and "c"' if nothing is near.
std::string suggestion(std::string_view written, const std::vector<std::string>& valid);

}  // namespace armgate::rules
