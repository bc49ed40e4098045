// Goal: each limit has one default: what a component has on its own, in tests and in the simulator, is what the shipped configuration
// gives it. Method: a default configuration, translated, against default components.
#include "proxy/gateway/options.h"
#include "proxy/gateway/journal_options.h"
#include "proxy/net/client/intercept.h"
#include "proxy/net/client/server.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "base/source_tree.h"
#include "proxy/gateway/parent.h"

namespace armgate {
namespace {

TEST(Defaults, OfThePipelineAreTheConfigurations) {
  const PipelineOptions given = pipeline_options(Config{}), own;
  EXPECT_EQ(given.mode, own.mode);
  EXPECT_EQ(given.merge, own.merge);
  EXPECT_EQ(given.wait_max, own.wait_max);
  EXPECT_EQ(given.answer_timeout, own.answer_timeout);
  EXPECT_EQ(given.body_keep_max, own.body_keep_max);
  EXPECT_EQ(given.versions_compared_max, own.versions_compared_max);
  EXPECT_EQ(given.list_scan_max, own.list_scan_max);
  EXPECT_EQ(given.sends_fenced, own.sends_fenced);
  EXPECT_EQ(given.poll_first, own.poll_first);
  EXPECT_EQ(given.poll_with_waiter, own.poll_with_waiter);
  EXPECT_EQ(given.poll_without_waiter, own.poll_without_waiter);
}

TEST(Defaults, OfTheTablesAreTheConfigurations) {
  const auto clients = client_options(Config{});
  const ClientTable::Options own_clients;
  EXPECT_EQ(clients.page_bytes_max, own_clients.page_bytes_max);
  EXPECT_EQ(clients.client.page_bytes_max, own_clients.client.page_bytes_max);
  EXPECT_EQ(clients.client.observation_age, own_clients.client.observation_age);
  EXPECT_EQ(clients.client.sendings.in_doubt_max, own_clients.client.sendings.in_doubt_max);
  EXPECT_EQ(clients.client.sendings.keep, own_clients.client.sendings.keep);
  EXPECT_EQ(clients.client.sendings.repeat_keep, own_clients.client.sendings.repeat_keep);
  EXPECT_EQ(clients.client.sendings.bytes_max, own_clients.client.sendings.bytes_max);
  const auto resources = resource_options(Config{});
  const ResourceTable::Options own_resources;
  EXPECT_EQ(resources.body_bytes_max, own_resources.body_bytes_max);
  EXPECT_EQ(resources.history.think_max, own_resources.history.think_max);
  EXPECT_EQ(resources.history.observation_age, own_resources.history.observation_age);
  const auto locks = lock_options(Config{});
  const LockTable::Options own_locks;
  EXPECT_EQ(locks.waiters_per_key_max, own_locks.waiters_per_key_max);
  EXPECT_EQ(locks.waiters_max, own_locks.waiters_max);
  const auto reservations = reservation_options(Config{});
  const Reservations::Options own_reservations;
  EXPECT_EQ(reservations.ttl, own_reservations.ttl);
  EXPECT_EQ(reservations.claim_timeout, own_reservations.claim_timeout);
  EXPECT_EQ(reservations.age_max, own_reservations.age_max);
  const auto results = shared_options(Config{}).results;
  const OperationResults::Options own_results;
  EXPECT_EQ(results.failures, own_results.failures);
  EXPECT_EQ(results.window, own_results.window);
  EXPECT_EQ(results.stuck_after, own_results.stuck_after);
  const auto budgets = shared_options(Config{}).budgets;
  const Budgets::Options own_budgets;
  EXPECT_EQ(budgets.own_share, own_budgets.own_share);
  EXPECT_EQ(budgets.fair, own_budgets.fair);
  EXPECT_EQ(budgets.waiters_max, own_budgets.waiters_max);
  const OwnedOperations::Options owned = shared_options(Config{}).owned;
  EXPECT_EQ(owned.operations_max, OwnedOperations::Options{}.operations_max);
  EXPECT_EQ(owned.bytes_max, OwnedOperations::Options{}.bytes_max);
  const auto journal = journal_options(Config{});
  const journal::Journal::Options own_journal;
  EXPECT_EQ(journal.durability, own_journal.durability);
  EXPECT_EQ(journal.write_max, own_journal.write_max);
  EXPECT_EQ(journal.records_max, own_journal.records_max);
  EXPECT_EQ(journal.recent, own_journal.recent);
}

void expect_same(const http::Limits& given, const http::Limits& own) {
  EXPECT_EQ(given.head_bytes_max, own.head_bytes_max);
  EXPECT_EQ(given.fields_max, own.fields_max);
  EXPECT_EQ(given.target_bytes_max, own.target_bytes_max);
  EXPECT_EQ(given.request_body_bytes_max, own.request_body_bytes_max);
}

TEST(Defaults, OfConnectionsAreTheConfigurations) {
  const auto listener = proxy_listener(Config{}, 0);
  const net::ServerOptions own_listener;
  EXPECT_EQ(listener.address, own_listener.address);
  EXPECT_EQ(listener.port, own_listener.port);
  EXPECT_EQ(listener.connections_max, own_listener.connections_max);
  EXPECT_EQ(listener.connect.allowed, own_listener.connect.allowed);
  EXPECT_EQ(listener.tunnel_idle_max, own_listener.tunnel_idle_max);
  EXPECT_EQ(listener.connect_head_max, own_listener.connect_head_max);
  EXPECT_EQ(listener.tunnel_connect_max, own_listener.tunnel_connect_max);
  EXPECT_EQ(listener.session.idle_max, own_listener.session.idle_max);
  EXPECT_EQ(listener.session.head_max, own_listener.session.head_max);
  EXPECT_EQ(listener.session.body_max, own_listener.session.body_max);
  expect_same(listener.session.limits, own_listener.session.limits);
  const auto upstream = upstream_options(Config{}, Parent{});
  const net::UpstreamHostOptions own_host;
  EXPECT_EQ(upstream.host.connections_max, own_host.connections_max);
  EXPECT_EQ(upstream.host.idle_connections_max, own_host.idle_connections_max);
  EXPECT_EQ(upstream.host.idle_max, own_host.idle_max);
  EXPECT_EQ(upstream.host.connect_max, own_host.connect_max);
  EXPECT_EQ(upstream.host.handshake_max, own_host.handshake_max);
  EXPECT_EQ(upstream.host.unacknowledged_max, own_host.unacknowledged_max);
  expect_same(upstream.limits, net::UpstreamOptions{}.limits);
  EXPECT_EQ(upstream.stall_max, net::UpstreamOptions{}.stall_max);
  Config impatient;
  impatient.upstream.stall_max = std::chrono::seconds(7);
  EXPECT_EQ(upstream_options(impatient, Parent{}).stall_max, std::chrono::seconds(7));
  EXPECT_EQ(intercept_options(Config{}).handshake_max, net::InterceptOptions{}.handshake_max);
}

// A member that is copied from the configuration and not compared above could have two defaults.
TEST(Defaults, OfEveryMemberThatIsCopiedAreCompared) {
  const auto text_of = [](const char* path) {
    std::ostringstream text;
    text << std::ifstream(source_path(path)).rdbuf();
    return text.str();
  };
  const std::string compared = text_of("tests/proxy/gateway/options_test.cc");
  const std::set<std::string> without_default = {"intercepted", "file", "ca_file",
                                                 "parent_ca_file"};  // a component has none of its own
  const std::regex copied(R"re((?:options|limits)\.(?:[a-z]+\.)*([a-z_]+) =\s+(?:has_others|config\.))re");
  size_t count = 0;
  for (const char* path : {"proxy/gateway/options.cc", "proxy/gateway/journal_options.cc"}) {
    const std::string text = text_of(path);
    for (std::sregex_iterator found(text.begin(), text.end(), copied), end; found != end; ++found) {
      const std::string member = (*found)[1].str();
      ++count;
      if (without_default.contains(member)) continue;
      EXPECT_NE(compared.find("." + member + ","), std::string::npos) << path << " copies " << member;
    }
  }
  EXPECT_GT(count, 40u) << "they are copied otherwise now";
}

}  // namespace
}  // namespace armgate
