#include "cli/doctor/runtimes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/support/temporary_directory.h"

namespace armgate {
namespace {

using testing::HasSubstr;
using Kind = RuntimeVerdict::Kind;

class DoctorTools : public testing::Test {
 protected:
  DoctorTools() {
    environment["PATH"] = "/nowhere::" + directory.path().string();
    environment["TMPDIR"] = directory.path().string();
  }
  void install(const std::string& program) { ::chmod(directory.write(program, "").c_str(), 0755); }

  RuntimeVerdict verdict(const std::string& name, const Finished& finished) {
    const auto runtime =
        std::find_if(runtimes().begin(), runtimes().end(), [&](const Runtime& one) { return one.name == name; });
    return try_runtime(*runtime, {"management.azure.com", "127.0.0.1:8080", environment},
                       [&](const std::vector<std::string>& words) {
                         ran = words;
                         source.clear();
                         for (const std::string& word : words) {
                           if (!word.ends_with(".go") && !word.ends_with(".java")) continue;
                           std::ostringstream text;
                           text << std::ifstream(word).rdbuf();
                           source = text.str();
                         }
                         return finished;
                       });
  }

  const TemporaryDirectory directory;
  Environment environment;
  std::vector<std::string> ran;
  std::string source;
};

TEST_F(DoctorTools, WhatIsNotInThePathIsMissing) {
  for (const Runtime& runtime : runtimes()) EXPECT_EQ(verdict(runtime.name, {0, "issuer armgate"}).kind, Kind::Missing);
  directory.write("curl", "no program");
  EXPECT_EQ(verdict("curl", {0, "issuer armgate"}).kind, Kind::Missing) << "it cannot be run";
  EXPECT_TRUE(ran.empty());
}

TEST_F(DoctorTools, WhoIssuedTheCertificateTellsWhetherArmgateStandsBetween) {
  install("curl");
  EXPECT_EQ(verdict("curl", {0, "* Server certificate:\n*  issuer: O=armgate; CN=armgate intermediate CA 1\n"}).kind,
            Kind::Trusts);
  const auto around = verdict("curl", {0, "*  issuer: C=US; O=Microsoft Corporation\n"});
  EXPECT_EQ(around.kind, Kind::Around);
  EXPECT_EQ(around.text, "C=US; O=Microsoft Corporation");
  EXPECT_EQ(verdict("curl", {0, "nothing that is expected"}).kind, Kind::Around);
}

TEST_F(DoctorTools, DistrustInTheWordsOfEachIsToldFromOtherFailures) {
  for (const char* program : {"curl", "python3", "node", "go", "java"}) install(program);
  environment["JAVA_TOOL_OPTIONS"] = "-Dhttps.proxyHost=127.0.0.1";
  const struct {
    const char* runtime;
    const char* said;
  } cases[] = {
      {"curl",
       "*  issuer: O=armgate\ncurl: (60) SSL certificate problem: unable to get local issuer certificate\nMore details here: x\nand so on.\n"},
      {"python3", "HTTPSConnectionPool: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed\n"},
      {"node", "self-signed certificate in certificate chain\n"},
      {"go", "Get \"https://x\": x509: certificate signed by unknown authority\nexit status 1\n"},
      {"java", "PKIX path building failed: unable to find valid certification path\n"},
  };
  for (const auto& c : cases) {
    const auto told = verdict(c.runtime, {1, c.said});
    EXPECT_EQ(told.kind, Kind::Distrusts) << c.runtime;
    EXPECT_THAT(c.said, HasSubstr(told.text));
    EXPECT_EQ(verdict(c.runtime, {7, "Connection refused\n\n"}).kind, Kind::Fails) << c.runtime;
  }
  EXPECT_EQ(verdict("node", {9, ""}).text, "it ended with 9");
}

TEST_F(DoctorTools, NodeMayTrustItWhileFetchGoesAround) {
  install("node");
  EXPECT_EQ(verdict("node", {0, "issuer armgate\n"}).kind, Kind::Trusts);
  const auto partly = verdict("node", {0, "fetch() of Node v20.1.0 goes around\nissuer armgate\n"});
  EXPECT_EQ(partly.kind, Kind::TrustsInPart);
  EXPECT_THAT(partly.text, HasSubstr("but fetch() of Node v20.1.0 goes around armgate"));
  EXPECT_EQ(verdict("node", {1, "fetch() of Node v20.1.0 goes around\nself-signed certificate\n"}).kind, Kind::Distrusts);
  EXPECT_EQ(verdict("node", {0, "fetch() of Node v20.1.0 goes around\nissuer Microsoft\n"}).kind, Kind::Around);
}

TEST_F(DoctorTools, SourcesAreInFilesThatAreGoneAfterwards) {
  install("go");
  EXPECT_EQ(verdict("go", {0, "issuer CN=armgate intermediate CA 1,O=armgate\n"}).kind, Kind::Trusts);
  EXPECT_THAT(source, HasSubstr("package main"));
  ASSERT_EQ(ran.size(), 4u);
  EXPECT_EQ(ran[3], "https://management.azure.com/metadata/endpoints?api-version=2022-09-01");
  EXPECT_FALSE(std::filesystem::exists(ran[2]));
}

TEST_F(DoctorTools, JavaWithoutAProxyOrACompilerIsNotTried) {
  install("java");
  EXPECT_EQ(verdict("java", {0, "issuer armgate"}).kind, Kind::NotThrough);
  EXPECT_TRUE(ran.empty());
  environment["JDK_JAVA_OPTIONS"] = "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=8080";
  EXPECT_EQ(verdict("java", {1, "error: Module jdk.compiler not found, required for source launcher mode\n"}).kind,
            Kind::CannotTry);
  EXPECT_EQ(verdict("java", {0, "issuer CN=x, O=armgate"}).kind, Kind::Trusts);
  EXPECT_THAT(source, HasSubstr("class Probe"));
}

}  // namespace
}  // namespace armgate
