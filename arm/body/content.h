// content.h – comparing states of a resource by what a client could have written.
//
// Why: an ETag moves for reasons that are none of a client's business (the end of its own operation, a neighbour's
// change). Whether two states are the same for the purposes of a full PUT is decided here: JSON values are compared
// without the members that only the service writes. Anything that cannot be parsed is never equal to anything: the safe
// answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/body/body_facts.h"

namespace armgate::arm {

// True if both parse as JSON and are equal without what only the service writes: objects by member name whatever their order,
// arrays element by element in order, numbers by value (as binary64 if they are no 64-bit integers), strings exactly. A
// text with two members of one name in an object, an integer beyond 64 bits or nesting beyond 256 does not parse.
bool same_writable_content(std::string_view a, std::string_view b, const BodyFacts& facts);

// True if `state` is what a PUT of `wanted` asks for: Difference::satisfied() (arm/body/difference.h), by all that the facts
// tell of how the service spells and orders what it was sent. Members that it never returns (secrets, such as adminPassword)
// make it false: in doubt it is not ours.
bool satisfies(std::string_view state, std::string_view wanted, const BodyFacts& facts);

// JSON pointers (RFC 6901) of what differs between two states, read-only members aside; at most `most` of them. Arrays
// of different lengths differ as a whole, and so does a text that does not parse (pointer "").
std::vector<std::string> changed_pointers(std::string_view before, std::string_view after, const BodyFacts& facts, size_t most);

}  // namespace armgate::arm
