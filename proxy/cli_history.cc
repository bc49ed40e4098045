#include "proxy/cli_history.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "arm/resource_id.h"
#include "base/text.h"
#include "proxy/journal/journal_file.h"
#include "proxy/stages/held_write.h"

namespace armgate {
namespace {

std::string time_text(WallTime when) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(when);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", seconds, (when - seconds).count());
}

std::string seconds_text(Duration duration) { return fmt::format("{:.1f} s", std::chrono::duration<double>(duration).count()); }

// How it went, in the words of the manual.
std::string state_of(const JournaledWrite& write) {
  if (write.given_up) return "given-up";
  if (!write.outcome) return write.is_open() ? "no-answer" : "no-answer-settled";
  switch (write.outcome->kind) {
    case OutcomeKind::NotSent: return "not-sent";
    case OutcomeKind::InDoubt: return write.is_open() ? "in-doubt" : "in-doubt-settled";
    case OutcomeKind::Answered: break;
  }
  if (!write.is_open()) return "done";
  return arm::is_success(write.outcome->status) ? "running" : "in-doubt";  // ARM answered 5xx, say, and may have taken it
}

std::string line_of(const JournaledWrite& write) {
  const bool answered = write.outcome && write.outcome->kind == OutcomeKind::Answered;
  const std::string status = answered ? std::to_string(write.outcome->status) : "-";
  const std::string took = write.ended ? seconds_text(*write.ended - write.begun) : "-";
  return fmt::format("{}  {:6}  {:3}  {:17}  {:>9}  {}  {}\n", time_text(write.begun), write.method, status, state_of(write),
                     took, printable(write.client_label), write.path);
}

nlohmann::json json_of(const JournaledWrite& write) {
  nlohmann::json json{{"id", write.id},
                      {"begun", time_text(write.begun)},
                      {"state", state_of(write)},
                      {"method", write.method},
                      {"host", write.host},
                      {"path", write.path},
                      {"resource", write.resource},
                      {"api_version", write.api_version},
                      {"client", write.client_label}};
  if (write.outcome && write.outcome->kind == OutcomeKind::Answered) json["status"] = write.outcome->status;
  if (write.outcome) json["known"] = time_text(write.outcome->known);
  const std::string operation = write.outcome ? url_for_people(write.outcome->tracking) : "";
  if (!operation.empty()) json["operation"] = operation;
  if (write.ended) json["ended"] = time_text(*write.ended);
  return json;
}

}  // namespace

Result<std::string> history_text(const Config& config, size_t most, std::string_view resource, HistoryAs as) {
  if (config.journal.file.empty()) {
    return gateway_error(ErrorKind::BadInput,
                         fmt::format("journal.file is not set in {}, from where the configuration was read, so there are no "
                                     "records to show; name the service's own with --config FILE, or set journal.file in that",
                                     source_text(config)));
  }
  auto file = journal::JournalFile::open_to_read(config.journal.file);
  if (!file) return std::move(file).error();
  while (resource.ends_with('/')) resource.remove_suffix(1);
  const auto named = arm::parse_resource_id(resource);
  const std::string id = named ? named->id : lower_text(resource);
  auto writes = file->newest(most, id);
  if (!writes) return std::move(writes).error();
  std::reverse(writes->begin(), writes->end());
  if (as == HistoryAs::Json) {
    nlohmann::json all = nlohmann::json::array();
    for (const JournaledWrite& write : *writes) all.push_back(json_of(write));
    return all.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
  }
  std::string text;
  for (const JournaledWrite& write : *writes) text += line_of(write);
  return text.empty() ? "no write is recorded\n" : text;
}

}  // namespace armgate
