// The option table: printed, read back, and held against the example configuration in the repository.
#include "proxy/config/option_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "base/source_tree.h"
#include "rules/file/setting_text.h"

namespace armgate {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// What every option holds, by its pointer.
std::map<std::string, std::string> values_of(Config& config) {
  std::map<std::string, std::string> values;
  for (const rules::Setting& setting : options_of(config)) {
    values[setting.pointer] = rules::value_to_json(setting.value);
  }
  return values;
}

TEST(OptionTable, TheExampleConfigurationIsThePrintedDefaults) {
  std::ifstream file(source_path("conf/armgate.json"));
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), print_defaults()) << "write it anew: armgate --print-defaults > conf/armgate.json";
}

TEST(OptionTable, PrintedDefaultsReadBackAreTheDefaults) {
  Config defaults, read;
  read.threads = 7;
  read.listen.proxy = "1.2.3.4:5";
  read.intercept = {"x.com"};
  read.queue.wait_max = {};
  read.log.level = LogLevel::Error;
  rules::FaultList faults;
  std::string schema;
  rules::read_json("defaults", print_defaults(), file_settings(read, schema), faults);
  for (const rules::Fault& fault : faults) ADD_FAILURE() << rules::to_text(fault);
  EXPECT_EQ(values_of(read), values_of(defaults));
}

TEST(OptionTable, EveryOptionIsPrintedWithItsSentenceAndHasItsOwnName) {
  Config config;
  const std::string printed = print_defaults();
  std::set<std::string> pointers;
  for (const rules::Setting& setting : options_of(config)) {
    EXPECT_TRUE(pointers.insert(setting.pointer).second) << setting.pointer << " stands twice in the table";
    EXPECT_THAT(printed, HasSubstr("// " + setting.sentence));
    EXPECT_THAT(printed, HasSubstr("\"" + setting.pointer.substr(setting.pointer.rfind('/') + 1) + "\": "));
  }
}

TEST(OptionTable, OneOptionIsSetAsItsTableEntryAllows) {
  Config config;
  rules::FaultList faults;
  set_option(config, "listen/proxy", "[2001:DB8::1]:9", "--listen", faults);
  set_option(config, "mode", "off", "--mode", faults);
  EXPECT_THAT(faults, IsEmpty());
  EXPECT_EQ(config.listen.proxy, "[2001:db8::1]:9");
  EXPECT_EQ(config.mode, rules::Mode::Off);

  set_option(config, "mode", "of", "--mode", faults);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(rules::to_text(faults[0]),
            "--mode: \"of\" is not a valid value; did you mean \"off\"? valid here: \"protect\", \"observe\" and \"off\"");
  EXPECT_EQ(config.mode, rules::Mode::Off);
}

}  // namespace
}  // namespace armgate
