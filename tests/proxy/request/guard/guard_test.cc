// Writes of types without ETags: compared with what they were built from before they are sent (docs/design.md, "Guards").
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

#include "tests/support/stage_rig.h"

namespace armgate::world::guard_test {
namespace {

using std::chrono::seconds;

std::string group_with(std::string_view tags) {
  return fmt::format(R"({{"location":"westeurope","tags":{{{}}},"properties":{{"provisioningState":"Succeeded"}}}})", tags);
}

const std::string kPlain = group_with("");
const std::string kTagged = group_with(R"("by":"two")");
const std::string kWanted = R"({"location":"westeurope","tags":{"by":"one"}})";
const std::string kMade = group_with(R"("by":"one")");
const std::string kBusy = R"({"error":{"code":"ConflictingConcurrentWriteNotAllowed","message":"m"}})";
const std::string kAccount =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/a?api-version=2023-01-01";

TEST(Compared, AnUnchangedGroupIsReadUnderTheLockAndThenWritten) {
  StageRig rig;
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.arm(put(kGroup), 200, {}, kMade);
  rig.ask("one", get(kGroup));
  const auto answer = rig.ask("one", put(kGroup), kWanted);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.head.fields.get("x-armgate-guard"), "newest, verified");
  EXPECT_EQ(rig.sent_field(1, "Authorization"), "Bearer of-one") << "with the client's own token";
  EXPECT_FALSE(rig.seen()[2].head.fields.has("If-Match"));
}

TEST(Compared, AStaleGroupUpdateIsRefusedAndTheChangedMemberNamed) {
  StageRig rig;
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.arm(get(kGroup), 200, {}, kTagged);
  rig.ask("one", get(kGroup));
  const auto answer = rig.ask("one", put(kGroup), kWanted);
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_TRUE(says(answer, "ArmgateConflict")) << answer.body;
  EXPECT_TRUE(says(answer, "/tags/by")) << answer.body;
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "conflict");
  EXPECT_TRUE(rig.script_is_done()) << "nothing was sent";
}

TEST(Compared, OfTwoConcurrentTagUpdatesTheSecondIsRefusedAndGoesThroughAfterAReadOfItsOwn) {
  StageRig rig(unmerged());
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.arm(get(kGroup), 200, {}, kPlain);  // compared for "two"
  rig.arm_takes(seconds(5), put(kGroup), 200, {}, kTagged);
  rig.arm(get(kGroup), 200, {}, kTagged);  // compared for "one"
  rig.arm(get(kGroup), 200, {}, kTagged);
  rig.arm(get(kGroup), 200, {}, kTagged);
  rig.arm(put(kGroup), 200, {}, group_with(R"("by":"two","also":"one")"));
  rig.ask("one", get(kGroup));
  rig.ask("two", get(kGroup));
  const auto first = rig.start("two", put(kGroup), R"({"location":"westeurope","tags":{"by":"two"}})");
  rig.pass(seconds(1));
  const auto second = rig.ask("one", put(kGroup), R"({"location":"westeurope","tags":{"also":"one"}})");
  EXPECT_TRUE(first->done);
  EXPECT_EQ(second.head.status, 412);
  rig.ask("one", get(kGroup));
  EXPECT_EQ(rig.ask("one", put(kGroup), R"({"location":"westeurope","tags":{"by":"two","also":"one"}})").head.status, 200);
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Compared, AListItemAndAnOwnAnswerAreBasesToo) {
  StageRig rig(unmerged());
  const std::string list = "GET /subscriptions/s/resourceGroups?api-version=2021-04-01";
  rig.arm(list, 200, {}, R"({"value":[{"id":"/subscriptions/s/resourceGroups/g","location":"westeurope","tags":{}}]})");
  rig.arm(get("/subscriptions/s/resourcegroups/g"), 200, {},
          R"({"id":"/subscriptions/s/resourceGroups/g","location":"westeurope","tags":{}})");
  rig.arm(put(kGroup), 200, {}, kMade);
  rig.arm(get(kGroup), 200, {}, kTagged);  // not what its own answer showed
  rig.ask("one", list);
  EXPECT_EQ(rig.ask("one", put(kGroup), kWanted).head.status, 200);
  EXPECT_EQ(rig.ask("one", put(kGroup), R"({"location":"westeurope","tags":{"by":"one","x":"1"}})").head.status, 412);
}

TEST(Compared, WhatOnlyTheServiceWritesIsNoChange) {
  const auto account = [](std::string_view status, std::string_view tags) {
    return fmt::format(R"({{"kind":"StorageV2","tags":{{{}}},"properties":{{"statusOfPrimary":"{}",)"
                       R"("keyCreationTime":{{"key1":"{}"}},"privateEndpointConnections":["{}"]}}}})",
                       tags, status, status, status);
  };
  const std::string wanted = R"({"kind":"StorageV2","tags":{"a":"1"}})";
  StageRig rig;
  rig.arm(get(kAccount), 200, {}, account("available", ""));
  rig.arm(get(kAccount), 200, {}, account("unavailable", ""));
  rig.arm(put(kAccount), 200, {}, account("unavailable", R"("a":"1")"));
  rig.ask("one", get(kAccount));
  EXPECT_EQ(rig.ask("one", put(kAccount), wanted).head.status, 200);
}

// What may never have been there was not removed by its parent's writer: a file that asks for it goes.
TEST(Compared, WhatWasNeverThereIsNotTakenForRemovedWithItsParent) {
  const std::string subnet = R"({"name":"a","properties":{"addressPrefix":"10.0.1.0/24"}})";
  StageRig rig;
  bool is_broken = true;
  rig.arm_lives([&](const arm::Request& request) {
    Step step;
    step.expected = request.head.method_token;
    const bool is_subnet = request.head.target == kSubnet;
    const bool is_put = request.head.method == arm::Method::Put;
    step.status = !is_subnet ? 200 : !is_put ? 404 : std::exchange(is_broken, false) ? 500 : 201;
    step.body = step.status < 300 ? subnet : R"({"error":{"code":"Odd","message":"m"}})";
    return step;
  });
  EXPECT_EQ(rig.ask("one", put(kSubnet), subnet).head.status, 500);
  rig.ask("two", get(kNetwork));
  EXPECT_EQ(rig.ask("two", put(kNetwork), R"({"location":"w"})").head.status, 200);
  EXPECT_EQ(rig.ask("one", put(kSubnet), subnet).head.status, 201);
  const auto key =
      rig.shared().locks.key_of("/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/n/subnets/a");
  EXPECT_EQ(rig.shared().resources.ask(key, [](const policy::History& history) { return history.deleted(); }), 0u);
}

// An element of its parent's body goes when that is replaced without it: a read that lacks it does not lag then.
TEST(Compared, WhatTheParentsWriterRemovedCanBeMadeAgainAtOnce) {
  const std::string subnet = R"({"name":"a","properties":{"addressPrefix":"10.0.1.0/24"}})";
  const std::string network = R"({"location":"w","properties":{"subnets":[]}})";
  for (const bool reads : {true, false}) {
    StageRig rig;
    rig.arm(put(kSubnet), 201, {}, subnet);
    rig.ask("one", put(kSubnet), subnet);
    rig.arm(get(kNetwork), 200, {}, R"({"location":"w","properties":{"subnets":[)" + subnet + "]}}");
    rig.ask("one", get(kNetwork));
    bool is_made = false;
    rig.arm_lives([&](const arm::Request& request) {
      Step step;
      step.expected = request.head.method_token;
      const bool is_subnet = request.head.target == kSubnet;
      const bool is_put = request.head.method == arm::Method::Put;
      is_made |= is_subnet && is_put;
      step.status = is_subnet && !is_made ? 404 : is_subnet && is_put ? 201 : 200;
      step.body = is_subnet ? subnet : is_put ? network : R"({"location":"w","properties":{"subnets":[)" + subnet + "]}}";
      if (step.status == 404) step.body = R"({"error":{"code":"NotFound","message":"m"}})";
      return step;
    });
    EXPECT_EQ(rig.ask("one", put(kNetwork), network).head.status, 200);
    if (reads) {
      EXPECT_EQ(rig.ask("one", get(kSubnet)).head.status, 404);
    }
    const auto again = rig.ask("one", put(kSubnet), subnet);
    EXPECT_EQ(again.head.status, 201) << again.body;
    EXPECT_EQ(again.head.fields.get("x-armgate-waited-ms"), "0");
  }
}

TEST(Compared, AResourceThatIsGoneIsStale) {
  StageRig rig;
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.arm(get(kGroup), 404, {}, R"({"error":{"code":"ResourceGroupNotFound","message":"m"}})");
  rig.ask("one", get(kGroup));
  EXPECT_TRUE(says(rig.ask("one", put(kGroup), kWanted), "ArmgateStaleWrite"));
}

TEST(Compared, APatchThatSetsAValueADeleteAndAPreconditionOfTheClientsOwnGoWithoutALook) {
  StageRig rig;
  const std::string group(kGroup);
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.arm("PATCH " + group, 200, {}, kTagged);
  rig.arm(put(kGroup), 200, {}, kMade);
  rig.arm("DELETE " + group, 204);
  rig.ask("one", get(kGroup));
  EXPECT_EQ(rig.ask("one", "PATCH " + group, R"({"properties":{"by":"two"}})").head.status, 200);
  EXPECT_EQ(rig.ask("one", put(kGroup), kWanted, {{"If-Match", "*"}}).head.status, 200);
  EXPECT_EQ(rig.ask("one", "DELETE " + group).head.status, 204);
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Compared, ABaseWhoseBodyWasNotKeptIsKnownByItsEtag) {
  const std::string etag = R"("one")";
  const std::string moved = R"("two")";
  for (const bool same : {true, false}) {
    StageRig rig;
    rig.arm(get(kGroup), 200, {{"ETag", etag}}, std::string(5u << 20, ' '));  // too long to keep
    rig.arm(get(kGroup), 200, {{"ETag", same ? etag : moved}}, kPlain);
    if (same) rig.arm(put(kGroup), 200, {}, kMade);
    rig.ask("one", get(kGroup));
    EXPECT_EQ(rig.ask("one", put(kGroup), kWanted).head.status, same ? 200 : 412);
    EXPECT_TRUE(rig.script_is_done());
  }
}

TEST(Compared, AfterAConflictTheResourceIsComparedAgain) {
  struct Case {
    std::string after;
    int status;
  };
  for (const Case& c : {Case{kPlain, 200}, Case{kTagged, 412}}) {
    StageRig rig;
    rig.arm(get(kGroup), 200, {}, kPlain);
    rig.arm(get(kGroup), 200, {}, kPlain);
    rig.arm(put(kGroup), 409, {}, kBusy);
    rig.arm(get(kGroup), 200, {}, c.after);
    if (c.status == 200) rig.arm(put(kGroup), 200, {}, kMade);
    rig.ask("one", get(kGroup));
    EXPECT_EQ(rig.ask("one", put(kGroup), kWanted).head.status, c.status);
    EXPECT_TRUE(rig.script_is_done());
  }
}

TEST(Compared, ALostAnswerIsSettledByWhatIsThereOnceNothingCanComeOfItAnyMore) {
  struct Case {
    std::string now;
    int status;
    size_t puts;
    int64_t waits_s;
    const char* reason;
  };
  for (const Case& c :
       {Case{kMade, 200, 1, 0, "answer-recovered-by-reading"}, Case{kPlain, 200, 2, 10, "answer-lost-state-unmoved"},
        Case{kTagged, 412, 1, 10, "answer-lost-state-moved"}}) {
    StageRig rig(unmerged());
    rig.arm(get(kGroup), 200, {}, kPlain);
    rig.arm(get(kGroup), 200, {}, kPlain);
    rig.arm_fails(put(kGroup), Sent::Maybe);
    size_t puts = 1;
    rig.arm_lives([&](const arm::Request& request) {
      Step step;
      step.expected = request.head.method_token;
      const bool is_put = request.head.method == arm::Method::Put;
      puts += is_put ? 1 : 0;
      step.body = is_put ? kMade : c.now;
      return step;
    });
    rig.ask("one", get(kGroup));
    const TimePoint before = rig.now();
    const auto answer = rig.ask("one", put(kGroup), kWanted);
    EXPECT_EQ(answer.head.status, c.status);
    EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), c.reason);
    EXPECT_EQ(puts, c.puts);
    EXPECT_EQ(std::chrono::duration_cast<seconds>(rig.now() - before).count(), c.waits_s);
  }
}

TEST(Compared, ASecondSendingFindsWhatTheFirstHasDone) {
  StageRig rig;
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.arm(get(kGroup), 200, {}, kPlain);
  rig.arm(put(kGroup), 504, {}, R"({"error":{"code":"GatewayTimeout","message":"m"}})");
  rig.arm_lives([](const arm::Request&) {
    Step step;
    step.expected = get(kGroup);
    step.body = kMade;
    return step;
  });
  rig.ask("one", get(kGroup));
  EXPECT_EQ(rig.ask("one", put(kGroup), kWanted).head.status, 504);
  const auto again = rig.ask("one", put(kGroup), kWanted);
  EXPECT_EQ(again.head.status, 200);
  EXPECT_EQ(again.body, kMade);
  EXPECT_EQ(again.head.fields.get("x-armgate-reason"), "answer-recovered-by-reading");
  EXPECT_TRUE(rig.script_is_done());
}

// Many actors behind one name, without request ids: one read the plain group, another the tagged one.
TEST(Compared, AGuessMustFitEverythingTheWriteMayBeBuiltOn) {
  struct Case {
    std::string now;
    int status;
  };
  for (const Case& c : {Case{kTagged, 412}, Case{kPlain, 412}}) {
    StageRig rig = many_actors();
    rig.arm(get(kGroup), 200, {}, kPlain);
    rig.arm(get(kGroup), 200, {}, kTagged);
    rig.arm(get(kGroup), 200, {}, c.now);
    rig.ask("jvm", get(kGroup));
    rig.ask("jvm", get(kGroup));
    const auto answer = rig.ask("jvm", put(kGroup), kWanted);
    EXPECT_EQ(answer.head.status, c.status) << "that the oldest state is back proves nothing about the newer one's reader";
    EXPECT_TRUE(rig.script_is_done());
  }
}

TEST(Compared, AnAccountThatWasMadeWithoutAnAnswersBodyCanBeBuiltOn) {
  const std::string wanted = R"({"kind":"StorageV2","location":"westeurope"})";
  const std::string made = R"({"kind":"StorageV2","location":"westeurope","properties":{"provisioningState":"Succeeded"}})";
  StageRig rig;
  rig.arm(put(kAccount), 202);
  rig.arm(get(kAccount), 200, {}, made);  // the operation lease learns that the create is over
  rig.arm(get(kAccount), 200, {}, made);  // the client's read
  rig.arm(get(kAccount), 200, {}, made);  // compared with both
  rig.arm(put(kAccount), 200, {}, made);
  EXPECT_EQ(rig.ask("many", put(kAccount), wanted).head.status, 202);
  rig.pass(seconds(70));
  rig.ask("many", get(kAccount));
  EXPECT_EQ(rig.ask("many", put(kAccount), R"({"kind":"StorageV2","location":"westeurope","tags":{}})").head.status, 200);
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Compared, WhoHasReadNothingIsToldSo) {
  StageRig rig;
  for (const char* why :
       {"what this client may have read before is not remembered", "was not shown any state of the resource"}) {
    const std::string old_set =
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v?api-version=2022-08-01";
    rig.arm_takes(seconds(5), put(old_set), 200, {}, "{}");
    const auto first = rig.start("one", put(old_set), R"({"a":1})");
    rig.pass(seconds(1));
    const auto second = rig.ask("two", put(old_set), R"({"a":2})");
    EXPECT_EQ(second.head.status, 412);
    EXPECT_TRUE(says(second, why)) << second.body;
    rig.run_until([&] { return first->done; });
    rig.pass(std::chrono::hours(13));  // longer than anything is remembered: from then on it has known all
  }
}

// A disk shows no ETag. Who deletes it, does not wait, and makes it anew, meets nobody but itself.
const std::string kDisk = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d?api-version=2024-03-02";
const std::string kDiskBody = R"({"tags":{},"properties":{"provisioningState":"Succeeded"}})";
const std::string kOperation = "https://management.azure.com/subscriptions/s/operations/1";

TEST(Compared, BehindItsOwnDeleteAPutMakesTheResourceAnew) {
  // In the second half nobody has read anything.
  for (const auto& [writer, reads] : {std::pair("one", true), {"two", true}, {"one", false}, {"two", false}}) {
    StageRig rig;
    for (const char* reader : {"one", "two"}) {
      if (!reads) continue;
      rig.arm(get(kDisk), 200, {}, kDiskBody);
      rig.ask(reader, get(kDisk));
    }
    rig.arm("DELETE " + kDisk, 202, {{"Azure-AsyncOperation", kOperation}});
    rig.ask("one", "DELETE " + kDisk);
    rig.arm_lives([&](const arm::Request& request) {
      const bool is_poll = request.head.target.find("operations") != std::string::npos;
      const int status = is_poll || request.head.method == arm::Method::Put ? 200 : 404;
      return Step{{}, status, {}, is_poll ? R"({"status":"Succeeded"})" : "{}", {}, {}, {}};
    });
    const int status = rig.ask(writer, put(kDisk), R"({"tags":{"a":"1"}})").head.status;
    EXPECT_EQ(status, std::string_view(writer) == "one" ? 200 : 412) << writer << reads;
  }
}

// It has read what its failed write has left, and asks for the same again, before anybody has told armgate of the failure.
TEST(Compared, AFailureThatIsLearntWhileItWaitsCounts) {
  auto options = StageRig::default_options();
  options.clients["one"].actors = policy::Actors::Single;
  StageRig rig(options);
  rig.arm(get(kDisk), 200, {}, kDiskBody);
  rig.ask("one", get(kDisk));
  rig.arm_lives([&](const arm::Request& request) {
    const bool is_poll = request.head.target.find("operations") != std::string::npos;
    arm::Headers fields;
    if (request.head.method == arm::Method::Put) fields.add("Azure-AsyncOperation", kOperation);
    return Step{{}, 200, fields, is_poll ? R"({"status":"Failed","error":{"code":"Bad","message":"m"}})" : kDiskBody,
                {}, {},  {}};
  });
  for (const char* id : {"a", "b", "c"}) {
    const auto answer = rig.ask("one", put(kDisk), R"({"tags":{"a":"1"}})", {{"x-ms-client-request-id", id}});
    EXPECT_EQ(answer.head.status, 200) << answer.body;
    EXPECT_FALSE(answer.head.fields.has("x-armgate-replayed")) << "it was never done";
    rig.ask("one", get(kDisk));
  }
  EXPECT_EQ(std::ranges::count_if(rig.seen(), [](const auto& r) { return r.head.method == arm::Method::Put; }), 3);
}

// ARM keeps the effect of many an operation that fails, and takes others back. Whoever is one actor knows of both, and goes on unread.
TEST(Compared, AfterAFailureOneActorGoesOnFromWhateverIsThere) {
  const std::string before = R"({"tags":{"a":"0"}})", asked = R"({"tags":{"a":"1"}})", next = R"({"tags":{"a":"2"}})";
  for (const std::string& there : {before, asked}) {
    StageRig rig;
    rig.arm(get(kDisk), 200, {}, before);
    rig.ask("one", get(kDisk));
    rig.arm(get(kDisk), 200, {}, before);
    rig.arm(put(kDisk), 200, {{"Azure-AsyncOperation", kOperation}}, asked);
    rig.ask("one", put(kDisk), asked);
    rig.arm_lives([&](const arm::Request& request) {
      const bool is_poll = request.head.target.find("operations") != std::string::npos;
      return Step{{}, 200, {}, is_poll ? R"({"status":"Failed","error":{"code":"Bad","message":"m"}})" : there, {}, {}, {}};
    });
    rig.pass(std::chrono::minutes(2));  // armgate learns of it
    const auto answer = rig.ask("one", put(kDisk), next);
    EXPECT_EQ(answer.head.status, 200) << there << answer.body;
    EXPECT_EQ(rig.seen().back().body, next);
  }
}

}  // namespace
}  // namespace armgate::world::guard_test
