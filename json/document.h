// document.h – reading a JSON text for comparing it: what can be read at all, numbers by value.
//
// Why: whoever compares states must agree on which texts can be read in only one way, and on what equal values are. The types
// of the parser (simdjson) are used as they are: they are views, and wrapping them would be a second parser.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <variant>

namespace armgate {

// Deeper documents count as unreadable; what ARM takes nests about twenty deep.
inline constexpr size_t kJsonNestingMax = 256;

// A parsed text and the memory that its elements point into. Nothing of the text is needed any more.
class JsonDocument {
 public:
  // A text of more values than `nodes_max` is not usable.
  explicit JsonDocument(std::string_view json, size_t nodes_max = std::numeric_limits<size_t>::max());

  // False if it is no JSON, nests too deep, has an integer beyond 64 bits, or an object that names a member twice.
  bool usable() const { return usable_; }
  const simdjson::dom::element& root() const { return root_; }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
  bool usable_ = false;
};

using JsonMember = simdjson::dom::key_value_pair;

// A number by its value: 1, 1.0 and 1e0 are the same. Fractions are compared as binary64, which is what ARM keeps of them.
using JsonNumber = std::variant<uint64_t, int64_t, double>;  // not negative, negative, neither fits
JsonNumber number_of(const simdjson::dom::element& element);

inline bool is_object(const simdjson::dom::element& e) { return e.type() == simdjson::dom::element_type::OBJECT; }
inline bool is_array(const simdjson::dom::element& e) { return e.type() == simdjson::dom::element_type::ARRAY; }

inline bool is_empty(const simdjson::dom::array& array) { return !(array.begin() != array.end()); }
inline bool is_empty(const simdjson::dom::object& object) { return !(object.begin() != object.end()); }

}  // namespace armgate
