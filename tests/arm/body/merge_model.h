// merge_model.h – what a merge has to lead to, said a second time in another way: over values in a tree, without JSON.
//
// Why: a library that is compared with itself is always right. This knows nothing of texts, rows and spans.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"

namespace armgate::arm::model {

enum class Kind { Leaf, Object, Map, Keyed, Ordered };

struct Shape {
  Kind kind = Kind::Leaf;
  std::string key{};                     // Keyed, Ordered: the member that tells elements apart
  std::map<std::string, Shape> below{};  // an object's members; of the others one for what they hold
  const Shape& held() const { return below.begin()->second; }
};

// A resource with leaves, an object, tags, rules that hold ports, and steps whose order counts.
const Shape& resource();

struct Item {
  std::optional<int> value{};           // Leaf
  std::map<std::string, Item> below{};  // what is there; maps and arrays are always, and may hold nothing
  std::vector<std::string> order{};     // Ordered
  bool operator==(const Item&) const = default;
};

Item random_item(const Shape& shape, Rng& rng);
// With a few changes.
Item near(const Item& item, const Shape& shape, Rng& rng);

struct Merged {
  bool in_conflict = false;
  bool all_there = false;  // the write changes nothing but what others did too, and some of that is an addition
  Item item{};
};
Merged merged(const Shape& shape, const Item& base, const Item& wanted, const Item& there);

// As JSON, with blanks, orders and numbers in random spellings, and with members that only the service writes.
std::string written(const Item& item, const Shape& shape, Rng& style);
// What a text says; throws what a JSON parser throws.
Item read(const std::string& text, const Shape& shape);

}  // namespace armgate::arm::model
