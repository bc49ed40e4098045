// Goal: on flat bodies reconcile() and looks_stale() are what docs/design.md, "Reconciliation" and "Possible bases" say they are
// (a model of dictionaries of leaves), however the leaves are written. Method: random bodies, seeded.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/rng.h"
#include "tests/arm/body/compared.h"

namespace armgate::arm {
namespace {

// A leaf is a scalar ("cap0"), a member of a map ("tag0") or an element of an array with keys ("rule0"), whose own scalar has the
// value.
using Body = std::map<std::string, int>;

std::optional<int> at(const Body& body, const std::string& leaf) {
  const auto found = body.find(leaf);
  return found == body.end() ? std::nullopt : std::optional(found->second);
}

bool is_scalar(const std::string& leaf) { return leaf.starts_with("cap"); }

const std::vector<std::string>& leaves() {
  static const std::vector<std::string> all{"cap0", "cap1", "tag0", "tag1", "tag2", "rule0", "rule1", "rule2"};
  return all;
}

// ---- the model ----

struct Led {
  Resolution resolution = Resolution::Conflict;
  Body body;
};

bool changed(const Body& from, const Body& to, const std::string& leaf) { return at(from, leaf) != at(to, leaf); }

Led model_reconcile(const Body& base, const Body& wanted, const Body& there) {
  bool any_by_write = false, any_by_others = false;
  Body merged = there;
  for (const auto& leaf : leaves()) {
    const bool by_write = changed(base, wanted, leaf), by_others = changed(base, there, leaf);
    any_by_write |= by_write;
    any_by_others |= by_others;
    if (by_write && by_others) {
      const bool whole = !at(base, leaf) || !at(wanted, leaf);
      if (is_scalar(leaf) || changed(wanted, there, leaf) || !whole) return {};
    }
    if (by_write) merged.erase(leaf);
    if (by_write && at(wanted, leaf)) merged[leaf] = *at(wanted, leaf);
  }
  if (!any_by_others) return {Resolution::Send, wanted};
  if (!any_by_write) return {};
  return {merged == wanted ? Resolution::Contained : Resolution::Merge, merged};
}

// Whether the text has what holds the leaf, which alone can lack it.
bool mentions_holder(const std::string& text, const std::string& leaf) {
  return text.find(leaf.starts_with("tag") ? "\"tags\"" : "\"rules\"") != text.npos;
}

// What a client sent, and how it was written down.
struct Asked {
  const Body& body;
  const std::string& text;
};

// `sent`: what the client sent to make the newest.
bool model_looks_stale(const Asked& asked, const Body& old, const Body& newest, const Asked& sent) {
  const Body& wanted = asked.body;
  bool lacks_as_old = false, has_newer = false;
  for (const auto& leaf : leaves()) {
    if (!changed(old, newest, leaf)) continue;
    const bool is_both = at(old, leaf) && at(newest, leaf);
    const bool moved = is_scalar(leaf) || (leaf.starts_with("rule") && is_both);
    const bool is_old = !changed(wanted, old, leaf);
    if ((is_old && at(wanted, leaf)) || (wanted == newest && moved)) return true;
    lacks_as_old |= is_old;
    const auto has_it = [&](const Asked& one) { return !changed(one.body, newest, leaf) && mentions_holder(one.text, leaf); };
    has_newer |= !is_scalar(leaf) && !is_both && has_it(asked) && has_it(sent);
  }
  return lacks_as_old && !has_newer;
}

// ---- the same, written down ----

// In random order and spelling; what is empty may be left out.
std::string written(const Body& body, Rng& style) {
  std::string scalars, tags, rules;
  for (const auto& [leaf, value] : body) {
    if (is_scalar(leaf)) {
      scalars += fmt::format(R"(,"{}":{}{})", leaf, value, style.chance(0.5) ? ".0" : "");
    } else if (leaf.starts_with("tag")) {
      const std::string one = fmt::format(R"("{}":"{}")", leaf, value);
      tags = tags.empty() ? one : style.chance(0.5) ? tags + "," + one : one + "," + tags;
    } else {
      const std::string one = fmt::format(R"({{"name":"{}","etag":"{}","properties":{{"access":"Allow","value":{}}}}})",
                                          style.chance(0.5) ? leaf : "R" + leaf.substr(1), style.below(9), value);
      rules = rules.empty() ? one : style.chance(0.5) ? rules + "," + one : one + "," + rules;
    }
  }
  const bool leaves_out = style.chance(0.3);
  std::string text = fmt::format(R"({{"etag":"{}","properties":{{"x":1{})", style.below(9), scalars);
  if (!rules.empty() || !leaves_out) text += R"(,"rules":[)" + rules + "]";
  text += "}";
  if (!tags.empty() || !leaves_out) text += R"(,"tags":{)" + tags + "}";
  return text + "}";
}

Body random_body(Rng& rng) {
  Body body;
  for (const auto& leaf : leaves()) {
    if (rng.chance(0.6)) body[leaf] = static_cast<int>(rng.below(2));
  }
  return body;
}

// Whether a PUT of the first leads to the second: maps and arrays count only where it writes them.
bool is_asked_for(const std::string& text, const Body& wanted, const Body& state) {
  for (const auto& leaf : leaves()) {
    if (at(wanted, leaf) == at(state, leaf)) continue;
    const bool mentions = is_scalar(leaf) ? wanted.contains(leaf) : mentions_holder(text, leaf);
    if (mentions) return false;
  }
  return true;
}

// A few leaves of another one changed, so that most stays as it is.
Body near(const Body& from, Rng& rng) {
  Body body = from;
  for (uint64_t i = rng.below(3); i > 0; --i) {
    const auto& leaf = leaves()[rng.below(leaves().size())];
    body.erase(leaf);
    if (rng.chance(0.6)) body[leaf] = static_cast<int>(rng.below(3));
  }
  return body;
}

struct Scene {
  std::vector<Body> bodies;  // wanted, newest, and older ones
  std::vector<std::string> texts;

  explicit Scene(uint64_t seed) {
    Rng rng(seed);
    bodies.push_back(random_body(rng));
    for (int i = 0; i < 4; ++i) bodies.push_back(near(bodies[rng.below(bodies.size())], rng));
    for (const Body& body : bodies) texts.push_back(written(body, rng));
  }
  Difference difference() const { return compared({texts.begin(), texts.end()}); }
};

TEST(DifferenceProperty, ReconcileIsWhatTheModelSays) {
  std::map<std::string_view, int> seen;
  for (uint64_t seed = 1; seed <= 4'000; ++seed) {
    const Scene scene(seed);
    const Difference difference = scene.difference();
    for (size_t base = 0; base < 3; ++base) {
      for (size_t there = 0; there < scene.bodies.size(); ++there) {
        const size_t wanted = (base + there + seed) % scene.bodies.size();
        const auto expected = model_reconcile(scene.bodies[base], scene.bodies[wanted], scene.bodies[there]);
        const auto result = difference.reconcile(base, wanted, there);
        ASSERT_EQ(to_text(result.resolution), to_text(expected.resolution)) << "seed " << seed << "\n"
                                                                            << scene.texts[base] << "\n"
                                                                            << scene.texts[wanted] << "\n"
                                                                            << scene.texts[there];
        ++seen[to_text(result.resolution)];
        const auto& all = leaves();
        const auto moved = static_cast<size_t>(std::count_if(
            all.begin(), all.end(), [&](const auto& leaf) { return changed(scene.bodies[base], scene.bodies[there], leaf); }));
        ASSERT_EQ(difference.same(base, there), moved == 0) << "seed " << seed;
        ASSERT_EQ(difference.changed(base, there, 99).size(), moved) << "seed " << seed;
        ASSERT_EQ(difference.satisfied(base, there), is_asked_for(scene.texts[base], scene.bodies[base], scene.bodies[there]))
            << "seed " << seed << "\n"
            << scene.texts[base] << "\n"
            << scene.texts[there];
      }
    }
  }
  EXPECT_GT(seen["send"], 1'000);
  EXPECT_GT(seen["merge"], 1'000);
  EXPECT_GT(seen["conflict"], 1'000);
  EXPECT_GT(seen["contained"], 100);
}

TEST(DifferenceProperty, LooksStaleIsWhatTheModelSays) {
  int stale = 0, fresh = 0;
  for (uint64_t seed = 1; seed <= 8'000; ++seed) {
    const Scene scene(seed);
    const std::vector<Body> olds(scene.bodies.begin() + 2, scene.bodies.begin() + 4);
    const auto is_stale_by = [&](const Body& old) {
      return model_looks_stale({scene.bodies[4], scene.texts[4]}, old, scene.bodies[1], {scene.bodies[0], scene.texts[0]});
    };
    const bool expected = std::ranges::any_of(olds, is_stale_by);
    const OwnWrite own[] = {{0, 1}};
    ASSERT_EQ(scene.difference().looks_stale(4, std::vector<size_t>{2, 3}, 1, own), expected) << "seed " << seed << "\n"
                                                                                              << scene.texts[4] << "\n"
                                                                                              << scene.texts[2] << "\n"
                                                                                              << scene.texts[3] << "\n"
                                                                                              << scene.texts[1];
    ++(expected ? stale : fresh);
  }
  EXPECT_GT(stale, 2'000);
  EXPECT_GT(fresh, 500);
}

}  // namespace
}  // namespace armgate::arm
