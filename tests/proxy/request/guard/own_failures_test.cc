// Goal: one actor that writes on after operations of its own have failed is let through whatever ARM has kept of them, and undoes
// nothing that it does not know of. Method: a disk whose operations fail, and keep their effect or not.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/stage_rig.h"

namespace armgate::world {
namespace {

const std::string kDisk = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d?api-version=2024-03-02";
const std::string kOperation =
    "https://management.azure.com/subscriptions/s/providers/Microsoft.Compute/locations/w/operations/o?api-version=2024-03-02";

std::string disk(const std::string& tags) { return R"({"location":"w","tags":{)" + tags + "}}"; }

class OwnFailures : public testing::Test {
 protected:
  enum class Next { Succeeds, FailsAndStays, FailsAndGoes };

  OwnFailures() : rig_(options()) {
    rig_.arm_lives([this](const arm::Request& request) { return answer(request); });
  }

  arm::Response write(const std::string& client, const std::string& tags, Next next = Next::Succeeds) {
    next_ = next;
    arm::Response response = rig_.ask(client, "PUT " + kDisk, disk(tags));
    rig_.pass(std::chrono::minutes(2));
    return response;
  }
  void read(const std::string& client) { rig_.ask(client, "GET " + kDisk); }

  std::string there_ = disk(R"("a":"0")");

 private:
  static PipelineOptions options() {
    PipelineOptions options = StageRig::default_options();
    options.clients["one"].actors = policy::Actors::Single;
    return options;
  }
  Step answer(const arm::Request& request) {
    Step step;
    step.body = there_;
    if (request.head.target.find("/operations/") != std::string::npos) {
      step.body = R"({"status":"Failed","error":{"code":"Bad","message":"m"}})";
    } else if (request.head.method == arm::Method::Put) {
      step.body = request.body;
      if (next_ != Next::FailsAndGoes) there_ = request.body;
      if (next_ != Next::Succeeds) step.fields.add("Azure-AsyncOperation", kOperation);
    }
    return step;
  }

  StageRig rig_;
  Next next_ = Next::Succeeds;
};

TEST_F(OwnFailures, OfSeveralAnyMayBeWhatIsThere) {
  read("one");
  write("one", R"("a":"1")", Next::FailsAndStays);
  write("one", R"("a":"2")", Next::FailsAndGoes);
  ASSERT_EQ(there_, disk(R"("a":"1")"));
  const auto answer = write("one", R"("a":"3")");
  EXPECT_EQ(answer.head.status, 200) << answer.body;
  EXPECT_EQ(there_, disk(R"("a":"3")"));
}

TEST_F(OwnFailures, WhatWasMergedIntoOneThatStaysIsNotTakenBack) {
  read("one");
  read("ben");
  write("ben", R"("a":"0","b":"1")");
  ASSERT_EQ(write("one", R"("a":"0","one":"1")", Next::FailsAndStays).head.fields.get("x-armgate-merged"), "1");
  write("one", R"("a":"0","one":"2")");  // built on what it asked for
  EXPECT_NE(there_.find(R"("b":"1")"), std::string::npos) << there_;
}

// It has read what others have made of it since, and adds its own anew.
TEST_F(OwnFailures, WhatFailedIsDoneAgainBesideWhatAnotherWroteMeanwhile) {
  there_ = disk(R"("base":"1")");
  read("ann");
  write("ann", R"("base":"1","a":"1")", Next::FailsAndGoes);
  read("ben");
  write("ben", R"("base":"1","b":"1")");
  read("ann");
  const auto answer = write("ann", R"("base":"1","b":"1","a":"1")");
  EXPECT_EQ(answer.head.status, 200) << answer.body;
}

}  // namespace
}  // namespace armgate::world
