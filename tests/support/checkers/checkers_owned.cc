// What clients are told of operations behind armgate's own URLs: how the operation of the write's newest sending ended, and nothing else.
#include <fmt/format.h>

#include <string>

#include "arm/url.h"
#include "json/tree.h"
#include "sim/json_text.h"
#include "tests/support/checkers/checkers.h"

namespace armgate::world {
namespace {

// "Succeeded", "Failed", "Canceled"; "InProgress" for what runs; empty: it says nothing.
std::string how_of(const arm::Response& answer) {
  if (answer.head.status == 202) return "InProgress";
  if (answer.head.status != 200) return {};
  const auto body = sim::json_value(answer.body);
  return body.is_object() ? body.value("status", "") : std::string();
}

}  // namespace

void Checkers::note_owned(const Record& record, const arm::Response& answer) {
  const auto url = arm::parse_url(answer.head.fields.get("Azure-AsyncOperation"));
  if (!url || url->target.find(kOwnOperations) == std::string::npos) return;
  // The answer may be that of an earlier exchange, which its client was not given: that one's, which ARM answered so.
  for (const auto& [id, other] : records_) {
    const bool same = other.write_id == record.write_id || (!record.has_id && other.asked == record.asked);
    const bool is_its_answer = other.last_answer && is_the_same(answer, *other.last_answer);
    if (same && is_its_answer && newest_operation_.contains(id)) owned_.emplace(std::string(arm::path_of(url->target)), id);
  }
}

bool Checkers::is_owned_poll(const Record& record) const {
  return record.is_read && owned_.contains(std::string(arm::path_of(record.target)));
}

void Checkers::check_owned_poll(const Record& record, const arm::Response& answer) {
  const std::string told = how_of(answer);
  if (told.empty() || told == "InProgress") return;
  const bool in_doubt = answer.body.find("ArmgateOutcomeUnknown") != std::string::npos;
  const uint64_t write = owned_.at(std::string(arm::path_of(record.target)));
  told_ended_.insert(write);
  const auto newest = newest_operation_.find(write);
  const auto url = newest == newest_operation_.end() ? std::nullopt : arm::parse_url(newest->second);
  if (!url || in_doubt) {
    if (!in_doubt && records_.at(write).life == life_)
      violated("P5", fmt::format("{} was told {} of a write whose newest answer was lost", record.what, told));
    return;
  }
  arm::Request poll;
  poll.head.host = url->host;
  poll.head.target = url->target;
  const std::string truly = how_of(arm_.handle(poll, clock_.now()).response);
  if (told != truly)
    violated("P5", fmt::format("{} was told {}, and the newest sending's operation is {}", record.what, told, truly));
}

}  // namespace armgate::world
