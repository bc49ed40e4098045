// `armgate heal`: what the command line asks for, and what it refuses before anything is asked of anybody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/utc.h"
#include "certs/secret_file.h"
#include "json/tree.h"
#include "tests/cli/fixture.h"

namespace armgate {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kCluster = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c";

class HealCommand : public Cli {
 protected:
  HealCommand() {
    std::ofstream(file()) << R"({"listen": {"admin": "127.0.0.1:9478"}, "ca": {"directory": ")" << ca() << "\"}}";
    EXPECT_EQ(run({"ca", "init", "--config", file()}), kExitDone) << err.str();
  }
  std::string file() const { return (directory.path() / "armgate.json").string(); }
  std::string ca() const { return (directory.path() / "ca").string(); }
  std::string runs() const { return (directory.path() / "runs").string(); }
};

TEST_F(HealCommand, ADryRunIsTheDefault) {
  ASSERT_EQ(run({"heal", "aks-system-pool", kCluster, "--config", file()}), kExitDone) << err.str();
  ASSERT_TRUE(to_heal.has_value());
  EXPECT_FALSE(to_heal->confirm);
  EXPECT_FALSE(to_heal->undo);
  EXPECT_FALSE(to_heal->options.guards.skip_detection);
  EXPECT_EQ(to_heal->target.pool_id(), kCluster + "/agentPools/system");
  EXPECT_EQ(to_heal->options.guards.threshold, 10u);
  EXPECT_EQ(to_heal->options.guards.window, std::chrono::minutes(15));
  EXPECT_EQ(to_heal->options.overall, std::chrono::minutes(60));
  EXPECT_EQ(to_heal->options.poll, std::chrono::seconds(30));
  EXPECT_EQ(to_heal->options.settle, std::chrono::seconds(15));
  EXPECT_EQ(to_heal->runs, directory.path() / "home/.local/state/armgate/heal");
}

TEST_F(HealCommand, FlagsArePassedOn) {
  ASSERT_EQ(run({"heal",
                 "aks-system-pool",
                 kCluster,
                 "--config",
                 file(),
                 "--confirm",
                 "--undo",
                 "--skip-detection",
                 "--pool",
                 "sys",
                 "--threshold",
                 "5",
                 "--window-min",
                 "360",
                 "--stand-in-nodes",
                 "2",
                 "--runs",
                 runs(),
                 "--api-version",
                 "2026-01-01",
                 "--output",
                 "json"}),
            kExitDone)
      << err.str();
  EXPECT_TRUE(to_heal->confirm && to_heal->undo && to_heal->options.guards.skip_detection);
  EXPECT_EQ(to_heal->target.pool, "sys");
  EXPECT_EQ(to_heal->target.api_version, "2026-01-01");
  EXPECT_EQ(to_heal->options.guards.threshold, 5u);
  EXPECT_EQ(to_heal->options.guards.window, std::chrono::hours(6));
  EXPECT_EQ(to_heal->options.stand_in_count, 2);
  EXPECT_EQ(to_heal->form, heal::PlanAs::Json);
  EXPECT_EQ(to_heal->runs, runs());
  EXPECT_TRUE(to_heal->names_api_version);
  EXPECT_EQ(to_heal->command,
            "armgate heal aks-system-pool " + kCluster + " --pool sys --config " + file() + " --runs " + runs());
}

// Pasted, it is the same command.
TEST_F(HealCommand, TheCommandThatIsSaidIsQuotedForAShell) {
  const std::string odd = "/subscriptions/s/resourceGroups/rg(1)/providers/Microsoft.ContainerService/managedClusters/c";
  const std::string place = (directory.path() / "it's mine").string();
  ASSERT_EQ(run({"heal", "aks-system-pool", odd, "--config", file(), "--runs", place}), kExitDone) << err.str();
  EXPECT_EQ(to_heal->command, "armgate heal aks-system-pool '" + odd + "' --config " + file() + " --runs '" +
                                  (directory.path() / "it'\\''s mine").string() + "'");
}

TEST_F(HealCommand, AKubeconfigIsKeptByItsWholePath) {
  ASSERT_EQ(
      run({"heal", "aks-system-pool", kCluster, "--config", file(), "--kubeconfig", "kube", "--drain", "--drain-min", "2"}),
      kExitDone);
  EXPECT_EQ(to_heal->options.access.kubeconfig, (std::filesystem::current_path() / "kube").string());
  EXPECT_TRUE(to_heal->options.access.drains);
  EXPECT_EQ(to_heal->options.access.drain, std::chrono::minutes(2));
  EXPECT_FALSE(to_heal->without_kubeconfig);
  ASSERT_EQ(run({"heal", "aks-system-pool", kCluster, "--config", file(), "--confirm", "--without-kubeconfig"}), kExitDone);
  EXPECT_TRUE(to_heal->without_kubeconfig);
  EXPECT_EQ(run({"heal", "aks-system-pool", kCluster, "--without-kubeconfig", "--kubeconfig", "kube"}), kExitUsage);
}

TEST_F(HealCommand, HelpSaysItsOwnExitCodes) {
  EXPECT_EQ(run({"heal", "aks-system-pool", "--help"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("0 done, or nothing to do; 1 refused, stopped or interrupted"));
  EXPECT_EQ(run({"heal", "--help"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("Exit codes: 0 done; 1 bad input"));
}

TEST_F(HealCommand, WhatIsWrongIsSaidByName) {
  EXPECT_EQ(run({"heal", "aks-system-pool", "c", "--config", file()}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("\"c\" is no id of an AKS cluster"));
  EXPECT_EQ(run({"heal", "aks-system-pool", kCluster, "--pool", "No", "--config", file()}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("\"No\" is no name of a pool"));
  EXPECT_EQ(run({"heal", "aks-system-pool"}), kExitUsage);
  EXPECT_EQ(run({"heal", "aks-system-pool", kCluster, "--undo"}), kExitUsage) << "only with --confirm";
  for (const char* bad : {"0", "-1", "ten"}) {
    EXPECT_EQ(run({"heal", "aks-system-pool", kCluster, "--threshold", bad}), kExitUsage) << bad;
    EXPECT_EQ(run({"heal", "aks-system-pool", kCluster, "--window-min", bad}), kExitUsage) << bad;
  }
  EXPECT_EQ(run({"heal"}), kExitUsage);
  EXPECT_THAT(err.str(), HasSubstr("armgate heal aks-system-pool CLUSTER_ID"));
  EXPECT_FALSE(to_heal.has_value());
}

TEST_F(HealCommand, WithoutAnAdminListenerNothingIsBegun) {
  std::ofstream(file()) << R"({"ca": {"directory": ")" << ca() << "\"}}";
  EXPECT_EQ(run({"heal", "aks-system-pool", kCluster, "--config", file(), "--confirm"}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("listen.admin is not set"));
  EXPECT_FALSE(to_heal.has_value());
  EXPECT_EQ(run({"heal", "aks-system-pool", kCluster, "--config", file()}), kExitDone) << "a dry run asks for no lease";
}

TEST_F(HealCommand, ProgramsAreToldOfEachRefusal) {
  std::ofstream(file()) << R"({"ca": {"directory": ")" << ca() << "\"}}";
  const std::vector<std::string> confirmed = {"heal", "aks-system-pool", kCluster, "--config",
                                              file(), "--output",        "json",   "--confirm"};
  EXPECT_EQ(run(confirmed), kExitBadInput);
  const auto line = nlohmann::json::parse(out.str());
  EXPECT_EQ(line["event"], "end");
  EXPECT_EQ(line["component"], "armgate-heal");
  EXPECT_THAT(line["text"].get<std::string>(), StartsWith("refused, nothing was changed: listen.admin is not set"));
  EXPECT_EQ(run({"heal", "aks-system-pool", "c", "--config", file(), "--output", "json"}), kExitBadInput);
  const auto plan = nlohmann::json::parse(out.str());
  EXPECT_EQ(plan["would_act"], false);
  EXPECT_THAT(plan["error"].get<std::string>(), HasSubstr("\"c\" is no id of an AKS cluster"));
  std::ofstream(file()) << "{";
  EXPECT_EQ(run(confirmed), kExitBadInput);
  EXPECT_THAT(nlohmann::json::parse(out.str())["text"].get<std::string>(), HasSubstr("the configuration has faults"));
  EXPECT_EQ(run({"heal", "aks-system-pool", "c", "--config", file()}), kExitBadInput);
  EXPECT_EQ(out.str(), "") << "people are told on standard error alone";
}

TEST_F(HealCommand, EarlierRunsAreListed) {
  EXPECT_EQ(run({"heal", "--list"}), kExitDone) << "nobody has healed anything";
  EXPECT_EQ(out.str(), "no runs\n");
  EXPECT_EQ(run({"heal", "--list", "--runs", runs()}), kExitBadInput) << "it was named, and may be misspelt";
  EXPECT_THAT(err.str(), HasSubstr(runs() + " is not there, so it has no runs"));
  EXPECT_EQ(run({"heal", "--list", "--runs", file()}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr(file() + " is no directory, so it has no runs"));
  std::filesystem::create_directories(runs());
  EXPECT_EQ(run({"heal", "--list", "--runs", runs()}), kExitDone);
  EXPECT_EQ(out.str(), "no runs\n");
  {
    const auto target = heal::target_of(kCluster, "system");
    const WallTime at = *parse_utc("2026-01-01T00:00:00Z");
    auto journal = heal::Journal::begin(runs(), "20260101T000000Z-1a2b", *target, at);
    ASSERT_TRUE(journal.ok());
    ASSERT_TRUE(journal->append({heal::Event::Kind::Done, at, heal::Phase::Abort}).ok());
    ASSERT_TRUE(journal->append({heal::Event::Kind::Stopped, at, heal::Phase::StandIn, "no quota"}).ok());
  }
  EXPECT_EQ(run({"heal", "--list", "--runs", runs()}), kExitDone);
  EXPECT_EQ(out.str(),
            "20260101T000000Z-1a2b  pool system of " + kCluster + "\n    steps done: abort; stopped in stand-in: no quota\n");
  EXPECT_EQ(run({"heal", "--list", "--runs", runs(), "--output", "json"}), kExitDone);
  const auto list = nlohmann::json::parse(out.str());
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["run_id"], "20260101T000000Z-1a2b");
  EXPECT_EQ(list[0]["open"], true);
}

}  // namespace
}  // namespace armgate
