// Goal: the end of a write is recognised in every form that providers were seen to use. Method: one observed or
// documented answer per line.
#include "arm/long_running.h"

#include <gtest/gtest.h>

#include "tests/json/hostile_json.h"

namespace armgate::arm {
namespace {

constexpr std::string_view kStatus = "https://management.azure.com/subscriptions/s/operations/1?t=A&c=%2F";
constexpr std::string_view kLocation = "https://management.azure.com:443/subscriptions/s/operationresults/1?m=true";
constexpr std::string_view kSucceeded = R"({"properties":{"provisioningState":"Succeeded"}})";
constexpr std::string_view kUpdating = R"({"properties":{"provisioningState":"Updating"}})";

Headers headers(std::string_view status_url, std::string_view location) {
  Headers fields;
  if (!status_url.empty()) fields.add("azure-asyncoperation", status_url);
  if (!location.empty()) fields.add("location", location);
  return fields;
}

TEST(LongRunningTest, WhatAnAcceptedWriteIsTrackedBy) {
  using enum TrackedBy;
  const struct {
    Method method;
    int status;
    std::string_view status_url, location, body;
    TrackedBy by;
  } cases[] = {
      // Plain answers.
      {Method::Put, 200, "", "", kSucceeded, Nothing},
      {Method::Put, 201, "", "", "{}", Nothing},
      {Method::Put, 200, "", "", R"({"properties":{"provisioningState":"Failed"}})", Nothing},
      {Method::Put, 200, "", "", R"({"properties":{"provisioningState":"Activated"}})", Nothing},
      {Method::Patch, 200, "", "", "", Nothing},
      {Method::Delete, 200, "", "", "", Nothing},
      {Method::Delete, 204, "", "", "", Nothing},
      {Method::Post, 200, "", "", R"({"keys":[]})", Nothing},
      {Method::Get, 200, kStatus, kLocation, kUpdating, Nothing},
      {Method::Put, 409, kStatus, kLocation, kUpdating, Nothing},
      {Method::Put, 500, kStatus, "", "", Nothing},
      // Azure-AsyncOperation wins over everything.
      {Method::Put, 201, kStatus, kLocation, kUpdating, StatusUrl},
      {Method::Put, 200, kStatus, "", kSucceeded, StatusUrl},  // load balancer, subnet
      {Method::Delete, 200, kStatus, "", "", StatusUrl},       // network interface
      {Method::Delete, 204, kStatus, "", "", StatusUrl},
      {Method::Delete, 202, kStatus, kLocation, "", StatusUrl},
      {Method::Post, 202, kStatus, kLocation, "", StatusUrl},
      {Method::Put, 202, kStatus, kLocation, "", StatusUrl},  // disks, private DNS
      // Location.
      {Method::Put, 202, "", kLocation, "", LocationUrl},     // storage account
      {Method::Delete, 202, "", kLocation, "", LocationUrl},  // resource group
      {Method::Post, 202, "", kLocation, "", LocationUrl},
      {Method::Put, 201, "", kLocation, kUpdating, LocationUrl},
      // A Location that names no operation.
      {Method::Put, 201, "", "/subscriptions/s/x", kSucceeded, Nothing},  // managed identity
      {Method::Put, 201, "", kLocation, kSucceeded, Nothing},
      {Method::Put, 201, "", kLocation, "{}", Nothing},
      {Method::Post, 201, "", kLocation, "{}", Nothing},
      {Method::Put, 202, "", "/relative", "", ResourceState},
      {Method::Delete, 202, "", "http://management.azure.com/x", "", ResourceGone},
      // No URL at all.
      {Method::Put, 200, "", "", kUpdating, ResourceState},  // virtual machine, key vault
      {Method::Patch, 200, "", "", kUpdating, ResourceState},
      {Method::Put, 202, "", "", "", ResourceState},
      {Method::Patch, 202, "", "", "", ResourceState},
      {Method::Delete, 202, "", "", "", ResourceGone},
      {Method::Delete, 200, "", "", R"({"properties":{"provisioningState":"Deleting"}})", ResourceGone},
      {Method::Post, 202, "", "", "", Nothing},
      {Method::Post, 200, "", "", kUpdating, Nothing},
      // A status URL that cannot be asked still means that the write runs.
      {Method::Put, 200, "/relative", "", kSucceeded, ResourceState},
      {Method::Delete, 200, "https://user@a/", "", "", ResourceGone},
      {Method::Delete, 200, "junk", kLocation, "", LocationUrl},
  };
  for (const auto& c : cases) {
    const auto tracking = tracking_of(c.method, ResponseHead{c.status, "", headers(c.status_url, c.location)}, c.body);
    const auto what = std::string(to_text(c.method)) + " " + std::to_string(c.status) + " " + std::string(c.status_url) + " " +
                      std::string(c.location) + " " + std::string(c.body);
    EXPECT_EQ(tracking.by, c.by) << what;
    EXPECT_EQ(tracking.status_url, c.by == StatusUrl ? c.status_url : "") << what;
    EXPECT_EQ(!tracking.location_url.empty(), c.location == kLocation && c.by != Nothing) << what;
  }
}

TEST(LongRunningTest, OperationLocationIsAStatusUrlToo) {
  const Headers fields{{"Operation-Location", std::string(kStatus)}};
  const auto tracking = tracking_of(Method::Put, ResponseHead{201, "", fields}, "{}");
  EXPECT_EQ(tracking.by, TrackedBy::StatusUrl);
  EXPECT_EQ(tracking.status_url, kStatus);
}

TEST(LongRunningTest, WordsOfState) {
  const std::pair<std::string_view, Progress> cases[] = {
      {"Succeeded", Progress::Succeeded}, {"succeeded", Progress::Succeeded},
      {"COMPLETED", Progress::Succeeded}, {"Failed", Progress::Failed},
      {"Canceled", Progress::Canceled},   {"cancelled", Progress::Canceled},
      {"Updating", Progress::Running},    {"RegisteringDns", Progress::Running},
      {"Succeeded ", Progress::Running},  {"", Progress::Unknown},
  };
  for (const auto& [word, expected] : cases) EXPECT_EQ(progress_of_word(word), expected) << word;
}

struct PollCase {
  int status;
  std::string_view body;
  Progress expected;
};

TEST(LongRunningTest, AnswersOfAStatusUrl) {
  const PollCase cases[] = {
      {200, R"({"status":"InProgress"})", Progress::Running},
      {200, R"({"Status":"succeeded"})", Progress::Succeeded},
      {200, R"({"status":"Failed","error":{"code":"x"}})", Progress::Failed},
      {200, R"({"status":"Canceled"})", Progress::Canceled},
      {202, R"({"status":"Succeeded"})", Progress::Succeeded},
      {202, "", Progress::Running},
      {200, kSucceeded, Progress::Succeeded},
      {200, R"({"status":"Failed","properties":{"provisioningState":"Succeeded"}})", Progress::Failed},
      {200, R"({"properties":{"status":"Failed"}})", Progress::Unknown},
      {200, R"({"status":7})", Progress::Unknown},
      {200, "", Progress::Unknown},
      {204, "", Progress::Unknown},
      {302, "", Progress::Unknown},
      {400, R"({"status":"Failed"})", Progress::Unknown},
      {401, "", Progress::Unknown},
      {429, "", Progress::Unknown},
      {500, R"({"status":"Succeeded"})", Progress::Unknown},
      {504, "", Progress::Unknown},
      {404, R"({"error":{"code":"ResourceNotFound"}})", Progress::Missing},
      {410, "", Progress::Missing},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(progress_of_status_url(ResponseHead{c.status, "", {}}, c.body), c.expected) << c.status << " " << c.body;
  }
}

TEST(LongRunningTest, AnswersOfALocationUrl) {
  const PollCase cases[] = {
      {202, "", Progress::Running},
      {202, R"({"status":"Succeeded"})", Progress::Running},
      {200, "", Progress::Succeeded},
      {201, kSucceeded, Progress::Succeeded},
      {204, "", Progress::Succeeded},
      {200, "not json", Progress::Succeeded},
      {200, R"({"status":"Failed"})", Progress::Failed},
      {200, R"({"status":"cancelled"})", Progress::Canceled},
      {200, R"({"status":"Online"})", Progress::Succeeded},
      {200, R"({"properties":{"provisioningState":"Failed"}})", Progress::Failed},
      {200, R"({"properties":{"provisioningState":"Activated"}})", Progress::Succeeded},
      {200, kUpdating, Progress::Running},
      {400, "", Progress::Failed},
      {409, "", Progress::Failed},
      {401, "", Progress::Unknown},
      {403, "", Progress::Unknown},
      {408, "", Progress::Unknown},
      {429, "", Progress::Unknown},
      {307, "", Progress::Unknown},
      {504, "", Progress::Unknown},
      {404, "", Progress::Missing},
      {410, "", Progress::Missing},
  };
  for (const auto& c : cases) {
    const ResponseHead head{c.status, "", {}};
    EXPECT_EQ(progress_of_location_url(head, c.body), c.expected) << c.status << " " << c.body;
  }
}

TEST(LongRunningTest, AnswersOfTheResource) {
  const PollCase cases[] = {
      {200, kSucceeded, Progress::Succeeded},
      {200, kUpdating, Progress::Running},
      {200, R"({"properties":{"provisioningState":"Failed"}})", Progress::Failed},
      {200, R"({"id":"/s"})", Progress::Succeeded},
      {200, R"({"properties":{"x":{"provisioningState":"Updating"}}})", Progress::Succeeded},
      {200, R"({"properties":{"provisioningState":null}})", Progress::Succeeded},
      {200, "", Progress::Unknown},
      {200, R"({"properties":{)", Progress::Unknown},
      {404, "", Progress::Missing},
      {403, "", Progress::Unknown},
      {429, kSucceeded, Progress::Unknown},
      {503, "", Progress::Unknown},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(progress_of_resource(ResponseHead{c.status, "", {}}, c.body), c.expected) << c.status << " " << c.body;
  }
}

TEST(LongRunningTest, AnswersOfADeletedResource) {
  const std::pair<int, Progress> cases[] = {
      {404, Progress::Succeeded}, {410, Progress::Succeeded}, {200, Progress::Running}, {403, Progress::Unknown},
      {429, Progress::Unknown},   {500, Progress::Unknown},   {307, Progress::Unknown},
  };
  for (const auto& [status, expected] : cases) {
    EXPECT_EQ(progress_of_deleted_resource(ResponseHead{status, "", {}}), expected) << status;
  }
}

TEST(LongRunningTest, HostileBodiesSayNothing) {
  for (const std::string& body : hostile_json()) {
    EXPECT_EQ(progress_of_status_url(ResponseHead{200, "", {}}, body), Progress::Unknown) << body.substr(0, 80);
    EXPECT_EQ(progress_of_resource(ResponseHead{200, "", {}}, body), Progress::Unknown) << body.substr(0, 80);
    EXPECT_EQ(tracking_of(Method::Put, ResponseHead{200, "", {}}, body).by, TrackedBy::Nothing) << body.substr(0, 80);
  }
}

TEST(LongRunning, AnOperationHasTheIdThatItsUrlEndsWith) {
  EXPECT_EQ(operation_id({TrackedBy::StatusUrl, "https://management.azure.com/s/operations/1-2?t=3", "https://x/other"}),
            "1-2");
  EXPECT_EQ(operation_id({TrackedBy::LocationUrl, "", "https://management.azure.com/s/operationresults/a/"}), "a");
  EXPECT_EQ(operation_id({}), "");
}

TEST(LongRunning, AnAnswersStateIsKept) {
  const ResponseHead head{200, "", {}};
  EXPECT_EQ(tracking_of(Method::Put, head, R"({"properties":{"provisioningState":"Failed"}})").state, "Failed");
  EXPECT_EQ(tracking_of(Method::Put, head, "{}").state, "");
  EXPECT_EQ(to_text(Progress::Failed), "Failed");
  EXPECT_EQ(to_text(Progress::Running), "unknown");
}

}  // namespace
}  // namespace armgate::arm
