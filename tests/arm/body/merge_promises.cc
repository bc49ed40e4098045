#include "tests/arm/body/merge_promises.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "json/document.h"
#include "json/spans.h"
#include "tests/arm/body/merge_model.h"
#include "tests/arm/body/merged.h"

namespace armgate::arm {
namespace {

using model::Item;

const DeclaredFacts& declared() {
  static const DeclaredFacts facts{.arrays = {{"/steps", ArrayKind::Ordered, {"name"}}}};
  return facts;
}

// Every leaf of a text by its way ("/rules/n1/v"), in the text's order, as it is written there.
class Leaves {
 public:
  explicit Leaves(const std::string& text) : document_(text), spans_(text) { add({}, document_.root(), 0); }

  const std::string_view* find(const std::string& way) const {
    const auto found = texts_.find(way);
    return found == texts_.end() ? nullptr : &found->second;
  }
  const std::vector<std::string>& ways() const { return ways_; }
  bool usable() const { return document_.usable(); }

 private:
  void add(const std::string& way, const simdjson::dom::element& element, size_t node) {
    const auto items = spans_.items(node);
    size_t at = 0;
    if (is_object(element)) {
      for (const JsonMember member : simdjson::dom::object(element))
        add(way + "/" + std::string(member.key), member.value, items[at++]);
    } else if (is_array(element)) {
      for (const simdjson::dom::element one : simdjson::dom::array(element)) {
        std::string_view key;
        if (one["name"].get(key) && one["id"].get(key)) key = {};
        add(way + "/" + std::string(key), one, items[at++]);
      }
    } else {
      ways_.push_back(way);
      texts_[way] = spans_.value(node);
    }
  }

  JsonDocument document_;
  JsonSpans spans_;
  std::vector<std::string> ways_;
  std::map<std::string, std::string_view> texts_;
};

bool is_service_written(const std::string& way) { return way.ends_with("/etag"); }

// The ways that both have, in the order of each, must be the same.
bool in_the_same_order(const Leaves& a, const Leaves& b, std::string_view suffix) {
  const auto shared = [&](const Leaves& of, const Leaves& other) {
    std::vector<std::string> ways;
    for (const auto& way : of.ways()) {
      if (way.ends_with(suffix) && other.find(way) != nullptr) ways.push_back(way);
    }
    return ways;
  };
  return shared(a, b) == shared(b, a);
}

struct Scene {
  Item base, wanted, there;
  std::string base_text, wanted_text, there_text;

  explicit Scene(uint64_t seed) {
    Rng rng(seed);
    base = model::random_item(model::resource(), rng);
    wanted = model::near(base, model::resource(), rng);
    there = model::near(base, model::resource(), rng);
    base_text = model::written(base, model::resource(), rng);
    wanted_text = model::written(wanted, model::resource(), rng);
    there_text = model::written(there, model::resource(), rng);
  }
  std::string words() const { return "\nbase   " + base_text + "\nwanted " + wanted_text + "\nthere  " + there_text; }
};

Merge merged(const std::string& base, const std::string& wanted, const std::string& there, const BodyFacts& facts) {
  return merge({{{{base}}}, {wanted}, {there}}, facts, MergeScope::All);
}

std::optional<std::string> wrong_bytes(const Scene& scene, const std::string& body) {
  const Leaves base(scene.base_text), wanted(scene.wanted_text), there(scene.there_text), result(body);
  if (!result.usable()) return "it cannot be read, or names a member twice";
  const auto number = [](const std::string_view* text) {
    return text == nullptr ? std::string_view() : text->substr(0, text->find('.'));
  };
  for (const auto& way : result.ways()) {
    const std::string_view* now = result.find(way);
    const bool is_ours = !is_service_written(way) && number(base.find(way)) != number(wanted.find(way));
    const std::string_view* expected = is_ours || there.find(way) == nullptr ? wanted.find(way) : there.find(way);
    const bool agreed = is_ours && there.find(way) != nullptr && number(there.find(way)) == number(wanted.find(way));
    if (agreed) expected = there.find(way);
    if (expected == nullptr) return "nobody wrote " + way;
    if (*expected != *now) return fmt::format("{} is {}, not {}", way, *now, *expected);
    if (is_service_written(way) && there.find(way) == nullptr)
      return way + " is the service's, and the write's copy of it was taken";
  }
  for (const auto& way : there.ways()) {
    if (!is_service_written(way) || result.find(way) != nullptr) continue;
    const std::string element = way.substr(0, way.rfind('/'));
    for (const auto* sibling : {"/kind", "/same"}) {
      if (result.find(element + sibling) != nullptr) return way + " is gone";
    }
  }
  // The steps may have the write's order; that is in the model.
  const bool may_turn = scene.wanted.below.at("steps").order != scene.base.below.at("steps").order;
  if (!may_turn && !in_the_same_order(there, result, "/kind")) return "the order of elements is another";
  return std::nullopt;
}

// New elements come after what was there.
std::optional<std::string> wrong_place(const Scene& scene, const std::string& body) {
  const Leaves there(scene.there_text), result(body);
  bool any_new = false;
  for (const auto& way : result.ways()) {
    const bool is_rule = way.starts_with("/rules/") && way.ends_with("/kind") && std::count(way.begin(), way.end(), '/') == 3;
    if (!is_rule) continue;
    const bool is_new = there.find(way) == nullptr;
    if (any_new && !is_new) return way + " stands after a new one";
    any_new |= is_new;
  }
  return std::nullopt;
}

std::optional<std::string> wrong_result(const Scene& scene, const Item& expected, const std::string& body,
                                        const BodyFacts& facts) {
  if (!(model::read(body, model::resource()) == expected)) return "it is not what both wanted: " + body;
  if (const auto wrong = wrong_bytes(scene, body)) return *wrong + ": " + body;
  if (const auto wrong = wrong_place(scene, body)) return *wrong + ": " + body;
  const Merge turned = merged(scene.base_text, scene.there_text, scene.wanted_text, facts);
  const bool commutes = turned.kind == Merge::Kind::Merged && compared({body, turned.body}, facts).same(0, 1);
  if (!commutes && turned.obstacle != MergeObstacle::AllThere) return "in the other order it is another: " + words_for(turned);
  // What was asked for and what was sent both count as shown: sent again, nothing comes of it.
  if (words_for(merged(scene.wanted_text, scene.wanted_text, body, facts)) != body) return "sent again it changes something";
  const Merge again = merged(scene.base_text, scene.wanted_text, body, facts);
  if (again.kind == Merge::Kind::Merged && words_for(again) != body) return "merged again it is another: " + words_for(again);
  return std::nullopt;
}

std::optional<std::string> broken(const Scene& scene, std::map<std::string, int>& outcomes) {
  const BodyFacts facts(declared());
  const auto expected = model::merged(model::resource(), scene.base, scene.wanted, scene.there);
  const Merge result = merged(scene.base_text, scene.wanted_text, scene.there_text, facts);
  if (expected.in_conflict) {
    ++outcomes["conflict"];
    if (result.kind != Merge::Kind::Conflict) return "a conflict was merged: " + words_for(result);
    if (result.in_the_way.count == 0) return "a conflict without a place";
    const Merge turned = merged(scene.base_text, scene.there_text, scene.wanted_text, facts);
    if (turned.kind != Merge::Kind::Conflict) return "a conflict one way alone: " + words_for(turned);
  } else if (expected.all_there) {
    ++outcomes["all there"];
    if (result.obstacle != MergeObstacle::AllThere) return "two who may count from nothing have agreed: " + words_for(result);
  } else {
    ++outcomes["merged"];
    if (result.kind != Merge::Kind::Merged) return "no conflict, and not merged: " + words_for(result);
    if (auto wrong = wrong_result(scene, expected.item, result.body, facts)) return wrong;
  }
  if (words_for(merged(scene.base_text, scene.base_text, scene.there_text, facts)) != scene.there_text)
    return "B, B, T is not T";
  const Merge alone = merged(scene.base_text, scene.wanted_text, scene.base_text, facts);
  if (!compared({alone.body, scene.wanted_text}, facts).same(0, 1)) return "B, M, B is not M: " + words_for(alone);
  DeclaredFacts secret = declared();
  secret.write_only = {"/deep/password"};
  const Merge hidden = merged(scene.base_text, scene.wanted_text, scene.there_text, BodyFacts(secret));
  if (hidden.obstacle != MergeObstacle::Secret) return "a body with a secret was merged: " + words_for(hidden);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> broken_promise(uint64_t seed, std::map<std::string, int>& outcomes) {
  const Scene scene(seed);
  const auto what = broken(scene, outcomes);
  return what ? std::optional(fmt::format("seed {}: {}{}", seed, *what, scene.words())) : std::nullopt;
}

}  // namespace armgate::arm
