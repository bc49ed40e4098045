#include "cli/view/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "json/tree.h"

namespace armgate {
namespace {

using nlohmann::json;

template <class Number>
Number number_in(const json& object, const char* name) {
  return object.at(name).get<Number>();
}

std::string text_in(const json& object, const char* name) { return printable(object.at(name).get<std::string>()); }

constexpr std::string_view kBeforeRestart = " (before the restart)";

std::string client_of(const json& write) {
  return text_in(write, "client") + std::string(write.value("inherited", false) ? kBeforeRestart : "");
}

ShownWrite write_in(const json& write) {
  return {.id = number_in<uint64_t>(write, "id"),
          .what = text_in(write, "what"),
          .client = client_of(write),
          .state = text_in(write, "state"),
          .phase = printable(write.value("phase", "")),
          .since_ms = number_in<int64_t>(write, "since_ms"),
          .ahead = write.value("ahead", size_t{0}),
          .behind = write.value("behind", uint64_t{0}),
          .seen_ms = write.contains("seen_ms") ? std::optional(number_in<int64_t>(write, "seen_ms")) : std::nullopt,
          .unseen = write.value("unseen", false)};
}

ShownBudgets budgets_in(const json& row) {
  ShownBudgets budgets{.subscription = text_in(row, "subscription"),
                       .principal = text_in(row, "principal"),
                       .told = {},
                       .come_again_ms = number_in<int64_t>(row, "come_again_ms")};
  for (const json& told : row.at("told"))
    budgets.told.push_back({text_in(told, "budget"), number_in<uint64_t>(told, "left"), number_in<uint64_t>(told, "most")});
  for (const json& waiting : row.value("waiting", json::array()))
    budgets.waiting.push_back({text_in(waiting, "client"), text_in(waiting, "what"), number_in<int64_t>(waiting, "waited_ms")});
  return budgets;
}

std::string error_in(const json& object) {
  const std::string code = printable(object.value("error_code", ""));
  const std::string cause = printable(object.value("message_code", ""));
  return cause.empty() ? code : fmt::format("{} ({})", code, cause);
}

ShownSick sick_in(const json& sick) {
  const bool is_stuck = sick.at("why") == "stuck";
  const std::string error = error_in(sick);
  const std::string why = is_stuck ? "at work, and no operation is known to run"
                                   : fmt::format("{} operations have failed with {}", number_in<size_t>(sick, "failures"),
                                                 error.empty() ? "no error code" : error);
  return {text_in(sick, "resource"), why, text_in(sick, "since"), printable(sick.value("state", ""))};
}

ShownStatus status_in(const json& page) {
  const json& counts = page.at("counts");
  ShownStatus status{.version = text_in(page, "version"),
                     .mode = text_in(page, "mode"),
                     .started = text_in(page, "started"),
                     .config = text_in(page, "config"),
                     .up_ms = number_in<int64_t>(page, "up_ms"),
                     .draining = page.at("draining").get<bool>(),
                     .journal_writable = page.value("journal_writable", true),
                     .reload_good = page.value("reload_good", true),
                     .rules = number_in<size_t>(page, "rules"),
                     .connections = number_in<size_t>(page, "connections"),
                     .requests = number_in<int64_t>(page, "requests"),
                     .summary = text_in(page, "summary"),
                     .counts = {.guarded = number_in<uint64_t>(counts, "guarded"),
                                .stale = number_in<uint64_t>(counts, "stale"),
                                .refused = number_in<uint64_t>(counts, "refused"),
                                .repeated = number_in<uint64_t>(counts, "repeated"),
                                .recovered = number_in<uint64_t>(counts, "recovered"),
                                .unanswered = number_in<uint64_t>(counts, "unanswered")},
                     .budgets = {},
                     .results = {},
                     .failures = {},
                     .sick = {},
                     .writes = {},
                     .left_out = number_in<size_t>(page, "writes_left_out")};
  for (const json& row : page.value("budgets", json::array())) status.budgets.push_back(budgets_in(row));
  const json results = page.value("results", json::object());
  status.results = {results.value("succeeded", uint64_t{0}), results.value("failed", uint64_t{0}),
                    results.value("canceled", uint64_t{0}), results.value("unknown", uint64_t{0})};
  for (const json& failure : page.value("failures", json::array())) {
    status.failures.push_back({text_in(failure, "when"), text_in(failure, "what"), text_in(failure, "client"),
                               text_in(failure, "result"), error_in(failure)});
  }
  for (const json& sick : page.value("sick", json::array())) status.sick.push_back(sick_in(sick));
  if (const json cluster = page.value("cluster", json()); cluster.is_object()) {
    status.cluster = {cluster.value("ready", true), cluster.value("engine_up", true), cluster.value("lease_ms", int64_t{0}),
                      cluster.value("replicas_alive", size_t{0})};
    for (const json& warning : cluster.value("warnings", json::array()))
      status.cluster->warnings.push_back(printable(warning.get<std::string>()));
  }
  for (const json& write : page.at("writes")) status.writes.push_back(write_in(write));
  const auto how_many = [&](const char* state) {  // a service of before does not tell
    const auto is_in = [&](const ShownWrite& write) { return write.state == state; };
    return static_cast<size_t>(std::count_if(status.writes.begin(), status.writes.end(), is_in));
  };
  const json totals = page.value("totals", json::object());
  status.totals = {totals.value("runs", how_many("runs")), totals.value("waits", how_many("waits")),
                   totals.value("kept", how_many("kept"))};
  return status;
}

ShownUnlock unlock_in(const json& answer) {
  ShownUnlock unlock{.released = {},
                     .on_its_way = answer.at("on_its_way").get<bool>(),
                     .others_told = answer.value("others_told", false),
                     .lease_of = printable(answer.value("lease_of", ""))};
  for (const json& write : answer.at("released"))
    unlock.released.push_back({text_in(write, "what"), client_of(write), number_in<int64_t>(write, "held_ms")});
  return unlock;
}

template <class Shown>
Result<Shown> read(std::string_view text, Shown (*shown_in)(const json&)) {
  try {
    return shown_in(json::parse(text));
  } catch (const json::exception& wrong) {
    return gateway_error(ErrorKind::Unreachable,
                         fmt::format("what answers at listen.admin gives no status that can be read: {}", wrong.what()));
  }
}

using ById = std::map<uint64_t, const ShownWrite*>;

// The write that it waits for in the end, itself if that is not shown. Two looks at different keys may contradict each other,
// so that a way leads back: then the oldest on it.
uint64_t root_of(const ShownWrite& write, const ById& by_id) {
  uint64_t oldest = write.id;
  const ShownWrite* at = &write;
  for (size_t steps = 0; steps < by_id.size(); ++steps) {
    const auto before = by_id.find(at->behind);
    if (before == by_id.end()) return at->id;
    at = before->second;
    oldest = std::min(oldest, at->id);
  }
  return oldest;
}

}  // namespace

bool ShownWrite::is_below(std::string_view resource) const {
  const std::string_view own = std::string_view(what).substr(what.find(' ') + 1);
  return own.starts_with(resource) && (own.size() == resource.size() || own[resource.size()] == '/');
}

std::string ShownWrite::who() const {
  const std::string_view name = client;
  if (!name.ends_with(kBeforeRestart)) return printable_cell(name);
  return printable_cell(name.substr(0, name.size() - kBeforeRestart.size())).append(kBeforeRestart);
}

std::string ShownWrite::as_of() const {
  if (unseen) return ", no answer about it since the restart";
  return seen_ms ? fmt::format(", as of {} ago", age_text(*seen_ms)) : "";
}

Result<ShownStatus> read_status(std::string_view json) { return read(json, status_in); }
Result<ShownUnlock> read_unlock(std::string_view json) { return read(json, unlock_in); }

Result<nlohmann::json> read_history(std::string_view text) {
  auto told = json::parse(text, nullptr, false);
  if (told.is_object() && told.contains("writes") && told["writes"].is_array()) return told;
  return gateway_error(ErrorKind::Unreachable, "what answers at listen.admin tells no writes that can be read");
}

std::vector<ShownQueue> queues_of(const ShownStatus& status) {
  ById by_id;
  for (const ShownWrite& write : status.writes) by_id.emplace(write.id, &write);
  std::vector<ShownQueue> queues;
  std::map<uint64_t, size_t> queue_of;  // by its first
  for (const ShownWrite& write : status.writes) {
    const uint64_t root = root_of(write, by_id);
    const auto [at, is_new] = queue_of.try_emplace(root, queues.size());
    if (is_new) queues.push_back({*by_id.at(root), {}});
    if (write.id != root) queues[at->second].waiting.push_back(write);
  }
  const auto comes_before = [](const ShownWrite& a, const ShownWrite& b) {
    return a.ahead != b.ahead ? a.ahead < b.ahead : a.id < b.id;
  };
  for (auto& queue : queues) std::stable_sort(queue.waiting.begin(), queue.waiting.end(), comes_before);
  std::stable_sort(queues.begin(), queues.end(),
                   [](const ShownQueue& a, const ShownQueue& b) { return a.waiting.size() > b.waiting.size(); });
  return queues;
}

std::string age_text(int64_t milliseconds) {
  const int64_t seconds = milliseconds / 1000;
  if (seconds < 60) return fmt::format("{}.{} s", seconds, milliseconds % 1000 / 100);
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
}

}  // namespace armgate
