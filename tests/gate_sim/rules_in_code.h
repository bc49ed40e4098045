// rules_in_code.h – the rules that simulated worlds run under, like those that armgate ships.
#pragma once

#include <vector>

#include "rules/rule.h"

namespace armgate::world {

std::vector<rules::Rule> simulated_rules();

}  // namespace armgate::world
