// Text to values and back gives what nlohmann's own parse() and dump() give.
#include "sim/json_text.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "json/tree.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

std::string dumped(const Json& value) { return dump_json(value, kOneLine, JsonLetters::AsTheyAre); }

constexpr std::string_view kTexts[] = {
    R"({})",
    R"([])",
    R"("")",
    R"({"a":[],"b":{},"c":[{},[1,2]]})",
    R"({"z":1,"a":-1,"m":18446744073709551615,"n":-9223372036854775808})",
    R"([0,-0,1.5,-1e3,1E400,123456789012345678901234567890,true,false,null])",
    R"({"twice":1,"twice":2})",
    R"({"id":"/subscriptions/1/resourceGroups/g","etag":"W/\"1\"","note":"a\\b\n\t\u0001\u007f"})",
    R"({"ümlaut":"dämmerung","emoji":"\ud83d\ude00","half":"\ud83d"})",
    R"({"a":1,})",
    R"({"a":01})",
    R"(nul)",
    "",
    "\xef\xbb\xbf{\"mark\":1}",
    "{\"bad\":\"\xff\"}",
};

TEST(JsonText, IsReadAndWrittenAsNlohmannDoes) {
  for (const auto text : kTexts) {
    const Json expected = Json::parse(text, nullptr, false);
    const Json value = json_value(text);
    EXPECT_EQ(value.is_discarded(), expected.is_discarded()) << text;
    if (expected.is_discarded()) continue;
    EXPECT_EQ(value, expected) << text;
    EXPECT_EQ(json_text(value), dumped(expected)) << text;
  }
}

TEST(JsonText, EveryByteAtEveryPlaceIsEscapedAsDumpDoes) {
  for (int byte = 0; byte < 256; ++byte) {
    for (size_t at = 0; at < 19; ++at) {
      std::string text(19, 'x');
      text[at] = static_cast<char>(byte);
      EXPECT_EQ(json_text(Json(text)), dumped(text)) << byte << " at " << at;
    }
  }
}

TEST(JsonText, RandomBytesAreReplacedOrEscapedAsDumpDoes) {
  Rng rng(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(rng.below(40), ' ');
    for (char& c : text) c = static_cast<char>(rng.chance(0.1) ? rng.below(256) : 0x20 + rng.below(0x60));
    ASSERT_EQ(json_text(Json(text)), dumped(text));
  }
}

}  // namespace
}  // namespace armgate::sim
