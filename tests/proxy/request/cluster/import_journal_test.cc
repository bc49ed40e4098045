// What a journal tells stands in a cluster's log as if a replica had begun it and died.
#include "proxy/request/cluster/import_journal.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "proxy/seams/real_clock.h"
#include "rules/file/rule_file.h"

namespace armgate::import_journal_test {
namespace {

const std::string kId = "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/";

// By its name.
JournaledWrite write(IntentId id, const std::string& method, const std::string& name, std::optional<int> status) {
  JournaledWrite write;
  write.id = id;
  write.client = {1, id};
  write.request_hash = write.resend = {2, id};
  write.method = method;
  write.host = "management.azure.com";
  write.path = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/" + name;
  write.api_version = "2024-07-01";
  write.resource = kId + name;
  write.begun = RealClock().wall();
  if (!status) return write;
  WriteOutcome& outcome = write.outcome.emplace();
  outcome.status = *status;
  outcome.known = write.begun;
  outcome.is_running = true;
  return write;
}

JournaledWrite failed(JournaledWrite write) {
  write.ended = write.begun;
  write.result = {arm::Progress::Failed, {"Bad", ""}};
  return write;
}

template <class What>
std::map<size_t, What> all_of(const std::vector<cluster::Event>& events) {
  std::map<size_t, What> all;
  for (size_t i = 0; i < events.size(); ++i) {
    if (const auto* const one = std::get_if<What>(&events[i])) all.emplace(i, *one);
  }
  return all;
}

IntentId id_at(size_t place) { return 1'000 + place; }

ImportedJournal import(const PreviousProcess& former) {
  rules::FaultList faults;
  auto rules = rules::read_rules("r.json", R"({"rules": [{"name": "sets",
      "match": {"types": ["Microsoft.Compute/virtualMachineScaleSets"], "actions": ["restart"]}, "guard": {"kind": "etag"}}]})",
                                 faults);
  EXPECT_TRUE(faults.empty());
  RealClock clock;
  return import_journal(former, {}, HashKey{1, 2}, std::make_shared<const rules::Ruleset>(std::move(rules)), clock, 7, id_at);
}

TEST(ImportJournal, WhatIsOpenHasItsKeysAndARecordAndWhatHasEndedItsResult) {
  PreviousProcess former;
  former.open = {write(3, "PUT", "doubt", std::nullopt), write(5, "PATCH", "runs", 202)};
  former.recent = {failed(write(4, "PUT", "failed", 201))};
  former.since = former.open[0].begun;
  const ImportedJournal imported = import(former);
  EXPECT_EQ(imported.open.in_doubt, 1u);
  EXPECT_EQ(imported.open.running, 1u);
  EXPECT_EQ(imported.ended, 1u);

  const auto intended = all_of<cluster::Intended>(imported.events);
  ASSERT_EQ(intended.size(), 3u);
  std::map<std::string, cluster::ClaimId> claims;
  std::map<std::string, IntentId> ids;
  for (const auto& [place, one] : intended) {
    EXPECT_TRUE(one.is_imported);
    claims[one.write.resource.substr(kId.size())] = one.claim;
    ids[one.write.resource.substr(kId.size())] = id_at(place);
  }
  std::map<cluster::ClaimId, std::string> kept;
  for (const auto& [place, one] : all_of<cluster::Claimed>(imported.events)) kept[one.claim] = one.keys.front().id;
  EXPECT_EQ(kept, (std::map<cluster::ClaimId, std::string>{{claims["doubt"], kId + "doubt"}, {claims["runs"], kId + "runs"}}));

  std::map<IntentId, int> settled;
  for (const auto& [place, one] : all_of<cluster::Settled>(imported.events)) settled[one.intent] = one.outcome.status;
  EXPECT_EQ(settled, (std::map<IntentId, int>{{ids["failed"], 201}, {ids["runs"], 202}}));
  const auto finished = all_of<cluster::Finished>(imported.events);
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished.begin()->second.intent, ids["failed"]);
  const auto results = all_of<cluster::ResultSeen>(imported.events);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results.begin()->second.result.error.code, "Bad");
  EXPECT_EQ(results.begin()->second.intent, 0u) << "its record has ended";
  EXPECT_EQ(std::get<cluster::Imported>(imported.events.back()).since, former.since);
}

TEST(ImportJournal, WhatMayComeAgainIsKnownByItsHashesToWhoeverReads) {
  PreviousProcess former;
  former.open = {write(3, "POST", "doubt/restart", std::nullopt)};
  former.open[0].resource = kId + "doubt";
  const ImportedJournal imported = import(former);
  const auto sendings = all_of<SendingEvent>(imported.events);
  ASSERT_EQ(sendings.size(), 1u);
  const SendingEvent& told = sendings.begin()->second;
  EXPECT_EQ(told.what, SendingEvent::What::Former);

  SendingLedger elsewhere({}, told.client);
  elsewhere.follow(told, nullptr, {99, RealClock().now()});
  SendingLedger::Arrival again = told.arrival;
  again.at = {100, RealClock().now()};
  EXPECT_EQ(elsewhere.match(again, nullptr, 0, {}).match, SendingLedger::Match::InDoubt);
}

TEST(ImportJournal, AnOperationUrlOfArmgatesOwnStaysGood) {
  PreviousProcess former;
  const Hash128 own{4, 2};
  auto first = failed(write(3, "PUT", "x", 201));
  auto second = write(5, "PUT", "x", 200);
  for (auto* const one : {&first, &second}) {
    one->owned = one->outcome->owned = own;
    one->outcome->tracking = {arm::TrackedBy::StatusUrl, "https://management.azure.com/operations/1?t=signed", "", ""};
  }
  former.recent = {first};
  former.open = {second};
  const ImportedJournal imported = import(former);
  std::vector<std::pair<Hash128, bool>> settled;
  for (const auto& [place, one] : all_of<cluster::Settled>(imported.events))
    settled.emplace_back(one.outcome.owned, !one.outcome.tracking.status_url.empty());
  EXPECT_EQ(settled, (std::vector<std::pair<Hash128, bool>>{{own, false}, {own, true}}))
      << "of what has ended the URL is not whole";
}

TEST(ImportJournal, WhatNoRuleHoldsIsGivenUp) {
  PreviousProcess former;
  former.open = {write(3, "PUT", "x", std::nullopt)};
  former.open[0].path = "/subscriptions/s/providers/Microsoft.Other/things/x";
  const ImportedJournal imported = import(former);
  EXPECT_EQ(imported.open.dropped, 1u);
  EXPECT_TRUE(all_of<cluster::Claimed>(imported.events).empty());
  EXPECT_EQ(all_of<cluster::Finished>(imported.events).size(), 1u) << "nobody waits for its end";
}

}  // namespace
}  // namespace armgate::import_journal_test
