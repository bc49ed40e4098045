// How settings show their values and their bounds.
#include "rules/file/setting_text.h"

#include <gtest/gtest.h>

namespace armgate::rules {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

enum class Colour { Red, Green };

TEST(SettingText, EveryKindShowsItsValueAsJson) {
  int whole = 7;
  size_t size = 70'000'000'000;
  double number = 2.5;
  size_t bytes = 64 * 1024;
  Duration span = milliseconds(1500);
  std::string text = "a \"quoted\"\nline";
  std::vector<std::string> list{"x", "y"};
  Colour colour = Colour::Green;
  std::optional<Colour> none;
  std::vector<Colour> colours{Colour::Green, Colour::Red};
  const struct {
    SettingValue value;
    const char* json;
  } cases[] = {
      {WholeNumber{&whole, 0, 9}, "7"},
      {WholeNumber{&size, 0, 9}, "70000000000"},
      {Number{&number, 1, 10}, "2.5"},
      {ByteSize{&bytes, 0, 9}, "\"64KiB\""},
      {TimeSpan{&span, {}, {}}, "\"1500ms\""},
      {Text{&text, {}}, R"("a \"quoted\"\nline")"},
      {TextList{&list, {}}, R"(["x","y"])"},
      {choice(&colour, {{"red", Colour::Red}, {"green", Colour::Green}}), "\"green\""},
      {choice<std::optional<Colour>>(&none, {{"red", Colour::Red}}), "null"},
      {choices(&colours, {{"red", Colour::Red}, {"green", Colour::Green}}), R"(["green","red"])"},
      {Entries{}, "{}"},
      {Items{}, "[]"},
  };
  for (const auto& c : cases) EXPECT_EQ(value_to_json(c.value), c.json);
}

TEST(SettingText, BoundsAreShownAsTheyAreWritten) {
  const struct {
    SettingValue value;
    const char* bounds;
  } cases[] = {
      {WholeNumber{static_cast<int*>(nullptr), 1, 256}, "1 to 256"},
      {Number{nullptr, 1, 2.5}, "1 to 2.5"},
      {ByteSize{nullptr, 0, 8u << 20}, "\"0B\" to \"8MiB\""},
      {TimeSpan{nullptr, seconds(1), hours(1)}, "\"1s\" to \"1h\""},
      {Choice{{"protect", "off"}, {}, {}}, "\"protect\" or \"off\""},
      {ChoiceList{{"PUT", "PATCH"}, {}, {}}, "\"PUT\", \"PATCH\""},
      {Text{}, ""},
      {TextList{}, ""},
      {Entries{}, ""},
      {Items{}, ""},
  };
  for (const auto& c : cases) EXPECT_EQ(bounds_to_text(c.value), c.bounds);
}

TEST(SettingText, FactsSayWhatAValueIsAndWhatHoldsWithoutIt) {
  Duration span = seconds(5);
  std::string empty;
  std::vector<std::string> none;
  std::optional<Colour> nothing;
  const auto refuse_empty = [](std::string& text) {
    return text.empty() ? std::optional<std::string>("is empty") : std::nullopt;
  };
  const struct {
    Setting setting;
    const char* facts;
  } cases[] = {
      {{"/a", TimeSpan{&span, seconds(1), hours(1)}, ""},
       "A duration in ms, s, m or h from \"1s\" to \"1h\". Default: \"5s\"."},
      {{"/a", Text{&empty, {}}, ""}, "A text. Default: \"\"."},
      {{"/a", Text{&empty, {}}, "", Need::Required}, "A text. Required."},
      // What the reader would refuse is no default.
      {{"/a", Text{&empty, refuse_empty}, ""}, "A text. No default."},
      {{"/a", TextList{&none, {}, 1}, ""}, "An array of texts. No default."},
      {{"/a", TextList{&none, {}, 0}, ""}, "An array of texts. Default: []."},
      {{"/a", choice<std::optional<Colour>>(&nothing, {{"red", Colour::Red}, {"green", Colour::Green}}), ""},
       "\"red\" or \"green\". No default."},
  };
  for (const auto& c : cases) EXPECT_EQ(facts_of(c.setting), c.facts);
}

}  // namespace
}  // namespace armgate::rules
