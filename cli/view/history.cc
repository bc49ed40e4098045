#include "cli/view/history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "arm/resource_id.h"
#include "base/text.h"
#include "cli/view/answer.h"
#include "cli/view/ask_service.h"
#include "json/tree.h"
#include "proxy/gateway/records.h"
#include "proxy/seams/which_writes.h"

namespace armgate {
namespace {

using nlohmann::json;

std::string canonical(std::string_view resource) {
  while (resource.ends_with('/')) resource.remove_suffix(1);
  const auto named = arm::parse_resource_id(resource);
  return named ? named->id : lower_text(resource);
}

Result<std::string> from_service(const Config& config, size_t most, const std::string& id, WhichWrites which) {
  if (config.listen.admin.empty()) {
    return gateway_error(
        ErrorKind::BadInput,
        fmt::format(
            "journal.file is not set in {}, from where the configuration was read, so there are no records to show, nor is "
            "listen.admin, so that the service cannot be asked what it remembers; name the service's own with --config "
            "FILE, or set journal.file in that",
            source_text(config)));
  }
  return fetch_history(config, most, id, which);
}

// {"writes": [...], "state": {...}}, whoever tells.
Result<json> records(const Config& config, size_t most, const std::string& id, WhichWrites which) {
  const bool has_journal = !config.journal.file.empty();
  const auto told = has_journal ? recorded_json(config.journal.file, most, id, which) : from_service(config, most, id, which);
  if (!told) return told.error();
  return read_history(*told);
}

std::string text_member(const json& write, const char* name) { return printable(write.value(name, "")); }

std::string client_text(const json& write) { return printable_cell(write.value("client", "")); }

std::string error_text(const json& write) {
  const std::string code = text_member(write, "error_code");
  const std::string cause = text_member(write, "message_code");
  return cause.empty() ? code : fmt::format("{} ({})", code, cause);
}

std::string took_text(const json& write) {
  return write.contains("took_ms") ? fmt::format("{:.1f} s", static_cast<double>(write["took_ms"].get<int64_t>()) / 1000) : "-";
}

std::string line_of(const json& write) {
  const std::string status = write.contains("status") ? std::to_string(write["status"].get<int>()) : "-";
  std::string beside;
  if (write.contains("error_code")) beside += "  " + error_text(write);
  if (write.contains("merged")) beside += fmt::format("  merged with {} of others' changes", write["merged"].get<size_t>());
  return fmt::format("{}  {:6}  {:3}  {:17}  {:>9}  {}  {}{}\n", text_member(write, "begun"), text_member(write, "method"),
                     status, text_member(write, "state"), took_text(write), client_text(write), text_member(write, "path"),
                     beside);
}

// "/tags/a, /sku/capacity".
std::string changed_text(const json& write) {
  const std::string method = text_member(write, "method");
  const std::string state = text_member(write, "state");
  const bool has_failed = state == "failed" || state == "canceled";
  if (method == "DELETE") return has_failed ? "all of it (was to be deleted)" : "all of it (deleted)";
  if (method == "POST") {
    const std::string path = text_member(write, "path");
    return "action " + path.substr(path.rfind('/') + 1);
  }
  if (!write.contains("changed")) return "members not known";
  std::vector<std::string> names;
  for (const json& member : write["changed"]) names.push_back(printable(member.get<std::string>()));
  if (names.size() == 1 && names.front().empty()) return "all of it (created)";
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string blame_line(const json& write) {
  const std::string tool = printable_cell(write.value("tool", ""));
  const std::string error = error_text(write);
  return fmt::format("{}  {:6}  {}{}  {}{}  {}\n", text_member(write, "begun"), text_member(write, "method"),
                     text_member(write, "state"), error.empty() ? "" : " " + error, client_text(write),
                     tool.empty() ? "" : fmt::format(" ({})", tool), changed_text(write));
}

// A failed operation leaves its resource in a state that only a read tells.
std::string state_line(const json& told) {
  if (const auto state = told.find("state"); state != told.end()) {
    return fmt::format("provisioningState {} since {}\n", text_member(*state, "provisioning_state"),
                       text_member(*state, "since"));
  }
  const json& writes = told["writes"];
  const bool last_failed = !writes.empty() && writes.back().value("state", "") == "failed";
  return last_failed ? "provisioningState not known: not read since the failure\n" : "";
}

std::string as_json(const json& value) { return dump_json(value, 2) + "\n"; }

}  // namespace

Result<std::string> history_text(const Config& config, size_t most, std::string_view resource, HistoryAs as) {
  const auto told = records(config, most, canonical(resource), WhichWrites::All);
  if (!told) return told.error();
  if (as == HistoryAs::Json) return as_json((*told)["writes"]);
  std::string text;
  for (const json& write : (*told)["writes"]) text += line_of(write);
  return text.empty() ? "no write is recorded\n" : text;
}

Result<std::string> blame_text(const Config& config, size_t most, std::string_view resource, HistoryAs as) {
  const auto told = records(config, most, canonical(resource), WhichWrites::MayHaveWritten);
  if (!told) return told.error();
  if (as == HistoryAs::Json) return as_json(*told);
  std::string text = state_line(*told);
  for (const json& write : (*told)["writes"]) text += blame_line(write);
  return (*told)["writes"].empty() ? text + "no write to it is known\n" : text;
}

}  // namespace armgate
