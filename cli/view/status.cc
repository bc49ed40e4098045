#include "cli/view/status.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "json/tree.h"

namespace armgate {
namespace {

using nlohmann::json;

// Those in which somebody waits, for another or for ARM.
std::vector<ShownQueue> waiting_queues(const ShownStatus& status, std::string_view resource) {
  auto queues = queues_of(status);
  std::erase_if(queues, [&](const ShownQueue& queue) {
    const auto is_meant = [&](const ShownWrite& write) { return resource.empty() || write.is_below(resource); };
    const bool meant = is_meant(queue.first) || std::any_of(queue.waiting.begin(), queue.waiting.end(), is_meant);
    const bool waits_for_arm = queue.first.phase == "again";
    return (queue.waiting.empty() && !waits_for_arm) || !meant;
  });
  return queues;
}

std::string_view sentence_of(const std::string& word) {
  if (word == "sent") return "is being sent";
  if (word == "again") return "waits for ARM";
  if (word == "kept") return "is kept";
  return word == "doubt" ? "is in doubt" : std::string_view(word);
}

json json_of(const ShownWrite& write) {
  json one{{"id", write.id},       {"what", write.what},         {"client", write.client}, {"state", write.state},
           {"phase", write.phase}, {"since_ms", write.since_ms}, {"ahead", write.ahead}};
  if (write.seen_ms) one["seen_ms"] = *write.seen_ms;
  if (write.unseen) one["unseen"] = true;
  return one;
}

// Scarce is what armgate leaves to clients (docs/monitoring.md, "ARM's budgets").
std::string line_of(const ShownBudgets& budgets) {
  std::string text = fmt::format("ARM lets {} in {}:", budgets.principal,
                                 budgets.subscription.empty() ? "the tenant" : std::string_view(budgets.subscription));
  for (const auto& told : budgets.told) text += fmt::format(" {} {} of {},", told.budget, told.left, told.most);
  if (budgets.come_again_ms > 0) text += fmt::format(" come again in {} (429),", age_text(budgets.come_again_ms));
  text.back() = '\n';
  for (const auto& waiting : budgets.waiting) {
    text += fmt::format("       {:>12}  {}  {}  waits for its share\n", age_text(waiting.waited_ms),
                        printable_cell(waiting.client), waiting.what);
  }
  return text;
}

std::string text_of(const ShownStatus::Cluster& cluster) {
  std::string text =
      fmt::format("one of {} replicas that live, lease good for {}\n", cluster.alive, age_text(cluster.lease_ms));
  if (!cluster.engine_up) text += "the cluster's engine does not answer, so nothing can be recorded\n";
  if (!cluster.ready) text += "it is not ready: what is protected is answered 503 (cluster-unavailable)\n";
  for (const std::string& warning : cluster.warnings) text += "warning: " + warning + "\n";
  return text;
}

}  // namespace

std::string status_text(const ShownStatus& status) {
  std::string text = fmt::format("armgate {}, mode {}, {} rules, configuration from {}\n", status.version, status.mode,
                                 status.rules, status.config.empty() ? "the built-in defaults" : status.config);
  text += fmt::format("up {}, {} connection{}{}\n", age_text(status.up_ms), status.connections,
                      status.connections == 1 ? "" : "s", status.draining ? "; it ends and takes no new ones" : "");
  if (status.rules == 0 && status.mode != "off") text += "there is no rule, so nothing is protected\n";
  if (status.cluster) text += text_of(*status.cluster);
  if (!status.reload_good)
    text += "the last reload (SIGHUP) was refused, so rules and mode are those of before; the log has the faults\n";
  if (!status.journal_writable) text += "the journal cannot be written, so no write is sent (503 journal-unavailable)\n";
  text += status.summary.empty() ? fmt::format("{} requests to ARM, all passed on as they were\n", status.requests)
                                 : status.summary + "\n";
  for (const ShownBudgets& budgets : status.budgets) text += line_of(budgets);
  if (const auto& results = status.results; results.failed + results.canceled > 0) {
    text += fmt::format("of the writes that ARM took {} ended well, {} failed, {} were canceled\n", results.succeeded,
                        results.failed, results.canceled);
  }
  for (const ShownFailure& failure : status.failures) {
    text += fmt::format("{}  {}{}  {}  {}\n", failure.when, failure.result, failure.error.empty() ? "" : " " + failure.error,
                        printable_cell(failure.client), failure.what);
  }
  if (!status.sick.empty()) text += sick_text(status);
  if (status.writes.empty()) text += "no write runs or waits\n";
  for (const ShownWrite& write : status.writes)
    text +=
        fmt::format("{:5}  {:>12}  {}  {}{}\n", write.word(), age_text(write.since_ms), write.who(), write.what, write.as_of());
  if (status.left_out > 0) text += fmt::format("and {} more\n", status.left_out);
  return text;
}

std::string sick_text(const ShownStatus& status) {
  std::string text;
  for (const ShownSick& sick : status.sick) {
    text += fmt::format("sick since {}: {}: {}{}\n", sick.since, sick.resource, sick.why,
                        sick.state.empty() ? "" : fmt::format("; provisioningState {}", sick.state));
  }
  return text.empty() ? "no resource is sick, as far as armgate sees\n" : text;
}

std::string sick_json(const ShownStatus& status) {
  json all = json::array();
  for (const ShownSick& sick : status.sick)
    all.push_back({{"resource", sick.resource}, {"why", sick.why}, {"since", sick.since}, {"state", sick.state}});
  return dump_json(all, 2) + "\n";
}

std::string queue_text(const ShownStatus& status, std::string_view resource) {
  std::string text;
  for (const auto& [first, waiting] : waiting_queues(status, resource)) {
    text += fmt::format("{} of {}, {} since {}{}\n", first.what, first.who(), sentence_of(first.word()),
                        age_text(first.since_ms), first.as_of());
    for (size_t i = 0; i < waiting.size(); ++i) {
      const ShownWrite& write = waiting[i];
      text +=
          fmt::format("{:4}  {:5}  {:>12}  {}  {}\n", i + 1, write.word(), age_text(write.since_ms), write.who(), write.what);
    }
  }
  const std::string where = resource.empty() ? "" : fmt::format(" at {}", printable(resource));
  if (text.empty() && status.left_out == 0) text = fmt::format("nobody waits{}\n", where);
  if (text.empty()) text = fmt::format("whether anybody waits{} is not known\n", where);
  if (status.left_out > 0) {
    text += fmt::format("not looked at: {} newer writes; in all {} run, {} wait, {} are reserved\n", status.left_out,
                        status.totals.runs, status.totals.waits, status.totals.kept);
  }
  return text;
}

std::string queue_json(const ShownStatus& status, std::string_view resource) {
  json queues = json::array();
  for (const auto& [first, waiting] : waiting_queues(status, resource)) {
    json behind = json::array();
    for (const ShownWrite& write : waiting) behind.push_back(json_of(write));
    queues.push_back({{"first", json_of(first)}, {"waiting", std::move(behind)}});
  }
  const json all{{"queues", std::move(queues)}, {"writes_left_out", status.left_out}};
  return dump_json(all, 2) + "\n";
}

std::string unlocked_text(const ShownUnlock& unlock) {
  std::string text;
  for (const ShownRelease& write : unlock.released)
    text += fmt::format("released after {}: {}, of {}\n", age_text(write.held_ms), write.what, printable_cell(write.client));
  if (unlock.on_its_way) {
    text += "another write is on its way to ARM and still has it: it ends with ARM's answer, or when that does not come\n";
  }
  if (!unlock.lease_of.empty()) {
    text += fmt::format("the lease of {} was given by another replica, which was told to end it (armgate status)\n",
                        unlock.lease_of);
  } else if (unlock.others_told) {
    text +=
        "another replica has it, and was told (by the log: at once, or when the engine is back): it lets go of what ARM has "
        "answered (armgate status)\n";
  }
  return text;
}

}  // namespace armgate
