// Shell completion and man pages, made from the commands as they are declared. Completions are asked of bash itself.
#include "cli/help/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "cli/help/man_page.h"
#include "tests/cli/fixture.h"

namespace armgate {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

class Completion : public Cli {
 protected:
  // What bash offers for the last word.
  std::vector<std::string> offered(const std::string& words) {
    EXPECT_EQ(run({"completion", "bash"}), kExitDone);
    const auto script = directory.write("armgate.bash", out.str());
    const std::string command =
        "cd " + directory.path().string() + " && bash --norc -c '. " + script.string() + "; COMP_WORDS=(armgate " + words +
        "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _armgate; printf \"%s\\n\" \"${COMPREPLY[@]}\"' 2>/dev/null";
    std::vector<std::string> lines;
    FILE* const pipe = ::popen(command.c_str(), "r");
    EXPECT_NE(pipe, nullptr);
    std::string line;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
      if (c == '\n') {
        if (!line.empty()) lines.push_back(std::move(line));
        line.clear();
      } else {
        line += static_cast<char>(c);
      }
    }
    ::pclose(pipe);
    return lines;
  }
};

TEST_F(Completion, BashOffersCommandsFlagsAndTheirValues) {
  EXPECT_THAT(offered("\"\""), IsSupersetOf({"run", "exec", "doctor", "ca", "completion", "--help", "--version"}));
  EXPECT_THAT(offered("exp"), ElementsAre("explain"));
  EXPECT_THAT(offered("ca \"\""), IsSupersetOf({"init", "path", "show", "trust", "untrust"}));
  EXPECT_THAT(offered("ca init --f"), ElementsAre("--force"));
  EXPECT_THAT(offered("status --output \"\""), ElementsAre("text", "json"));
  EXPECT_THAT(offered("status --output = j"), ElementsAre("json")) << "as bash splits --output=j";
  EXPECT_THAT(offered("env --shell p"), ElementsAre("powershell", "pwsh"));
  EXPECT_THAT(offered("completion \"\""), IsSupersetOf({"bash", "zsh", "fish"}));
  EXPECT_THAT(offered("run --mode \"\""), ElementsAre("protect", "observe", "off"));
  EXPECT_THAT(offered("queue --interval \"\""), Not(Contains("--interval"))) << "a flag of another command";
}

TEST_F(Completion, BashOffersFilesWhereOneIsWantedAndLeavesAnotherProgramAlone) {
  directory.write("mine.json", "{}");
  EXPECT_THAT(offered("check --config mi"), ElementsAre("mine.json"));
  EXPECT_THAT(offered("exec -- ls mi"), ElementsAre("mine.json"));
  EXPECT_THAT(offered("exec -- ls --mo"), IsEmpty()) << "the flags of exec are not those of ls";
  EXPECT_THAT(offered("exec --mo"), ElementsAre("--mode"));
}

TEST_F(Completion, OtherShellsAreToldTheSame) {
  ASSERT_EQ(run({"completion", "zsh"}), kExitDone);
  EXPECT_THAT(out.str(), AllOf(testing::StartsWith("#compdef armgate\n"), HasSubstr("'doctor:"),
                               HasSubstr("_armgate_ca_init()"), HasSubstr(":TEXT:(text json)"), HasSubstr(":FILE:_files")));
  ASSERT_EQ(run({"completion", "fish"}), kExitDone);
  EXPECT_THAT(out.str(), AllOf(HasSubstr("complete -c armgate -n '__armgate_at \"\"' -a doctor -d"),
                               HasSubstr("'__armgate_at \"status\"' -l output -x -a 'text json'"),
                               HasSubstr("'__armgate_at \"ca init\"' -l force")));
  EXPECT_EQ(run({"completion", "csh"}), kExitUsage);
  EXPECT_EQ(run({"completion"}), kExitUsage);
}

TEST_F(Completion, EachCommandHasAManPageWithTheTextOfItsHelp) {
  const auto pages = directory.path() / "man";
  ASSERT_EQ(run({"--write-man", pages.string()}), kExitDone);
  const auto page = [&pages](const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(pages / name).rdbuf();
    return text.str();
  };
  EXPECT_THAT(page("armgate.1"),
              AllOf(HasSubstr(".TH ARMGATE 1"), HasSubstr("\\fBdoctor\\fR"), HasSubstr(".SH EXIT STATUS\nExit codes: 0 done")));
  EXPECT_THAT(page("armgate-exec.1"),
              AllOf(HasSubstr("128 plus the signal"), HasSubstr("\\fB\\-\\-\\fR \\fIcommand arguments\\fR")));
  EXPECT_THAT(page("armgate-ca-init.1"), AllOf(HasSubstr("\\fBarmgate ca init\\fR"), HasSubstr(".BR armgate\\-ca (1)")));
  for (const auto& entry : std::filesystem::directory_iterator(pages)) {
    const std::string text = page(entry.path().filename().string());
    EXPECT_THAT(text, Not(HasSubstr("\n'"))) << entry.path() << ": a line that groff takes for a request";
    EXPECT_THAT(text, AllOf(HasSubstr(".SH NAME\narmgate"), HasSubstr(".SH SYNOPSIS\n"), HasSubstr(".SH OPTIONS\n")))
        << entry.path();
  }
  ASSERT_EQ(run({"status", "--help"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("Ask the running service which writes run and which wait"));
  EXPECT_THAT(page("armgate-status.1"), HasSubstr("Ask the running service which writes run and which wait"));
  directory.write("file", "");
  EXPECT_EQ(run({"--write-man", (directory.path() / "file").string()}), kExitBadInput);
}

TEST(ManPage, TextIsNotTakenForMarkup) {
  CommandHelp program{"", "First\n.second \\ 'third\n'fourth", "", {}, {}, {}};
  const std::string page = man_page(program, program, "1.0");
  EXPECT_THAT(page, HasSubstr("First\n\\&.second \\e 'third\n\\&'fourth"));
}

}  // namespace
}  // namespace armgate
