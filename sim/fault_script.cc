#include "sim/fault_script.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/text.h"
#include "json/tree.h"

namespace armgate::sim {

using Json = nlohmann::json;

namespace {

// The whole text as a number; nothing if it is none.
std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A text goes out as it is; a number is seconds.
Result<std::string> retry_after_of(const Json& item) {
  const auto said = item.find("retry_after");
  if (said == item.end()) return std::string();
  if (said->is_string()) return said->get<std::string>();
  if (said->is_number_unsigned()) return said->dump();
  return client_error(
      ErrorKind::BadInput,
      fmt::format("\"retry_after\" is {}: write the seconds as a number, 7, or what the header says as a text, \"soon\"",
                  said->dump()));
}

bool is_read(const arm::RequestHead& head) { return head.method == arm::Method::Get || head.method == arm::Method::Head; }

}  // namespace

std::optional<Fault> parse_fault(std::string_view kind) {
  constexpr std::string_view kStatus = "status-";
  constexpr std::string_view kStale = "stale-";
  constexpr std::string_view kError = "error-";
  if (kind == "drop-before") return Fault{Fault::Kind::DropBefore};
  if (kind == "drop-after") return Fault{Fault::Kind::DropAfter};
  if (kind.starts_with(kError)) {
    const Refusal* refusal = find_refusal(kind.substr(kError.size()));
    return refusal == nullptr ? std::nullopt : std::optional(Fault{Fault::Kind::Refusal, refusal->status, refusal});
  }
  if (kind.starts_with(kStale)) {
    const auto milliseconds = number_in(kind.substr(kStale.size()));
    if (!milliseconds || *milliseconds <= 0) return std::nullopt;
    Fault fault{Fault::Kind::Stale};
    fault.behind = std::chrono::milliseconds(*milliseconds);
    return fault;
  }
  for (const auto& [word, partly] : {std::pair<std::string_view, bool>{"fail-later-", false}, {"fail-partly-", true}}) {
    if (!kind.starts_with(word) || kind.size() == word.size()) continue;
    Fault fault{Fault::Kind::FailsLater};
    fault.code = kind.substr(word.size());
    fault.partly = partly;
    return fault;
  }
  const auto status = kind.starts_with(kStatus) ? number_in(kind.substr(kStatus.size())) : std::nullopt;
  if (!status || *status < 400 || *status > 599) return std::nullopt;
  return Fault{Fault::Kind::Status, *status};
}

Result<FaultScript::Entry> FaultScript::parse_entry(std::string_view json) {
  const Json item = Json::parse(json);
  Entry entry;
  try {
    entry.method = item.value("method", "");
    entry.path = item.value("path", "");
    entry.chance = item.value("chance", 1.0);
    entry.times = item.value("times", entry.chance < 1 ? UINT64_MAX : uint64_t{1});
    const std::string kind = item.value("kind", "");
    const auto fault = parse_fault(kind);
    if (!fault) {
      return client_error(
          ErrorKind::BadInput,
          fmt::format(
              "unknown fault kind '{}': use drop-before, drop-after, status-NNN, error-NAME, fail-later-CODE, fail-partly-CODE or stale-MS",
              kind));
    }
    entry.fault = *fault;
    auto retry_after = retry_after_of(item);
    if (!retry_after) return retry_after.error();
    entry.fault.retry_after = *std::move(retry_after);
  } catch (const Json::exception& error) {
    return client_error(ErrorKind::BadInput, fmt::format("fault {}: {}", json, error.what()));
  }
  return entry;
}

Result<void> FaultScript::add(std::string_view json) {
  const Json script = Json::parse(json, nullptr, false);
  if (!script.is_object() || !script.contains("faults") || !script["faults"].is_array()) {
    return client_error(ErrorKind::BadInput, "the body must be {\"faults\":[...]}");
  }
  std::vector<Entry> added;
  for (const Json& item : script["faults"]) {
    Result<Entry> entry = parse_entry(item.dump());
    if (!entry) return entry.error();
    added.push_back(std::move(*entry));
  }
  entries_.insert(entries_.end(), added.begin(), added.end());
  return {};
}

Fault FaultScript::next(const arm::RequestHead& head, const SimOptions& options, Rng& rng) {
  if (const auto fault = parse_fault(head.fields.get("x-sim-fault"))) return *fault;
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    const bool fits = (it->method.empty() || it->method == head.method_token) &&
                      contains_ignoring_case(head.target, it->path) &&
                      (it->fault.kind != Fault::Kind::Stale || is_read(head)) &&
                      (it->fault.kind != Fault::Kind::FailsLater || !is_read(head));
    if (!fits || it->times == 0) continue;
    if (it->chance < 1 && !rng.chance(it->chance)) continue;
    Fault fault = it->fault;
    if (--it->times == 0) entries_.erase(it);
    return fault;
  }
  if (is_read(head)) return {};
  if (options.drop_before_chance > 0 && rng.chance(options.drop_before_chance)) return {Fault::Kind::DropBefore};
  if (options.drop_after_chance > 0 && rng.chance(options.drop_after_chance)) return {Fault::Kind::DropAfter};
  return {};
}

}  // namespace armgate::sim
