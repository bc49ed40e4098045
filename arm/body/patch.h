// patch.h – a PATCH beside a state of its resource: what of the state it speaks about, and whether it is a copy.
//
// Why: a PATCH sets values, whatever they were before. But a map or an array in it replaces all that was in there (tags,
// network interfaces), so that it is a copy of that, made from a state that may be old. And some clients send what they have
// read with one member changed (Spinnaker's clouddriver: sku, tags and interfaces of a scale set).
//
// A leaf: what stands in the PATCH outside of maps and arrays. What only the service writes counts nowhere. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "arm/body/body_facts.h"

namespace armgate::arm {

// Whether it is an object, each name in it stands once, and it has no more values than are compared.
bool can_be_read(std::string_view patch);

// The members of a state that the PATCH names: objects one by one, maps and arrays whole, with the state's bytes. Nothing if
// one of the texts cannot be read, or is no object.
std::optional<std::string> patched_part(std::string_view state, std::string_view patch, const BodyFacts& facts);

// The same with the leaves of another state.
std::optional<std::string> patched_part(std::string_view state, std::string_view patch, const BodyFacts& facts,
                                        std::string_view leaves);

// The state as the PATCH leaves it: objects are changed member by member, null removes, and all else is replaced whole. Nothing
// if one of the texts cannot be read, or is no object.
std::optional<std::string> patched_state(std::string_view state, std::string_view patch, const BodyFacts& facts);

// Whether what others have changed since `base` may matter to the PATCH: it has a map or an array, or it repeats values of the
// base beside a change. What cannot be read may be anything. An "operation" (Merge, Delete) on what it names is no copy of it.
bool may_be_copy(std::string_view patch, std::string_view base, const BodyFacts& facts);

// Whether it takes away as a whole a map whose members a PATCH changes one by one (BodyPlace::is_patched_by_member): then no
// list of members that are to stay says the same.
bool clears_by_member(std::string_view patch, const BodyFacts& facts);

// Whether it repeats, beside a change of its own, the value of a leaf in `base` that has another one in `there`.
bool takes_back(std::string_view patch, std::string_view base, std::string_view there, const BodyFacts& facts);

}  // namespace armgate::arm
