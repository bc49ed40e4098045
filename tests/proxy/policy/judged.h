// judged.h – bases, a write, what is there, and the verdict in words.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arm/body/difference.h"
#include "proxy/policy/verdict.h"
#include "tests/proxy/policy/told.h"

namespace armgate::policy {

inline constexpr std::string_view kPlain = R"({"properties":{"n":1},"tags":{"a":"1"}})";
inline constexpr std::string_view kTwo = R"({"properties":{"n":2},"tags":{"a":"1"}})";
inline constexpr std::string_view kThree = R"({"properties":{"n":3},"tags":{"a":"1"}})";
inline constexpr std::string_view kTagged = R"({"properties":{"n":1},"tags":{"a":"1","b":"1"}})";
inline constexpr std::string_view kBoth = R"({"properties":{"n":2},"tags":{"a":"1","b":"1"}})";
inline constexpr std::string_view kTwice = R"({"n":1,"n":2})";  // nobody can tell what that says

inline BaseState base_of(std::string_view json, std::string etag = "", bool is_partial = false) {
  BaseState base;
  base.api_version = "v1";
  base.etag = std::move(etag);
  base.is_partial = is_partial;
  base.body = is_partial ? partial(std::string(json)) : whole(std::string(json));
  return base;
}
inline BaseState absent() {
  BaseState base;
  base.absent = true;
  return base;
}
inline BaseState gone(std::string_view json, bool deleted = true) {
  BaseState base = base_of(json, deleted ? "" : "1");
  base.gone = true, base.deleted = deleted;
  return base;
}
inline BaseState at_version(std::string_view json, std::string etag) {
  BaseState base = base_of(json, std::move(etag));
  base.api_version = "v2";
  return base;
}
inline BaseState without_body(std::string etag) {
  BaseState base = base_of("", std::move(etag));
  base.body = nullptr;
  return base;
}

class Judged {
 public:
  std::vector<BaseState> bases;
  std::string_view there = kPlain;
  std::string there_etag{};
  bool is_absent = false;
  std::string_view wanted_version = "v1";
  bool others_wrote = false;
  BaseRule rule = BaseRule::AnyShown;
  Right right{};
  size_t either_of = 0;

  Verdict verdict(std::string_view wanted) const {
    Bases all;
    all.possible = bases;
    all.rule = rule;
    all.either_of = either_of;
    const ThereBody now{is_absent, there_etag, there, "v1"};
    const auto others_wrote_since = [this](uint64_t) { return others_wrote; };
    return decide(all, {wanted, wanted_version}, now, right, others_wrote_since, *arm::BodyFacts::generic(),
                  arm::MergeScope::All);
  }
  // "sent", "by right"; "refused" with what is in the way, "merged" with what others changed.
  std::string operator()(std::string_view wanted) const {
    const Verdict v = verdict(wanted);
    if (v.sends && !v.merged) return v.by_right ? "by right" : "sent";
    std::string text = v.merged ? "merged" : "refused";
    for (const auto& pointer : v.merged ? v.merged->kept.pointers : v.pointers) text += " " + pointer;
    return text;
  }
};

inline Judged on(std::vector<BaseState> bases, std::string_view there) {
  Judged judged;
  judged.bases = std::move(bases);
  judged.there = there;
  return judged;
}

}  // namespace armgate::policy
