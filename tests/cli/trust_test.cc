// Goal: `ca trust` and `ca untrust` leave the system's trust store as they say, whatever the tool does. Method: a store of each
// family in a temporary directory, and a tool of our own that makes the bundle as the real ones do, fails, or does nothing.
#include "cli/ca/trust.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "certs/secret_file.h"
#include "tests/cli/fixture.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

struct Layout {
  std::string anchors, bundle, tool;
};
const Layout kDebian{"usr/local/share/ca-certificates", "etc/ssl/certs/ca-certificates.crt", "usr/sbin/update-ca-certificates"};

class Trust : public Cli {
 protected:
  Trust() { EXPECT_EQ(run({"ca", "init", "--directory", place()}), kExitDone) << err.str(); }

  std::string place() const { return (directory.path() / "ca").string(); }
  fs::path top() const { return directory.path() / "system"; }

  void have_store(const Layout& layout, const std::string& script = "#!/bin/sh\n") {
    layout_ = layout;
    fs::create_directories(top() / layout.anchors);
    directory.write("system/" + layout.tool, script);
    directory.write("system/" + layout.bundle, "");
    trust = {.top = top(),
             .denial = [this](const fs::path&) { return denied; },
             .run = [this](const std::vector<std::string>& words) { return run_tool(words); }};
  }

  // What update-ca-certificates and update-ca-trust have in common.
  Finished run_tool(const std::vector<std::string>& words) {
    calls.push_back(words);
    if (words.size() == 3) settings = *certs::read_file(words[2]);
    if (fails) return {7, "no space\nleft\n"};
    std::string bundle;
    for (const auto& file : anchors()) bundle += *certs::read_file(top() / layout_.anchors / file);
    if (!idle) directory.write("system/" + layout_.bundle, bundle);
    return {};
  }

  std::set<std::string> anchors() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(top() / layout_.anchors)) {
      if (entry.path().extension() == ".crt") names.insert(entry.path().filename().string());
    }
    return names;
  }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(top() / layout_.anchors), {})); }
  std::string bundle() const { return *certs::read_file(top() / layout_.bundle); }
  std::string root() const { return *certs::read_file(place() + "/ca.pem"); }

  int ca(const std::string& command) { return run({"ca", command, "--directory", place()}); }

  Layout layout_;
  int denied = 0;
  bool fails = false;
  bool idle = false;
  std::vector<std::vector<std::string>> calls;
  std::string settings;  // that the tool was given
};

TEST_F(Trust, PutsTheRootThereAndTakesItAwayInEveryFamily) {
  const Layout layouts[] = {
      kDebian,
      {"etc/pki/ca-trust/source/anchors", "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "usr/bin/update-ca-trust"},
      {"etc/pki/trust/anchors", "var/lib/ca-certificates/ca-bundle.pem", "usr/sbin/update-ca-certificates"},
      {"etc/ca-certificates/trust-source/anchors", "etc/ca-certificates/extracted/tls-ca-bundle.pem",
       "usr/bin/update-ca-trust"},
  };
  for (const Layout& layout : layouts) {
    SCOPED_TRACE(layout.anchors);
    have_store(layout);
    const std::string tool = (top() / layout.tool).string();
    calls.clear();
    EXPECT_EQ(ca("trust"), kExitDone) << err.str();
    ASSERT_EQ(anchors().size(), 1u);
    const fs::path file = top() / layout.anchors / *anchors().begin();
    EXPECT_THAT(file.filename().string(), testing::MatchesRegex("armgate-[0-9a-f]{8}\\.crt"));
    EXPECT_THAT(out.str(), AllOf(StartsWith("armgate: trusted now, by " + file.string() + "\n"), HasSubstr("Node.js"),
                                 HasSubstr("`armgate env`")));
    EXPECT_EQ(*certs::read_file(file), root());
    EXPECT_EQ(bundle(), root());
    struct stat status {};
    ::stat(file.c_str(), &status);
    EXPECT_EQ(status.st_mode & 07777, 0644u);

    EXPECT_EQ(ca("trust"), kExitDone);
    EXPECT_EQ(out.str(), "armgate: trusted already, by " + file.string() + "\n");
    EXPECT_EQ(calls.size(), 1u);

    EXPECT_EQ(ca("untrust"), kExitDone) << err.str();
    EXPECT_EQ(out.str(), "armgate: trusted no more: " + file.string() + " is gone\n");
    EXPECT_EQ(files(), 0u);
    EXPECT_EQ(bundle(), "");
    const bool by_links = layout.tool.ends_with("certificates");
    EXPECT_EQ(calls.back(), by_links ? std::vector<std::string>({tool, "--fresh"}) : std::vector<std::string>{tool});

    EXPECT_EQ(ca("untrust"), kExitDone);
    EXPECT_THAT(out.str(), HasSubstr("nothing to do"));
    EXPECT_EQ(calls.size(), 2u);
    fs::remove_all(top());
  }
}

TEST_F(Trust, DebiansToolIsToldWhatIsGoneSoThatItsHooksAreToldToo) {
  have_store(kDebian, "#!/bin/sh\ncase $1 in --certsconf) ;; esac\n");
  directory.write("system/etc/ca-certificates.conf", "mozilla/One.crt\n!mozilla/Two.crt");
  ASSERT_EQ(ca("trust"), kExitDone);
  const std::string name = *anchors().begin();
  ASSERT_EQ(ca("untrust"), kExitDone) << err.str();
  ASSERT_EQ(calls.back().size(), 3u);
  EXPECT_EQ(calls.back()[1], "--certsconf");
  EXPECT_EQ(settings, "mozilla/One.crt\n!mozilla/Two.crt\n!" + name + "\n");
  EXPECT_EQ(files(), 0u) << "the copy of the settings is left behind";
}

TEST_F(Trust, OfAToolThatFailsNothingIsLeft) {
  have_store(kDebian);
  fails = true;
  EXPECT_EQ(ca("trust"), kExitRuntime);
  EXPECT_THAT(err.str(), AllOf(HasSubstr("update-ca-certificates failed with exit code 7"), HasSubstr("was taken away again"),
                               HasSubstr("no space\nleft\n")));
  EXPECT_THAT(out.str(), IsEmpty());
  EXPECT_EQ(files(), 0u);

  fails = false;
  idle = true;
  EXPECT_EQ(ca("trust"), kExitRuntime);
  EXPECT_THAT(err.str(), HasSubstr("does not have the certificate"));
  EXPECT_EQ(files(), 0u);
}

TEST_F(Trust, AfterAToolThatFailedUntrustingGoesOnWhereItStopped) {
  have_store(kDebian);
  ASSERT_EQ(ca("trust"), kExitDone);
  fails = true;
  EXPECT_EQ(ca("untrust"), kExitRuntime);
  EXPECT_THAT(err.str(), AllOf(HasSubstr("may go on trusting them until it has run"), HasSubstr("no space")));
  EXPECT_THAT(anchors(), IsEmpty());
  EXPECT_EQ(bundle(), root());
  fails = false;
  EXPECT_EQ(ca("untrust"), kExitDone) << err.str();
  EXPECT_EQ(bundle(), "");
}

TEST_F(Trust, AnAuthorityThatIsGoneIsForgottenWithAllOthers) {
  have_store(kDebian);
  ASSERT_EQ(ca("trust"), kExitDone) << err.str();
  EXPECT_EQ(run({"ca", "untrust", "--directory", (directory.path() / "gone").string()}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("if the authority is gone for good, `armgate ca untrust --all`"));
  EXPECT_EQ(run({"ca", "untrust", "--all"}), kExitDone);
}

TEST_F(Trust, WhoMayNotWriteThereIsToldTheWholeCommand) {
  have_store(kDebian);
  denied = EACCES;
  EXPECT_EQ(ca("trust"), kExitBadInput);
  EXPECT_THAT(err.str(), AllOf(HasSubstr((top() / kDebian.anchors / "armgate-").string()), HasSubstr("Permission denied"),
                               HasSubstr("run: sudo armgate ca trust --directory " + place() + "\n")));
  EXPECT_EQ(files(), 0u);
  EXPECT_THAT(calls, IsEmpty());
  denied = 0;
  ASSERT_EQ(ca("trust"), kExitDone);
  denied = EACCES;
  EXPECT_EQ(ca("trust"), kExitDone) << "there is nothing to write";
  EXPECT_EQ(ca("untrust"), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("run: sudo armgate ca untrust --directory " + place() + "\n"));
  EXPECT_EQ(run({"ca", "untrust", "--all"}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("run: sudo armgate ca untrust --all\n"));
  denied = EROFS;
  EXPECT_EQ(ca("untrust"), kExitBadInput);
  EXPECT_THAT(err.str(), AllOf(HasSubstr("Read-only file system"), Not(HasSubstr("sudo"))));
  EXPECT_EQ(bundle(), root());
}

TEST_F(Trust, UnderSudoTheDirectoryMustBeNamed) {
  have_store(kDebian);
  environment["SUDO_USER"] = "me";
  EXPECT_EQ(run({"ca", "trust"}), kExitBadInput);
  EXPECT_THAT(err.str(), AllOf(HasSubstr("--directory"), Not(HasSubstr("ca init")))) << "a new one would be the wrong one";
  environment.clear();
  EXPECT_EQ(run({"ca", "trust"}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("make it with `armgate ca init`"));
}

TEST_F(Trust, WithoutAStoreTheFileToTrustByHandIsNamed) {
  for (const bool has_directory : {false, true}) {
    if (has_directory) {
      have_store(kDebian);
      fs::remove(top() / kDebian.tool);
    }
    EXPECT_EQ(ca("trust"), kExitBadInput);
    EXPECT_THAT(err.str(), HasSubstr("trust " + place() + "/ca.pem by hand"));
    EXPECT_EQ(ca("untrust"), kExitBadInput);
    EXPECT_EQ(run({"ca", "untrust", "--all"}), kExitBadInput);
  }
}

TEST_F(Trust, OnlyAnAuthoritysRootIsPutThereAndOnlyWhileItIsValid) {
  have_store(kDebian);
  const Result<std::string> late = trust_authority(trust, {place(), {}, {}}, kNow + std::chrono::days(3651));
  ASSERT_FALSE(late.ok());
  EXPECT_THAT(late.error().context, HasSubstr("has expired"));
  EXPECT_FALSE(trust_authority(trust, {place(), {}, {}}, kNow - std::chrono::days(1)).ok());
  fs::copy_file(place() + "/intermediate.pem", place() + "/ca.pem", fs::copy_options::overwrite_existing);
  EXPECT_EQ(ca("trust"), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("not the root of an authority that armgate made"));
  directory.write("ca/ca.pem", "no certificate");
  EXPECT_EQ(ca("trust"), kExitBadInput);
  EXPECT_THAT(calls, IsEmpty());
}

TEST_F(Trust, ReplacedRootsAreNamedAndAllGoTogetherButNoStrangers) {
  have_store(kDebian);
  ASSERT_EQ(ca("trust"), kExitDone);
  const std::string old = *anchors().begin();
  ASSERT_EQ(run({"ca", "init", "--force", "--directory", place()}), kExitDone);
  EXPECT_EQ(ca("untrust"), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("nothing to do")) << "the old one is not this authority's";
  ASSERT_EQ(ca("trust"), kExitDone);
  EXPECT_THAT(out.str(), AllOf(HasSubstr("`armgate ca untrust --all`"), HasSubstr(old)));

  directory.write("system/" + kDebian.anchors + "/armgate-notes.crt", "not ours");
  directory.write("system/" + kDebian.anchors + "/armgate-01234567.crt", *certs::read_file(place() + "/intermediate.pem"));
  directory.write("system/" + kDebian.anchors + "/corporate.crt", root());
  EXPECT_EQ(run({"ca", "untrust", "--all"}), kExitRuntime);
  EXPECT_THAT(err.str(), HasSubstr("a file that armgate did not write brings it there"));
  EXPECT_THAT(anchors(), ElementsAre("armgate-01234567.crt", "armgate-notes.crt", "corporate.crt"));
  EXPECT_EQ(ca("trust"), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("trusted already, but not by"));
  fs::remove(top() / kDebian.anchors / "corporate.crt");
  EXPECT_EQ(run({"ca", "untrust", "--all"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("nothing to do"));
}

TEST_F(Trust, AFileOfTheNameThatHoldsSomethingElseIsLeftAlone) {
  have_store(kDebian);
  ASSERT_EQ(ca("trust"), kExitDone);
  const std::string name = "system/" + kDebian.anchors + "/" + *anchors().begin();
  directory.write(name, "something else");
  EXPECT_EQ(ca("untrust"), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("does not hold " + place() + "/ca.pem"));
  EXPECT_TRUE(fs::exists(directory.path() / name));
}

}  // namespace
}  // namespace armgate
