// array_keys.h – which elements of several arrays are the same one.
//
// Why: two clients that each add an element have not touched the same thing, although the array is another one for both. That
// can be told only where elements have names of their own: by what the type's facts say, by what is known of arrays so called,
// else by "name" or "id", if in every array every element has one and no two of an array share it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arm/body/body_facts.h"
#include "json/document.h"

namespace armgate::arm {

// The members that tell elements apart, as one of several bodies would spell them.
using ArrayKey = std::vector<std::string_view>;

struct KeyedElement {
  std::string key;      // as it counts at its place, without case
  uint32_t column = 0;  // whose array it stands in
  uint32_t index = 0;   // where in that
  simdjson::dom::element value;
};

struct KeyedElements {
  ArrayKey key;
  bool is_ordered = false;             // which element comes after which is a value of its own
  std::vector<KeyedElement> elements;  // by key, then by column
};

struct ColumnArray {
  uint32_t column = 0;
  simdjson::dom::array array;
};

// `name` is what the array itself is called, `place` where it stands. Nothing: its elements cannot be told apart.
std::optional<KeyedElements> keyed_elements(std::span<const ColumnArray> arrays, std::string_view name, const BodyPlace& place);

// Pointers into an element, of plain values that no two of an array may have in common; nothing is known of most arrays.
std::vector<std::string> unique_members(std::string_view name, const ArrayFact* declared);

// "[name=web]", "[tenantId=t,objectId=o]": as it is spelt in this element.
std::string key_text(const ArrayKey& key, const simdjson::dom::element& element);

}  // namespace armgate::arm
