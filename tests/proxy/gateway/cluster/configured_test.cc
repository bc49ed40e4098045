#include "proxy/gateway/cluster/configured.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/config/config.h"
#include "rules/plan.h"

namespace armgate {
namespace {

TEST(ClusterConfiguration, WhatReplicasShouldHaveAlikeIsNoMatterOfTheMachine) {
  Config one;
  const auto of = [](const Config& config) { return configured_text(config, "AB:CD"); };
  Config other = one;
  other.listen.proxy = "127.0.0.1:9";
  other.threads = 7;
  other.limits.connections = 5;
  other.cluster.replica = "b";
  other.cluster.engine = "postgres://user:secret@db/armgate";
  other.hosts["management.azure.com"].ca_file = "/elsewhere/ca.pem";
  other.rule_paths = {"/elsewhere/rules"};
  EXPECT_EQ(of(one), of(other));
  for (const auto& change : std::vector<std::function<void(Config&)>>{
           [](Config& c) { c.mode = rules::Mode::Observe; }, [](Config& c) { c.intercept = {"example.com"}; },
           [](Config& c) { c.history.think_max *= 2; }, [](Config& c) { c.cluster.sends_fenced = true; },
           [](Config& c) { c.rule_source = std::make_shared<const rules::RuleSource>(); },
           [](Config& c) { c.clients["ci"].actor = policy::Actors::Single; }}) {
    Config changed = one;
    change(changed);
    EXPECT_NE(of(one), of(changed));
  }
  EXPECT_NE(of(one), configured_text(one, "AB:CE"));
  EXPECT_EQ(of(other).find("secret"), std::string::npos);
}

}  // namespace
}  // namespace armgate
