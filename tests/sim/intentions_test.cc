// Goal: whatever body arrives, the judge says whether it has the effect that its client meant. Method: full writes beside what was said
// of them.
#include "sim/judge/intentions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/sim/sim_requests.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

Intentions meant(const char* from, const char* to) {
  return intentions(leaves_of(Json::parse(from)), leaves_of(Json::parse(to)));
}

std::string words_for(const IntentionJudge::Effect& effect) {
  return effect.is_as_meant() ? "as meant" : fmt::format("{}|{}|{}", effect.unintended, effect.undone, effect.overwritten);
}

TEST(Intentions, AFieldIsWhatWasWritten) {
  const auto all = meant(R"({"a":1,"b":"x","r":[{"name":"q"}]})", R"({"a":2,"t":{"c":"\u00e9\"/"}})");
  const auto read = read_intentions(intentions_text(all));
  ASSERT_TRUE(read);
  EXPECT_EQ(intentions_text(*read), intentions_text(all));
  EXPECT_EQ(intentions_text(all).find('\n'), std::string::npos);
  EXPECT_EQ(all.at("/a").to, "2");
  EXPECT_EQ(all.at("/b").to, std::nullopt);
  EXPECT_EQ(below("/p", all).at("/p/a").from, "1");
  for (const auto* broken : {"", "x", "[]", R"({"/a":1})", R"({"/a":[1]})"}) EXPECT_FALSE(read_intentions(broken)) << broken;
}

TEST(Intentions, TheEffectIsWhatWasMeantOrItIsSaidWhatIsNot) {
  constexpr const char* kBase = R"({"n":3,"tags":{"a":"1"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})";
  const struct {
    const char *wanted, *before, *after, *judged;
  } cases[] = {
      {R"({"n":4,"tags":{"a":"1"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})", kBase,
       R"({"n":4,"tags":{"a":"1"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})", "as meant"},
      // Another's tag stays, or is lost.
      {R"({"n":4,"tags":{"a":"1"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})",
       R"({"n":3,"tags":{"a":"1","b":"2"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})",
       R"({"n":4,"tags":{"a":"1","b":"2"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})", "as meant"},
      {R"({"n":4,"tags":{"a":"1"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})",
       R"({"n":3,"tags":{"a":"1","b":"2"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})",
       R"({"n":4,"tags":{"a":"1"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})", "/tags/b||"},
      // What another removed comes back.
      {R"({"n":4,"tags":{"a":"1"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})",
       R"({"n":3,"tags":{"a":"1"},"r":[{"name":"y","v":1}]})",
       R"({"n":4,"tags":{"a":"1"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})", "/r/x||"},
      // A removal that is not done.
      {R"({"n":3,"tags":{},"r":[{"name":"x","v":1},{"name":"y","v":1}]})", kBase, kBase, "|/tags/a|"},
      // Both counted.
      {R"({"n":4,"tags":{"a":"1"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})",
       R"({"n":4,"tags":{"a":"1"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})",
       R"({"n":4,"tags":{"a":"1"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})", "||/n"},
      // Both added the same.
      {R"({"n":3,"tags":{"a":"1","b":"2"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})",
       R"({"n":3,"tags":{"a":"1","b":"2"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})",
       R"({"n":3,"tags":{"a":"1","b":"2"},"r":[{"name":"x","v":1},{"name":"y","v":1}]})", "as meant"},
      // It removes what another has added to.
      {R"({"n":3,"tags":{"a":"1"},"r":[{"name":"y","v":1}]})",
       R"({"n":3,"tags":{"a":"1"},"r":[{"name":"x","v":1,"w":1},{"name":"y","v":1}]})",
       R"({"n":3,"tags":{"a":"1"},"r":[{"name":"y","v":1}]})", "/r/x/w||"},
  };
  for (const auto& c : cases) {
    const auto effect = IntentionJudge().effect("e", Json::parse(c.before), Json::parse(c.after), meant(kBase, c.wanted), "me");
    EXPECT_EQ(words_for(effect), c.judged) << c.wanted << "\n" << c.before << "\n" << c.after;
  }
}

TEST(Intentions, AnOrderIsKeptWhereNewOnesComeLast) {
  const Json was = Json::parse(R"({"r":[{"name":"a","s":[{"name":"p"},{"name":"q"}]},{"name":"B"},{"name":"c"}],"l":[2,1]})");
  for (const auto& [is, kept] : std::map<std::string, bool>{
           {R"({"r":[{"name":"a"},{"name":"b"},{"name":"c"}],"l":[1,2]})", true},
           {R"({"r":[{"name":"a"},{"name":"c"},{"name":"n"}]})", true},
           {R"({"r":[{"name":"n"},{"name":"a"},{"name":"c"}]})", false},
           {R"({"r":[{"name":"c"},{"name":"a"}]})", false},
           {R"({"r":[{"name":"a","s":[{"name":"q"},{"name":"p"}]}]})", false},
           {R"({"r":[],"new":[{"name":"x"}]})", true},
       }) {
    EXPECT_EQ(in_the_order_of(was, Json::parse(is)), kept) << is;
  }
}

TEST(Intentions, WhoOverwritesHimselfDoesNoHarm) {
  IntentionJudge judge;
  const Json three = Json::parse(R"({"n":3})"), four = Json::parse(R"({"n":4})"), five = Json::parse(R"({"n":5})");
  const Intentions to_five = meant(R"({"n":3})", R"({"n":5})");
  judge.happened("e", three, four, "me");
  EXPECT_EQ(words_for(judge.effect("e", four, five, to_five, "me")), "as meant");
  EXPECT_EQ(words_for(judge.effect("e", four, five, to_five, "another")), "||/n");
  EXPECT_EQ(words_for(judge.effect("other", four, five, to_five, "me")), "||/n");
  judge.removed("e");
  EXPECT_EQ(words_for(judge.effect("e", four, five, to_five, "me")), "||/n");
}

arm::Headers of_client(const char* id, const Intentions& all, std::string_view base) {
  return {{"x-sim-write-id", id},
          {"x-sim-client", id},
          {"x-sim-changes", intentions_text(all)},
          {"x-sim-base-version", std::string(base)}};
}

TEST(Intentions, AMergedWriteIsNoStaleOneAndALossIsOne) {
  SimOptions options;
  options.operation = Duration{};
  Bench bench(options);
  bench.create(kScaleSet, R"({"location":"we","tags":{"a":"1"}})");
  const std::string base(bench.ask("GET", kScaleSet).head.fields.get("x-sim-version"));
  bench.ask("PUT", kScaleSet, R"({"location":"we","tags":{"a":"1","b":"2"}})",
            of_client("w1", meant(R"({"tags":{"a":"1"}})", R"({"tags":{"a":"1","b":"2"}})"), base));
  const Intentions adds_c = meant(R"({"tags":{"a":"1"}})", R"({"tags":{"a":"1","c":"3"}})");
  bench.ask("PUT", kScaleSet, R"({"location":"we","tags":{"a":"1","b":"2","c":"3"}})", of_client("w2", adds_c, base));
  EXPECT_EQ(bench.arm.report().stale_writes_accepted, 0u);
  EXPECT_EQ(bench.arm.report().unintended_changes, 0u);
  bench.ask("PUT", kScaleSet, R"({"location":"we","tags":{"a":"1","c":"3"}})", of_client("w3", adds_c, base));
  EXPECT_EQ(bench.arm.report().stale_writes_accepted, 1u);
  EXPECT_EQ(bench.arm.report().unintended_changes, 1u);
  EXPECT_EQ(bench.arm.report().undone_changes, 0u);
}

// A child's intentions are its own; its neighbours are nobody's.
TEST(Intentions, OfAChild) {
  SimOptions options;
  options.operation = Duration{};
  Bench bench(options);
  bench.create(
      kNetwork,
      R"({"location":"we","properties":{"subnets":[{"name":"A","properties":{"v":1}},{"name":"b","properties":{}}]}})");
  const Intentions raises = meant(R"({"properties":{"v":1}})", R"({"properties":{"v":2}})");
  bench.ask("PUT", kNetwork + "/subnets/a", R"({"properties":{"v":2}})", of_client("w1", raises, ""));
  EXPECT_EQ(bench.arm.report().unintended_changes + bench.arm.report().undone_changes, 0u);
  bench.ask("PUT", kNetwork + "/subnets/a", R"({"properties":{"v":3,"w":1}})", of_client("w2", raises, ""));
  EXPECT_EQ(bench.arm.report().unintended_changes, 1u);
  EXPECT_EQ(bench.arm.report().undone_changes, 1u);
  EXPECT_EQ(bench.arm.report().overwritten_changes, 1u);
}

}  // namespace
}  // namespace armgate::sim
