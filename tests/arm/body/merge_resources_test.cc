// Goal: resources as providers show them are merged as the clients meant it. Method: to each of tests/arm/resources random edits by
// two clients, applied in turn by someone who knows nothing but the edits.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "arm/body/body_facts.h"
#include "base/rng.h"
#include "base/source_tree.h"
#include "json/tree.h"
#include "tests/arm/body/merged.h"

namespace armgate::arm {
namespace {

using Json = nlohmann::ordered_json;

// A member's name, or an element's key as it is written: {"lun", 0}.
struct Token {
  std::string name;
  Json key;  // null: a member
  bool operator==(const Token&) const = default;
};
using Way = std::vector<Token>;

struct Edit {
  enum class Kind { Set, Add, Remove } kind = Kind::Set;
  Way way;
  Json value;
};

constexpr const char* kKeys[] = {"name", "id", "lun", "ipv4Address"};
const std::set<std::string> kNotEdited{"name",         "id",          "type", "etag",        "eTag",     "provisioningState",
                                       "resourceGuid", "timeCreated", "lun",  "ipv4Address", "location", "clientId",
                                       "principalId"};

const char* key_of(const Json& array) {
  for (const char* key : kKeys) {
    const auto has = [&](const Json& element) { return element.is_object() && element.contains(key); };
    if (!array.empty() && std::all_of(array.begin(), array.end(), has)) return key;
  }
  return nullptr;
}

bool is_map(const std::string& name) { return name == "tags" || name == "nodeLabels" || name == "metadata"; }

// All edits that one client may make, each at a place of its own.
class Edits {
 public:
  Edits(const Json& resource, std::string mark) : mark_(std::move(mark)) { object(resource, {}, false); }
  const std::vector<Edit>& all() const { return all_; }

 private:
  void object(const Json& object, const Way& way, bool is_free) {
    size_t leaves = 0;
    for (const auto& [name, value] : object.items()) leaves += value.is_primitive() ? 1 : 0;
    for (const auto& [name, value] : object.items()) {
      if (!is_free && kNotEdited.contains(name)) continue;
      const Way here = below(way, {name, {}});
      if (value.is_object()) this->object(value, here, is_map(name));
      if (value.is_array()) array(value, here);
      if (!value.is_primitive()) continue;
      all_.push_back({Edit::Kind::Set, here, is_free ? Json("v" + mark_) : other(value)});
      if (leaves > 2) all_.push_back({Edit::Kind::Remove, here, {}});
    }
    if (is_free || way.empty()) all_.push_back({Edit::Kind::Add, below(way, {"added" + mark_, {}}), "1"});
  }

  void array(const Json& array, const Way& way) {
    const char* key = key_of(array);
    if (key == nullptr) {
      all_.push_back({Edit::Kind::Set, way, Json::array({"own" + mark_})});
      return;
    }
    for (const Json& element : array) {
      object(element, below(way, {key, element.at(key)}), false);
      all_.push_back({Edit::Kind::Remove, below(way, {key, element.at(key)}), {}});
    }
    const Json name = array.front().at(key).is_number() ? Json(mark_ == "a" ? 70 : 71) : Json("/subscriptions/new" + mark_);
    all_.push_back(
        {Edit::Kind::Add, below(way, {key, name}), Json{{key, name}, {"etag", mark_ == "a" ? "old" : "there"}, {"v", 1.5}}});
  }

  Json other(const Json& value) const {
    if (value.is_boolean()) return !value.get<bool>();
    if (value.is_number()) return mark_ == "a" ? 9001 : 9002;
    return "changed" + mark_;
  }
  static Way below(Way way, Token token) {
    way.push_back(std::move(token));
    return way;
  }

  const std::string mark_;
  std::vector<Edit> all_;
};

void apply(Json& json, const Edit& edit, size_t depth = 0) {
  const Token& token = edit.way[depth];
  const bool is_last = depth + 1 == edit.way.size();
  if (token.key.is_null()) {
    if (!is_last) return apply(json.at(token.name), edit, depth + 1);
    if (edit.kind == Edit::Kind::Remove) {
      json.erase(token.name);
    } else {
      json[token.name] = edit.value;
    }
    return;
  }
  const auto at = std::find_if(json.begin(), json.end(), [&](const Json& one) { return one.at(token.name) == token.key; });
  if (!is_last) return apply(*at, edit, depth + 1);
  if (edit.kind == Edit::Kind::Remove) {
    json.erase(at);
  } else {
    json.push_back(edit.value);
  }
}

// The client's copies of ETags are old ones.
void make_old(Json& json) {
  for (Json& below : json) {
    if (below.is_structured()) make_old(below);
  }
  if (json.is_object() && json.contains("etag") && json.at("etag") != "own") json["etag"] = "old";
}

bool meet(const Edit& a, const Edit& b) {
  const size_t shared = std::min(a.way.size(), b.way.size());
  return std::equal(a.way.begin(), a.way.begin() + static_cast<int>(shared), b.way.begin());
}

// ETags that came with a new element are the service's.
void without_old_tags(Json& json) {
  if (json.is_object() && json.contains("etag") && json.at("etag") == "old") json.erase("etag");
  for (Json& below : json) {
    if (below.is_structured()) without_old_tags(below);
  }
}

class EveryResource : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryResource, IsMergedAsBothMeantIt) {
  std::ifstream file(source_path("tests/arm/resources/" + GetParam() + ".json"));
  const Json base = Json::parse(file);
  const BodyFacts facts({.arrays = {{"/properties/urlPathMaps/*/properties/pathRules", ArrayKind::Keyed, {"name"}}}});
  const Edits mine(base, "a"), others(base, "b");
  Rng rng(7);
  int merged_ones = 0, conflicts = 0;
  for (int round = 0; round < 400; ++round) {
    const Edit& own = mine.all()[rng.below(mine.all().size())];
    std::vector<Edit> theirs;
    for (uint64_t i = 1 + rng.below(3); i > 0; --i) {
      const Edit& one = others.all()[rng.below(others.all().size())];
      if (std::none_of(theirs.begin(), theirs.end(), [&](const Edit& two) { return meet(one, two); })) theirs.push_back(one);
    }
    Json wanted = base, there = base;
    make_old(wanted);
    apply(wanted, own);
    for (const Edit& edit : theirs) apply(there, edit);
    const Merge merged = merge({{{{base.dump()}}}, {wanted.dump()}, {there.dump()}}, facts, MergeScope::All);
    const bool is_conflict = std::any_of(theirs.begin(), theirs.end(), [&](const Edit& edit) { return meet(own, edit); });
    const std::string story = "\nwanted " + wanted.dump() + "\nthere  " + there.dump();
    if (is_conflict) {
      // Both added the same, or removed it: no conflict, but a leaf's removal is one.
      const bool is_all_there = merged.obstacle == MergeObstacle::AllThere;
      const bool may_agree = is_all_there || (merged.kind == Merge::Kind::Merged && merged.taken.count == 0);
      ASSERT_TRUE(merged.kind == Merge::Kind::Conflict || may_agree) << words_for(merged) << story;
      ++conflicts;
      continue;
    }
    ASSERT_EQ(merged.kind, Merge::Kind::Merged) << words_for(merged) << story;
    Json expected = there;
    apply(expected, own);
    without_old_tags(expected);
    Json found = Json::parse(merged.body);
    ASSERT_EQ(found.dump(), expected.dump()) << story;
    ++merged_ones;
  }
  EXPECT_GT(merged_ones, 100);
  EXPECT_GT(conflicts, 5);
}

std::vector<std::string> resources() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("tests/arm/resources")))
    names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Merge, EveryResource, ::testing::ValuesIn(resources()), [](const auto& one) { return one.param; });

}  // namespace
}  // namespace armgate::arm
