#include "tests/arm/body/merge_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "json/tree.h"

namespace armgate::arm::model {
namespace {

using Json = nlohmann::ordered_json;

bool has_elements(const Shape& shape) { return shape.kind == Kind::Keyed || shape.kind == Kind::Ordered; }

const Item* find(const Item& item, const std::string& name) {
  const auto found = item.below.find(name);
  return found == item.below.end() ? nullptr : &found->second;
}

bool same(const Item* a, const Item* b) { return a == nullptr || b == nullptr ? a == b : *a == *b; }

std::set<std::string> names_of(std::initializer_list<const Item*> items) {
  std::set<std::string> names;
  for (const Item* item : items) {
    for (const auto& [name, below] : item->below) names.insert(name);
  }
  return names;
}

class Merging {
 public:
  bool in_conflict = false, takes_any = false, both_added = false;

  // One place as a whole. Where it may agree, adding or removing the same is no conflict.
  const Item* whole(const Item* base, const Item* wanted, const Item* there, bool may_agree) {
    const bool by_write = !same(base, wanted), by_others = !same(base, there);
    const bool agrees = may_agree && same(wanted, there) && (base == nullptr || wanted == nullptr);
    in_conflict |= by_write && by_others && !agrees;
    takes_any |= by_write && !by_others;
    both_added |= by_write && by_others && wanted != nullptr;
    return by_write ? wanted : there;
  }

  Item merge(const Shape& shape, const Item& base, const Item& wanted, const Item& there) {
    Item result;
    for (const auto& name : names_of({&base, &wanted, &there})) {
      const Shape& below = shape.kind == Kind::Object ? shape.below.at(name) : shape.held();
      const Item *b = find(base, name), *w = find(wanted, name), *t = find(there, name);
      if (below.kind != Kind::Leaf && b != nullptr && w != nullptr && t != nullptr) {
        result.below[name] = merge(below, *b, *w, *t);
      } else if (const Item* taken = whole(b, w, t, shape.kind != Kind::Object); taken != nullptr) {
        result.below[name] = *taken;
      }
    }
    if (shape.kind == Kind::Ordered) {
      const bool by_write = base.order != wanted.order;
      in_conflict |= by_write && base.order != there.order;
      takes_any |= by_write;
      result.order = by_write ? wanted.order : there.order;
    }
    return result;
  }
};

std::string blanks(Rng& style) { return std::string(style.below(3), style.chance(0.5) ? ' ' : '\n'); }

// In random order, with blanks between them.
std::string joined(std::vector<std::string> pieces, char open, char close, Rng& style, bool shuffles) {
  for (size_t i = pieces.size(); shuffles && i > 1; --i) std::swap(pieces[i - 1], pieces[style.below(i)]);
  std::string text(1, open);
  for (size_t i = 0; i < pieces.size(); ++i) text += (i > 0 ? "," : "") + blanks(style) + pieces[i] + blanks(style);
  return text + close;
}

std::string element_written(const std::string& name, const Item& item, const Shape& array, Rng& style);

}  // namespace

const Shape& resource() {
  static const Shape leaf;
  static const Shape port{Kind::Object, {}, {{"p", leaf}}};
  static const Shape ports{Kind::Keyed, "id", {{"", port}}};
  static const Shape rule{Kind::Object, {}, {{"v", leaf}, {"w", leaf}, {"ports", ports}}};
  static const Shape step{Kind::Object, {}, {{"v", leaf}}};
  static const Shape deep{Kind::Object, {}, {{"x", leaf}, {"y", leaf}}};
  static const Shape all{Kind::Object,
                         {},
                         {{"cap0", leaf},
                          {"cap1", leaf},
                          {"deep", deep},
                          {"tags", {Kind::Map, {}, {{"", leaf}}}},
                          {"rules", {Kind::Keyed, "name", {{"", rule}}}},
                          {"steps", {Kind::Ordered, "name", {{"", step}}}}}};
  return all;
}

Item random_item(const Shape& shape, Rng& rng) {
  Item item;
  if (shape.kind == Kind::Leaf) item.value = static_cast<int>(rng.below(3));
  if (shape.kind == Kind::Object) {
    for (const auto& [name, below] : shape.below) {
      if (below.kind != Kind::Leaf || rng.chance(0.7)) item.below[name] = random_item(below, rng);
    }
    return item;
  }
  for (int i = 0; i < 3 && shape.kind != Kind::Leaf; ++i) {
    const std::string name = fmt::format("n{}", i);
    if (!rng.chance(0.6)) continue;
    item.below[name] = random_item(shape.held(), rng);
    if (shape.kind == Kind::Ordered)
      item.order.insert(item.order.begin() + static_cast<int>(rng.below(item.order.size() + 1)), name);
  }
  return item;
}

namespace {

void change(Item& item, const Shape& shape, Rng& rng) {
  if (shape.kind == Kind::Ordered && item.order.size() > 1 && rng.chance(0.2)) return std::swap(item.order[0], item.order[1]);
  std::string name;
  if (shape.kind == Kind::Object) {
    name = std::next(shape.below.begin(), static_cast<int>(rng.below(shape.below.size())))->first;
  } else {
    name = fmt::format("n{}", rng.below(4));
  }
  const Shape& below = shape.kind == Kind::Object ? shape.below.at(name) : shape.held();
  const bool is_there = item.below.contains(name);
  if (below.kind != Kind::Leaf && is_there && (shape.kind == Kind::Object || rng.chance(0.6))) {
    return change(item.below[name], below, rng);
  }
  std::erase(item.order, name);
  if (is_there && rng.chance(0.4)) {
    item.below.erase(name);
    return;
  }
  item.below[name] = random_item(below, rng);
  if (shape.kind == Kind::Ordered)
    item.order.insert(item.order.begin() + static_cast<int>(rng.below(item.order.size() + 1)), name);
}

std::string body_written(const Item& item, const Shape& shape, Rng& style, std::vector<std::string> pieces) {
  for (const auto& [name, below] : shape.below) {
    const Item* there = find(item, name);
    if (there != nullptr)
      pieces.push_back(fmt::format("\"{}\"{}:{}{}", name, blanks(style), blanks(style), written(*there, below, style)));
  }
  return joined(std::move(pieces), '{', '}', style, true);
}

std::string element_written(const std::string& name, const Item& item, const Shape& array, Rng& style) {
  // Keys count without case, but here one spelling serves as the path of what is in it.
  return body_written(item, array.held(), style,
                      {fmt::format(R"("{}":"{}")", array.key, name), fmt::format(R"("etag":"{}")", style.below(1000)),
                       fmt::format(R"("kind":"{}")", name)});
}

}  // namespace

Item near(const Item& item, const Shape& shape, Rng& rng) {
  Item result = item;
  for (uint64_t i = rng.below(4); i > 0; --i) change(result, shape, rng);
  return result;
}

Merged merged(const Shape& shape, const Item& base, const Item& wanted, const Item& there) {
  Merging merging;
  Item result = merging.merge(shape, base, wanted, there);
  return {merging.in_conflict, merging.both_added && !merging.takes_any, std::move(result)};
}

std::string written(const Item& item, const Shape& shape, Rng& style) {
  if (shape.kind == Kind::Leaf) return fmt::format("{}.{}", *item.value, std::string(1 + style.below(12), '0'));
  if (shape.kind == Kind::Object)
    return body_written(item, shape, style, {fmt::format(R"("etag":"{}","same":1)", style.below(1000))});
  std::vector<std::string> pieces;
  if (shape.kind == Kind::Ordered) {
    for (const auto& name : item.order) pieces.push_back(element_written(name, item.below.at(name), shape, style));
  }
  for (const auto& [name, below] : item.below) {
    if (shape.kind == Kind::Map) pieces.push_back(fmt::format(R"("{}":{})", name, written(below, shape.held(), style)));
    if (shape.kind == Kind::Keyed) pieces.push_back(element_written(name, below, shape, style));
  }
  const bool is_map = shape.kind == Kind::Map;
  return joined(std::move(pieces), is_map ? '{' : '[', is_map ? '}' : ']', style, shape.kind != Kind::Ordered);
}

namespace {

Item item_of(const Json& json, const Shape& shape) {
  Item item;
  if (shape.kind == Kind::Leaf) {
    item.value = json.get<int>();
  } else if (has_elements(shape)) {
    for (const Json& element : json) {
      const auto name = element.at(shape.key).get<std::string>();
      item.below[name] = item_of(element, shape.held());
      if (shape.kind == Kind::Ordered) item.order.push_back(name);
    }
  } else {
    for (const auto& [name, below] : json.items()) {
      const bool is_known = shape.kind == Kind::Map || shape.below.contains(name);
      if (is_known) item.below[name] = item_of(below, shape.kind == Kind::Map ? shape.held() : shape.below.at(name));
    }
  }
  return item;
}

}  // namespace

Item read(const std::string& text, const Shape& shape) { return item_of(Json::parse(text), shape); }

}  // namespace armgate::arm::model
