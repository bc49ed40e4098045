// `armgate ca show`: what it tells of an authority that is fine, of one that is not, and of the system's trust store.
#include "cli/ca/ca_show.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "certs/secret_file.h"
#include "json/tree.h"
#include "tests/cli/fixture.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CaShow : public Cli {
 protected:
  CaShow() {
    trust.top = directory.path() / "system";
    EXPECT_EQ(run({"ca", "init", "--directory", place()}), kExitDone) << err.str();
  }
  std::string place() const { return (directory.path() / "ca").string(); }
  int show() { return run({"ca", "show", "--directory", place()}); }
  json shown_json() {
    run({"ca", "show", "--directory", place(), "--output", "json"});
    return json::parse(out.str());
  }
  fs::path anchor(const std::string& name) const { return trust.top / "usr/local/share/ca-certificates" / name; }
  void have_store(const std::string& bundle) {
    directory.write("system/usr/sbin/update-ca-certificates", "");
    directory.write("system/etc/ssl/certs/ca-certificates.crt", bundle);
    fs::create_directories(anchor("").parent_path());
  }
  std::string root() const { return *certs::read_file(place() + "/ca.pem"); }
  std::string own_name() { return anchor_name(shown_json()["root"]["fingerprint_sha256"].get<std::string>()); }
};

TEST_F(CaShow, TellsWhatOneWantsToKnow) {
  EXPECT_EQ(show(), kExitDone) << err.str();
  EXPECT_THAT(err.str(), IsEmpty());
  EXPECT_THAT(out.str(),
              AllOf(HasSubstr("to trust:     " + place() + "/ca.pem\n"), HasSubstr("O = armgate, CN = armgate root CA "),
                    HasSubstr("2025-12-31T23:00:00Z to 2035-12-30T00:00:00Z, 3650 days left"),
                    HasSubstr("signs for:    management.azure.com, and names below\n"), HasSubstr("intermediate.key, fine"),
                    HasSubstr("system store: none that armgate knows")));
  const json shown = shown_json();
  EXPECT_THAT(out.str(), HasSubstr("\"days_left\": 3650"));
  EXPECT_EQ(shown["root"]["file"], place() + "/ca.pem");
  EXPECT_EQ(shown["root"]["fingerprint_sha256"].get<std::string>().size(), 95u);
  EXPECT_EQ(shown["root"]["valid_until"], "2035-12-30T00:00:00Z");
  EXPECT_EQ(shown["intermediate"]["file"], place() + "/intermediate.pem");
  EXPECT_EQ(shown["hosts"], json({"management.azure.com"}));
  EXPECT_EQ(shown["key"]["state"], "good");
  EXPECT_EQ(shown["system_store"],
            json({{"known", false}, {"trusted", nullptr}, {"file", nullptr}, {"other_roots", json::array()}}));
  EXPECT_TRUE(shown["fault"].is_null());
}

TEST_F(CaShow, SaysWhatIsWrongAndShowsTheRest) {
  ::chmod((place() + "/intermediate.key").c_str(), 0644);
  EXPECT_EQ(show(), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("chmod 600"));
  EXPECT_THAT(out.str(), AllOf(HasSubstr("SHA-256:"), HasSubstr("intermediate.key, not fine")));
  EXPECT_THAT(shown_json()["fault"].get<std::string>(), HasSubstr("chmod 600"));

  fs::remove(place() + "/intermediate.pem");
  EXPECT_EQ(show(), kExitBadInput);
  EXPECT_THAT(out.str(), AllOf(HasSubstr("SHA-256:"), Not(HasSubstr("signs for:"))));
  EXPECT_TRUE(shown_json()["intermediate"].is_null());

  fs::remove_all(place());
  EXPECT_EQ(show(), kExitBadInput);
  EXPECT_THAT(out.str(), IsEmpty());
  EXPECT_THAT(err.str(), HasSubstr("make it with `armgate ca init --directory " + place() + "`"));
  EXPECT_TRUE(shown_json()["root"].is_null());
}

TEST_F(CaShow, TellsTheDaysOfAnOldAuthorityAndOfAnExpiredOne) {
  const auto text = [&](int days) {
    return show_authority(trust, place(), {"management.azure.com"}, kNow + std::chrono::days(days), "armgate ca init",
                          ShowAs::Text);
  };
  EXPECT_THAT(text(3649).text, HasSubstr(", 1 day left\n"));
  EXPECT_THAT(text(3651).text, HasSubstr(", expired\n"));
  EXPECT_THAT(text(3651).fault, HasSubstr("has expired"));
  EXPECT_THAT(text(-1).text, HasSubstr(", not valid yet\n"));
}

TEST_F(CaShow, TellsHowTheSystemsStoreStandsToIt) {
  const std::string file = anchor(own_name()).string();
  const std::string remedy = "sudo armgate ca trust --directory " + place();
  have_store("");
  show();
  EXPECT_THAT(out.str(), HasSubstr("system store: does not trust it: " + remedy));
  EXPECT_EQ(shown_json()["system_store"]["trusted"], false);

  std::ofstream(file) << root();
  show();
  EXPECT_THAT(out.str(), HasSubstr("system store: has " + file + ", but does not trust it yet: " + remedy));

  have_store(root());
  show();
  EXPECT_THAT(out.str(), HasSubstr("system store: trusts it, by " + file + "\n"));
  EXPECT_EQ(shown_json()["system_store"]["trusted"], true);
  EXPECT_EQ(shown_json()["system_store"]["file"], file);

  ASSERT_EQ(run({"ca", "init", "--force", "--directory", place()}), kExitDone);
  show();
  EXPECT_THAT(out.str(), AllOf(HasSubstr("does not trust it"), HasSubstr("also trusts " + file + ", of another authority")));
  EXPECT_EQ(shown_json()["system_store"]["other_roots"], json({file}));

  have_store(root());
  const std::string own = anchor(own_name()).string();
  show();
  EXPECT_THAT(out.str(), HasSubstr("system store: trusts it, but not by " + own));
}

}  // namespace
}  // namespace armgate
