#include "proxy/observability/record_view.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/utc.h"
#include "json/tree.h"
#include "proxy/request/operation/leased_write.h"
#include "proxy/seams/which_writes.h"

namespace armgate {
namespace {

using nlohmann::json;

// How what ARM took has ended, in the words of the manual.
std::string_view word_of(arm::Progress result) {
  switch (result) {
    case arm::Progress::Succeeded: return "done";
    case arm::Progress::Failed: return "failed";
    case arm::Progress::Canceled: return "canceled";
    default: return "ended";
  }
}

std::string_view state_of(const JournaledWrite& write) {
  if (write.given_up) return "given-up";
  if (!write.outcome) return write.is_open() ? "no-answer" : "no-answer-settled";
  switch (write.outcome->kind) {
    case OutcomeKind::NotSent: return "not-sent";
    case OutcomeKind::InDoubt: return write.is_open() ? "in-doubt" : "in-doubt-settled";
    case OutcomeKind::Answered: break;
  }
  const bool accepted = arm::is_success(write.outcome->status);
  if (accepted) return write.is_open() ? "running" : word_of(write.result.how);
  if (write.is_open()) return "in-doubt";  // ARM answered 5xx, say, and may have taken it
  return is_refused(write) ? "refused" : "in-doubt-settled";
}

json members_of(std::string_view lines) {
  json members = json::array();
  while (true) {
    const size_t end = lines.find('\n');
    members.push_back(lines.substr(0, end));
    if (end == lines.npos) return members;
    lines.remove_prefix(end + 1);
  }
}

}  // namespace

json to_json(const JournaledWrite& write) {
  json told{{"id", write.id},
            {"begun", utc_text_with_milliseconds(write.begun)},
            {"state", state_of(write)},
            {"method", write.method},
            {"host", write.host},
            {"path", write.path},
            {"resource", write.resource},
            {"api_version", write.api_version},
            {"client", write.client_label},
            {"result", arm::to_text(write.result.how)}};
  const auto add = [&told](const char* name, const std::string& text) {
    if (!text.empty()) told[name] = text;
  };
  add("tool", write.tool);
  add("error_code", write.result.error.code);
  add("message_code", write.result.error.message);
  if (write.touched) told["changed"] = members_of(*write.touched);
  if (write.ended) {
    told["ended"] = utc_text_with_milliseconds(*write.ended);
    told["took_ms"] = std::max<int64_t>((*write.ended - write.begun).count(), 0);  // clocks are set back
  }
  if (write.replays > 0) told["replays"] = write.replays;
  if (!write.outcome) return told;
  if (write.outcome->kind == OutcomeKind::Answered) told["status"] = write.outcome->status;
  if (write.outcome->merged > 0) told["merged"] = write.outcome->merged;
  told["known"] = utc_text_with_milliseconds(write.outcome->known);
  add("operation", url_for_people(write.outcome->tracking));
  add("operation_id", arm::operation_id(write.outcome->tracking));
  return told;
}

json to_json(const std::vector<JournaledWrite>& newest_first, const std::optional<ResourceState>& state) {
  json told{{"writes", json::array()}};
  for (auto write = newest_first.rbegin(); write != newest_first.rend(); ++write) told["writes"].push_back(to_json(*write));
  if (state) told["state"] = {{"provisioning_state", state->state}, {"since", utc_text_with_milliseconds(state->since)}};
  return told;
}

}  // namespace armgate
