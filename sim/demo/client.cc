#include "sim/demo/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "json/tree.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

constexpr int kStaleTriesMax = 25;  // reads before a client gives a write up
constexpr int kSdkTriesMax = 4;     // one and three retries, as the SDKs do
constexpr int kPollsMax = 600;
constexpr Duration kPollEvery = milliseconds(60);
constexpr Duration kThinkMax = milliseconds(150);
constexpr Duration kResendAfter = milliseconds(450);

// The path of an operation URL: the client reaches it over its own connection.
std::string target_of(std::string_view url) {
  const size_t path = url.find('/', std::string_view("https://").size());
  return std::string(url.substr(std::min(path, url.size())));
}

bool is_outcome_unknown(const arm::Response& answer) {
  const Json body = Json::parse(answer.body, nullptr, false);
  return body.is_object() && body.contains("error") && body["error"].value("code", "") == "ArmgateOutcomeUnknown";
}

}  // namespace

DemoClient::DemoClient(const Executor& executor, Clock& clock, const Route& route, std::string name, uint64_t seed,
                       OnConflict on_conflict, std::shared_ptr<Tally> tally)
    : clock_(clock),
      link_(executor, route, name),
      name_(std::move(name)),
      rng_(seed),
      on_conflict_(on_conflict),
      tally_(std::move(tally)) {}

std::string DemoClient::next_write_id() { return fmt::format("{}-{}", name_, ++writes_); }

arm::Request DemoClient::make_request(std::string_view method, const std::string& path, std::string body) {
  arm::Request request;
  request.head.method = arm::method_of(method);
  request.head.method_token = method;
  request.head.target = path.find('?') == path.npos ? path + "?api-version=2025-04-01" : path;
  request.head.fields.add("x-sim-client", name_);
  request.head.fields.add("x-ms-client-request-id", fmt::format("{}-{:016x}", name_, rng_.next()));
  request.body = std::move(body);
  return request;
}

Task<void> DemoClient::think(Duration most) {
  co_await clock_.sleep_for(Duration(static_cast<Duration::rep>(rng_.below(static_cast<uint64_t>(most.count())))));
}

// An SDK's request: again after a broken connection (POST too, as JavaScript does) and after 503 with Retry-After.
Task<Result<arm::Response>> DemoClient::ask(const arm::Request& request) {
  for (int tries = 1;; ++tries) {
    Result<arm::Response> answer = co_await link_.send(request);
    const bool passing =
        answer ? answer->head.status == 503 && answer->head.fields.has("Retry-After") : answer.error().kind == ErrorKind::Reset;
    if (!passing || tries == kSdkTriesMax) co_return answer;
    co_await clock_.sleep_for(answer ? Duration(std::chrono::seconds(1)) : kResendAfter);
  }
}

Task<DemoClient::Outcome> DemoClient::write(const arm::Request& request, Wait wait) {
  const int conflicts_max = on_conflict_ == OnConflict::SendSameAgain ? 3 : 0;
  for (int conflicts = 0;; ++conflicts) {
    Result<arm::Response> answer = co_await ask(request);
    if (!answer) co_return fail(request, answer);
    const int status = answer->head.status;
    if (arm::is_success(status)) {
      if (wait == Wait::ForOperation) co_await await_operation(*answer);
      co_return Outcome::Done;
    }
    if (status == 412) co_return Outcome::Stale;
    if (status == 409 && is_outcome_unknown(*answer)) co_return Outcome::Unknown;
    if (status != 409 || conflicts == conflicts_max) co_return fail(request, answer);
    co_await clock_.sleep_for(kResendAfter);
  }
}

DemoClient::Outcome DemoClient::fail(const arm::Request& request, const Result<arm::Response>& answer) {
  if (tally_->first_failure.empty()) {
    tally_->first_failure =
        fmt::format("{}: {} {} {}", name_, request.head.method_token, arm::path_of(request.head.target),
                    answer ? fmt::format("{} {}", answer->head.status, answer->body) : answer.error().context);
  }
  return Outcome::Failed;
}

Task<void> DemoClient::await_operation(const arm::Response& accepted) {
  std::string_view url = accepted.head.fields.get("Azure-AsyncOperation");
  if (url.empty()) url = accepted.head.fields.get("Location");
  if (url.empty()) co_return;
  const std::string target = target_of(url);
  for (int polls = 0; polls < kPollsMax; ++polls) {
    co_await clock_.sleep_for(kPollEvery);
    const arm::Request poll = make_request("GET", target, {});
    Result<arm::Response> answer = co_await ask(poll);
    if (!answer || answer->head.status >= 400) co_return;
    const Json body = Json::parse(answer->body, nullptr, false);
    const std::string state = body.is_object() ? body.value("status", "") : "";
    if (answer->head.status != 202 && state != "InProgress") co_return;
  }
}

void DemoClient::count(Outcome outcome) {
  ++(outcome == Outcome::Done ? tally_->done : outcome == Outcome::Unknown ? tally_->unknown : tally_->failed);
}

Task<DemoClient::Outcome> DemoClient::add_member(const std::string& path, AddMember add, const std::string& increments,
                                                 const std::string& member) {
  const std::string write_id = next_write_id();
  for (int tries = 1;; ++tries) {
    const arm::Request read = make_request("GET", path, {});
    Result<arm::Response> state = co_await ask(read);
    if (!state || state->head.status != 200) co_return fail(read, state);
    co_await think(kThinkMax);
    Json body = Json::parse(state->body, nullptr, false);
    if (!body.is_object()) co_return fail(read, state);
    // Most models do not carry the ETag from a read into the write.
    body.erase("etag");
    add(body, member);
    arm::Request put = make_request("PUT", path, body.dump());
    put.head.fields.add("x-sim-write-id", write_id);
    put.head.fields.add("x-sim-base-version", state->head.fields.get("x-sim-version"));
    if (!increments.empty()) put.head.fields.add("x-sim-increments", increments);
    const Outcome outcome = co_await write(put, Wait::ForOperation);
    if (outcome != Outcome::Stale) co_return outcome;
    ++tally_->read_again;
    if (tries == kStaleTriesMax) co_return Outcome::Failed;
  }
}

Task<void> DemoClient::add_members(std::string path, AddMember add, std::string increments, int times) {
  for (int i = 0; i < times; ++i) {
    const std::string member = fmt::format("{}-{}", name_, i);
    count(co_await add_member(path, add, increments, member));
    co_await think(kThinkMax);
  }
  --tally_->clients_left;
}

Task<void> DemoClient::create_subnets(std::string network, int times) {
  for (int i = 0; i < times; ++i) {
    const std::string path = fmt::format("{}/subnets/{}-{}", network, name_, i);
    arm::Request put = make_request("PUT", path, R"({"properties":{"addressPrefix":"10.0.0.0/24"}})");
    put.head.fields.add("x-sim-write-id", next_write_id());
    count(co_await write(put, Wait::ForOperation));
    co_await think(kThinkMax);
  }
  --tally_->clients_left;
}

Task<void> DemoClient::create_group_and_network(std::string subscription) {
  const std::string group = fmt::format("{}/resourceGroups/{}", subscription, name_);
  const std::string network = group + "/providers/Microsoft.Network/virtualNetworks/first";
  for (const std::string& path : {group, network}) {
    arm::Request put = make_request("PUT", path, R"({"location":"westeurope"})");
    put.head.fields.add("x-sim-write-id", next_write_id());
    count(co_await write(put, Wait::ForOperation));
  }
  --tally_->clients_left;
}

Task<void> DemoClient::repeat_action(std::string scale_set, std::string action, Wait wait, int times) {
  for (int i = 0; i < times; ++i) {
    arm::Request post = make_request("POST", fmt::format("{}/{}", scale_set, action), {});
    post.head.fields.add("x-sim-write-id", next_write_id());
    count(co_await write(post, wait));
    co_await think(kThinkMax);
  }
  --tally_->clients_left;
}

}  // namespace armgate::sim
