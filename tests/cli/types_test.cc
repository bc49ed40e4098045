// `armgate types` and `armgate types import`, as people call them.
#include "cli/types.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "json/tree.h"
#include "tests/cli/fixture.h"
#include "tests/support/bicep_sample.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CliTypes : public Cli {
 protected:
  void put(const std::string& version, const std::string& types) {
    write(checkout / "generated" / "example" / "microsoft.example" / version / "types.json", types);
  }
  void index(const std::string& names) { write(checkout / "generated" / "index.json", "{\"resources\": {" + names + "}}"); }
  static void write(const fs::path& to, const std::string& text) {
    fs::create_directories(to.parent_path());
    std::ofstream(to) << text;
  }
  static std::string read(const fs::path& from) {
    std::ifstream in(from);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  int import_into(const fs::path& to) { return run({"types", "import", checkout.string(), "--output", to.string()}); }

  const fs::path checkout = directory.path() / "bicep-types-az";
  const fs::path file = directory.path() / "imported.json";
  const std::string named =
      R"("Microsoft.Example/widgets@2024-01-01": {"$ref": "example/microsoft.example/2024-01-01/types.json#/12"})";
};

TEST_F(CliTypes, OneTypeIsToldWithWhatIsKnownAndWhoProtectsIt) {
  EXPECT_EQ(run({"types", "Microsoft.Network/virtualNetworks/subnets"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("declared: rule files say what is known"));
  EXPECT_THAT(out.str(), HasSubstr("rule \"subnets\" at "));
  EXPECT_THAT(out.str(), HasSubstr("/properties/ipConfigurations"));
  EXPECT_THAT(out.str(), HasSubstr("facts-network.json:"));
  EXPECT_EQ(run({"types", "Microsoft.Nobody/knows"}), kExitDone) << "an unknown type is no error";
  EXPECT_THAT(out.str(), AllOf(HasSubstr("generic"), Not(HasSubstr("did you mean"))));
  EXPECT_EQ(run({"types", "Microsoft.Network/virtualNetwroks"}), kExitDone);
  EXPECT_THAT(out.str(), AllOf(HasSubstr("did you mean"), HasSubstr(" microsoft.network/virtualnetworks\n")));
}

TEST_F(CliTypes, JsonHasEveryOneOfSeveralThatSayTheSame) {
  EXPECT_EQ(run({"types", "Microsoft.ContainerService/managedClusters", "--output", "json"}), kExitDone);
  const auto told = nlohmann::json::parse(out.str());
  EXPECT_TRUE(told["guard"].is_array());
  EXPECT_TRUE(told["kept if left out"].is_array());
  EXPECT_EQ(told["type"]["value"], "microsoft.containerservice/managedclusters");
}

TEST_F(CliTypes, WithoutATypeAllAreListedWithCounts) {
  EXPECT_EQ(run({"types"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("microsoft.network/virtualnetworks "));
  EXPECT_THAT(out.str(), HasSubstr("types and patterns: of "));
  EXPECT_EQ(run({"types", "--output", "json"}), kExitDone);
  const auto list = nlohmann::json::parse(out.str());
  EXPECT_GT(list.size(), 200u);
  EXPECT_TRUE(list[0].contains("read_only"));
}

TEST_F(CliTypes, AnImportIsAFileThatTheConfigurationNames) {
  put("2024-01-01", widget_types("2024-01-01", 2));
  index(named);
  ASSERT_EQ(import_into(file), kExitDone) << err.str();
  EXPECT_THAT(out.str(), HasSubstr("1 types that can be written, of 2 types at api-versions"));
  write(directory.path() / "own.json", R"({"rules": ["shipped", "imported.json"]})");
  ASSERT_EQ(run({"types", "Microsoft.Example/widgets", "--config", (directory.path() / "own.json").string()}), kExitDone)
      << err.str();
  EXPECT_THAT(out.str(), HasSubstr("imported: what public schemas say"));
  EXPECT_THAT(out.str(), HasSubstr("/properties/endpoint"));
  EXPECT_THAT(out.str(), HasSubstr("imported.json:3"));
  EXPECT_EQ(run({"check", "--config", (directory.path() / "own.json").string()}), kExitDone) << err.str();
}

TEST_F(CliTypes, ASecondImportTellsWhatIsOther) {
  put("2024-01-01", widget_types("2024-01-01", 2));
  index(named);
  ASSERT_EQ(import_into(file), kExitDone);
  ASSERT_EQ(import_into(file), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("added: 0\ngone: 0\nchanged: 0\n"));
  put("2025-01-01", widget_types("2025-01-01", 0));
  ASSERT_EQ(import_into(file), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("changed: 1 (Microsoft.Example/widgets)"));
  EXPECT_THAT(read(file), Not(HasSubstr("/properties/part\"")));
}

TEST_F(CliTypes, WithoutAFileTheFactsGoToStandardOutput) {
  put("2024-01-01", widget_types("2024-01-01", 2));
  index(named);
  ASSERT_EQ(run({"types", "import", checkout.string()}), kExitDone);
  EXPECT_TRUE(rules::is_imported(out.str()));
}

TEST_F(CliTypes, WhatIsNoCompleteCheckoutIsRefusedAndNothingIsWritten) {
  EXPECT_EQ(import_into(file), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("name the directory of a checkout"));
  index("");
  EXPECT_EQ(import_into(file), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("describes no type that can be written"));
  put("2024-01-01", widget_types("2024-01-01", 2));
  index(named + R"(, "Microsoft.Example/gone@2020-01-01": {})");
  EXPECT_EQ(import_into(file), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("Microsoft.Example/gone@2020-01-01"));
  index(named);
  put("2023-01-01", "[broken");
  EXPECT_EQ(import_into(file), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("2023-01-01/types.json"));
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(CliTypes, AnotherFileIsNotReplaced) {
  put("2024-01-01", widget_types("2024-01-01", 2));
  index(named);
  write(file, R"({"rules": []})");
  EXPECT_EQ(import_into(file), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("holds something else than imported facts"));
  EXPECT_EQ(read(file), R"({"rules": []})");
}

}  // namespace
}  // namespace armgate
