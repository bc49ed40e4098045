// leaves.h – a resource's content as its single values, for whoever must say in what two states differ.
//
// Why not the gateway's own comparing: what judges it must not share its mistakes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/tree_fwd.h"

namespace armgate::sim {

// By JSON pointer. Elements that all have names stand under these; any other array is one value. What is absent has no entry.
using Leaves = std::map<std::string, std::string>;

Leaves leaves_of(const nlohmann::json& content);

// The same of what a full write of these bytes asks the resource, or the child, at `target` to be.
Leaves wanted_leaves(std::string_view target, std::string_view body);

// Where they differ.
std::set<std::string> differing(const Leaves& some, const Leaves& others);

// In each array of named elements those that both have stand as they did, and new ones come after them.
bool in_the_order_of(const nlohmann::json& before, const nlohmann::json& after);

// Where `to` differs from `from`, with what it has there: equal for equal changes.
std::string change_between(const Leaves& from, const Leaves& to);

// A body from which nobody can tell whether it was built on what is there: it has a value back that one of the older states had
// and that is another now; or it lacks what that one lacked, and has nothing of the named things that changed since; or it
// changes nothing although some value moved.
bool looks_stale(const Leaves& wanted, const Leaves& there, const std::vector<Leaves>& older);

}  // namespace armgate::sim
