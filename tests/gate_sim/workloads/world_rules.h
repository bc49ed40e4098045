// world_rules.h – the rules that simulated worlds run under: those that armgate ships.
#pragma once

#include <vector>

#include "base/rng.h"
#include "rules/facts/fact_entry.h"
#include "rules/file/error_table.h"
#include "rules/rule.h"

namespace armgate::world {

// conf/rules/*.json in the order of their names, as armgate loads them.
const std::vector<rules::Rule>& world_rules();
const std::vector<rules::ErrorRule>& world_errors();
const rules::FactEntries& world_facts();

// What an operator might make of them: parents taken out or put in, shorter or longer limits. Guards stay: a rule that does
// not guard protects nobody, whatever was in force before it.
std::vector<rules::Rule> varied_rules(Rng& rng);
// Some of them, varied: of a replica beside one that has all.
std::vector<rules::Rule> fewer_rules(Rng& rng);

}  // namespace armgate::world
