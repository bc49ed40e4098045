// Reading by a table: each kind of setting, what is wrong with it and where, and all of it at once.
#include "rules/file/json_reader.h"

#include <gtest/gtest.h>

#include <map>

namespace armgate::rules::json_reader_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

enum class Shade { Light, Dark };

struct Door {
  std::string label;
  int line = 0;
};

// One place of each kind.
struct Places {
  int count = 1;
  size_t total = 2;
  double factor = 3;
  size_t bytes = 4096;
  Duration span = seconds(5);
  std::string text = "before";
  std::vector<std::string> list{"before"};
  Shade shade = Shade::Light;
  std::vector<size_t> chosen{9};
  std::map<std::string, int> entries;
  std::vector<Door> doors;
  std::string name;
};

std::optional<std::string> check_even(std::string& text) {
  if (text.size() % 2 == 1) return "is not of even length";
  for (char& c : text) c = c == 'X' ? 'x' : c;
  return std::nullopt;
}

SettingTable table_of(Places& to) {
  const auto add_entry = [&to](const std::string& name) {
    return SettingTable{{"/n", WholeNumber{&to.entries[name], 0, 9}, "a digit"}};
  };
  const auto add_door = [&to](int line) {
    Door& door = to.doors.emplace_back();
    door.line = line;
    return SettingTable{{"/label", Text{&door.label, {}}, "what stands on it", Need::Required}};
  };
  return {
      {"/count", WholeNumber{&to.count, 1, 256}, "how many"},
      {"/total", WholeNumber{&to.total, 0, 5'000'000'000}, "how many in all"},
      {"/factor", Number{&to.factor, 1, 10}, "how much more"},
      {"/group/bytes", ByteSize{&to.bytes, 1024, 1 << 20}, "how large"},
      {"/group/span", TimeSpan{&to.span, milliseconds(10), hours(1)}, "how long"},
      {"/group/inner/text", Text{&to.text, check_even}, "what it says"},
      {"/list", TextList{&to.list, check_even, 1}, "what they say"},
      {"/shade", choice(&to.shade, {{"light", Shade::Light}, {"dark", Shade::Dark}}), "how bright"},
      {"/chosen", choices<size_t>(&to.chosen, {{"PUT", 0}, {"PATCH", 1}, {"DELETE", 2}}), "which"},
      {"/entries", Entries{check_even, add_entry}, "by name"},
      {"/doors", Items{add_door}, "in a row"},
      {"/name", Text{&to.name, {}}, "what it is called", Need::Required},
  };
}

std::vector<std::string> faults_in(std::string_view text, Places& places) {
  FaultList faults;
  read_json("f.json", text, table_of(places), faults);
  std::vector<std::string> texts;
  for (const Fault& fault : faults) texts.push_back(to_text(fault));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(JsonReader, EveryKindOfValueReachesItsPlace) {
  Places places;
  const auto faults = faults_in(R"(// a comment before
    {
      "name": "n", "count": 256, "total": 5000000000, "factor": 1.5, /* between */
      "group": {"bytes": "64KiB", "span": "250ms", "inner": {"text": "aXbX"}},
      "list": ["aX", "bb"], "shade": "dark", "chosen": ["DELETE", "PUT"],
      "entries": {"Xa": {"n": 7}, "bb": {}},
      "doors": [{"label": "one"},
                {"label": "two"}]
    } // and after)",
                                places);
  EXPECT_EQ(faults, Texts{});
  EXPECT_EQ(places.count, 256);
  EXPECT_EQ(places.total, 5'000'000'000u);
  EXPECT_EQ(places.factor, 1.5);
  EXPECT_EQ(places.bytes, 65536u);
  EXPECT_EQ(places.span, milliseconds(250));
  EXPECT_EQ(places.text, "axbx") << "the check makes it canonical";
  EXPECT_EQ(places.list, (Texts{"ax", "bb"}));
  EXPECT_EQ(places.shade, Shade::Dark);
  EXPECT_EQ(places.chosen, (std::vector<size_t>{2, 0}));
  EXPECT_EQ(places.entries, (std::map<std::string, int>{{"xa", 7}, {"bb", 0}}));
  ASSERT_EQ(places.doors.size(), 2u);
  EXPECT_EQ(places.doors[1].label, "two");
  EXPECT_EQ(places.doors[1].line, 8);
}

TEST(JsonReader, EachWrongValueIsNamedAtItsLineAndPointer) {
  const struct {
    const char* member;  // stands on line 2
    const char* fault;
  } cases[] = {
      {R"("count": 0)", "/count: must be a whole number from 1 to 256, but is the number 0"},
      {R"("count": 257)", "/count: must be a whole number from 1 to 256, but is the number 257"},
      {R"("count": -1)", "/count: must be a whole number from 1 to 256, but is the number -1"},
      {R"("count": 1.0)", "/count: must be a whole number from 1 to 256, but is the number 1.0"},
      {R"("count": "1")", "/count: must be a whole number from 1 to 256, but is the text \"1\""},
      {R"("count": true)", "/count: must be a whole number from 1 to 256, but is true"},
      {R"("count": null)", "/count: must be a whole number from 1 to 256, but is null"},
      {R"("count": [1])", "/count: must be a whole number from 1 to 256, but is an array"},
      {R"("count": {})", "/count: must be a whole number from 1 to 256, but is an object"},
      {R"("factor": 10.5)", "/factor: must be a number from 1 to 10, but is the number 10.5"},
      {R"("factor": "2")", "/factor: must be a number from 1 to 10, but is the text \"2\""},
      {R"("group": {"bytes": "2MiB"})",
       "/group/bytes: must be a size in B, KiB, MiB or GiB from \"1KiB\" to \"1MiB\", but is the text \"2MiB\""},
      {R"("group": {"bytes": 4096})",
       "/group/bytes: must be a size in B, KiB, MiB or GiB from \"1KiB\" to \"1MiB\", but is the number 4096"},
      {R"("group": {"span": "5"})",
       "/group/span: must be a duration in ms, s, m or h from \"10ms\" to \"1h\", but is the text \"5\""},
      {R"("group": {"span": "2h"})",
       "/group/span: must be a duration in ms, s, m or h from \"10ms\" to \"1h\", but is the text \"2h\""},
      {R"("group": {"inner": {"text": "odd"}})", "/group/inner/text: \"odd\" is not of even length"},
      {R"("group": {"inner": {"text": 1}})", "/group/inner/text: must be a text, but is the number 1"},
      {R"("group": 5)", "/group: must be an object, but is the number 5"},
      {R"("group": {"inner": []})", "/group/inner: must be an object, but is an array"},
      {R"("list": "aa")", "/list: must be an array of texts, but is the text \"aa\"; write [\"aa\"]"},
      {R"("list": [])", "/list: must name at least 1, but names 0; add to it"},
      {R"("list": ["aa", 1])", "/list/1: must be a text, but is the number 1"},
      {R"("list": ["aa", "odd"])", "/list/1: \"odd\" is not of even length"},
      {R"("list": ["aX", "bb", "ax"])", "/list/2: \"ax\" is in this list already; remove one"},
      {R"("shade": "drak")",
       "/shade: \"drak\" is not a valid value; did you mean \"dark\"? valid here: \"light\" and \"dark\""},
      {R"("shade": "purple")", "/shade: \"purple\" is not a valid value; valid here: \"light\" and \"dark\""},
      {R"("shade": false)", "/shade: must be \"light\" or \"dark\", but is false"},
      {R"("chosen": [])", "/chosen: must name at least 1, but names 0; add to it"},
      {R"("chosen": ["PUT", "PTACH"])",
       "/chosen/1: \"PTACH\" is not a valid value; did you mean \"PATCH\"? valid here: \"PUT\", \"PATCH\" and \"DELETE\""},
      {R"("chosen": ["PUT", "PUT"])", "/chosen/1: \"PUT\" is in this list already; remove one"},
      {R"("entries": [])", "/entries: must be an object, but is an array"},
      {R"("entries": {"odd": {}})", "/entries/odd: \"odd\" is not of even length"},
      {R"("entries": {"aa": 1})", "/entries/aa: must be an object, but is the number 1"},
      {R"("entries": {"aa": {"n": 10}})", "/entries/aa/n: must be a whole number from 0 to 9, but is the number 10"},
      {R"("entries": {"aa": {"m": 1}})", "/entries/aa/m: \"m\" is not a known key; valid here: \"n\""},
      {R"("entries": {"a/~b": 1})", "/entries/a~1~0b: must be an object, but is the number 1"},
      {R"("doors": {})", "/doors: must be an array of objects, but is an object"},
      {R"("doors": [7])", "/doors/0: must be an object, but is the number 7"},
      {R"("doors": [{}])", "/doors/0: \"label\" is missing: what stands on it; add \"label\": ..."},
      {R"("cuont": 1)", "/cuont: \"cuont\" is not a known key; did you mean \"count\"?"},
      {R"("group": {"sapn": "1s"})", "/group/sapn: \"sapn\" is not a known key; did you mean \"span\"?"},
      {R"("group": {"zzzzzz": 1})",
       "/group/zzzzzz: \"zzzzzz\" is not a known key; valid here: \"bytes\", \"span\" and \"inner\""},
      {R"("count": 2, "count": 3)", "/count: stands here a second time, first on line 2; remove one"},
  };
  for (const auto& c : cases) {
    Places places;
    const auto faults = faults_in("{\"name\": \"n\",\n" + std::string(c.member) + "\n}", places);
    EXPECT_EQ(faults, Texts{"f.json:2: " + std::string(c.fault)}) << c.member;
  }
}

TEST(JsonReader, WrongValueLeavesItsPlaceUnchanged) {
  Places places;
  const auto faults = faults_in(R"({"name": "n", "count": 0, "total": -1, "factor": 0, "group": {"bytes": "1B", "span": "0s",
    "inner": {"text": "odd"}}, "list": ["aa", "odd"], "shade": "x", "chosen": ["PUT", "x"], "entries": {"odd": {}}})",
                                places);
  EXPECT_EQ(faults.size(), 10u);
  const Places before;
  EXPECT_EQ(places.count, before.count);
  EXPECT_EQ(places.total, before.total);
  EXPECT_EQ(places.factor, before.factor);
  EXPECT_EQ(places.bytes, before.bytes);
  EXPECT_EQ(places.span, before.span);
  EXPECT_EQ(places.text, before.text);
  EXPECT_EQ(places.list, before.list);
  EXPECT_EQ(places.shade, before.shade);
  EXPECT_EQ(places.chosen, before.chosen);
  EXPECT_TRUE(places.entries.empty());
}

TEST(JsonReader, AllFaultsComeAtOnceInTheOrderOfLines) {
  Places places;
  const auto faults =
      faults_in("{\n\"shade\": \"drak\",\n\"zz\": 1,\n\"count\": 0,\n\"count\": 1,\n\"group\": {\n\"span\": 5\n}\n}", places);
  ASSERT_EQ(faults.size(), 5u);
  EXPECT_EQ(faults[0], "f.json:1: \"name\" is missing: what it is called; add \"name\": ...");
  EXPECT_EQ(faults[1].rfind("f.json:2: /shade: ", 0), 0u) << faults[1];
  EXPECT_EQ(faults[2].rfind("f.json:3: /zz: ", 0), 0u) << faults[2];
  EXPECT_EQ(faults[3], "f.json:5: /count: stands here a second time, first on line 4; remove one");
  EXPECT_EQ(faults[4].rfind("f.json:7: /group/span: ", 0), 0u) << faults[4];
}

TEST(JsonReader, FaultsAreAddedToThoseOfOtherFiles) {
  FaultList faults{{"other.json", 9, "", "is wrong"}};
  Places places;
  EXPECT_TRUE(read_json("f.json", "{}", table_of(places), faults).has_value());
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(to_text(faults[0]), "other.json:9: is wrong");
}

TEST(JsonReader, WhatIsNotJsonIsNamedWithItsLine) {
  const struct {
    const char* text;
    int line;
  } cases[] = {
      {"", 1},
      {"{\n\n", 3},
      {"{\"name\": \"n\"\n\"count\": 1}", 2},
      {"{\"name\": \"n\",\n}", 2},
      {"{}\n{}", 2},
      {"{\n/* never ends", 2},
      {"{\"name\":\n\"n}", 2},
      {"{\"count\":\n1e400}", 2},
      {"{\n\"\xff\": 1}", 2},
  };
  for (const auto& c : cases) {
    FaultList faults;
    Places places;
    EXPECT_FALSE(read_json("f.json", c.text, table_of(places), faults).has_value()) << c.text;
    ASSERT_EQ(faults.size(), 1u) << c.text;
    EXPECT_EQ(faults[0].line, c.line) << c.text;
    EXPECT_EQ(faults[0].message.rfind("is not valid JSON: ", 0), 0u) << faults[0].message;
    EXPECT_EQ(faults[0].message.find("json.exception"), std::string::npos) << faults[0].message;
  }
}

TEST(JsonReader, WhatIsNoObjectIsRefused) {
  for (const char* text : {"[]", "null", "7", "\"x\""}) {
    Places places;
    const auto faults = faults_in(text, places);
    ASSERT_EQ(faults.size(), 1u) << text;
    EXPECT_EQ(faults[0].rfind("f.json:1: must be an object, but is ", 0), 0u) << faults[0];
  }
}

TEST(JsonReader, DepthIsBounded) {
  Places places;
  const std::string deep = "{\"list\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_EQ(faults_in(deep, places), Texts{"f.json: is nested deeper than 64 levels"});
}

TEST(JsonReader, AFaultStaysOnOneLineWhateverTheTextHolds) {
  for (const char* member : {R"("co\nunt": 1)", R"("shade": "da\nrk")", R"("group": {"inner": {"text": "a\u001b\n"}})",
                             R"("list": ["\n\n", "\n\n"])", R"("chosen": ["\n"])", R"("entries": {"\n": {}})"}) {
    Places places;
    const auto faults = faults_in("{\"name\": \"n\", " + std::string(member) + "}", places);
    ASSERT_EQ(faults.size(), 1u) << member;
    for (char c : faults[0]) EXPECT_GE(static_cast<unsigned char>(c), ' ') << faults[0];
  }
}

TEST(JsonReader, PositionsServeChecksAcrossSettings) {
  FaultList faults;
  Places places;
  const auto positions = read_json("f.json", "{\n\"name\": \"n\",\n\"group\": {\n\"span\": \"1s\"}}", table_of(places), faults);
  ASSERT_TRUE(positions.has_value());
  EXPECT_EQ(positions->line_of("/group/span"), 4);
  EXPECT_EQ(positions->line_of("/group/bytes"), 3);
}

}  // namespace
}  // namespace armgate::rules::json_reader_test
