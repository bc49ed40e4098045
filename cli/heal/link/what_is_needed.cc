#include "cli/heal/link/what_is_needed.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/text.h"
#include "cli/heal/cluster_lock.h"
#include "cli/heal/link/kubectl.h"
#include "cli/view/ask_service.h"
#include "json/tree.h"

namespace armgate::heal {
namespace {

using Says = Guard::Says;

Guard service(const Config& config, const Target& target) {
  const auto refuse = [](std::string why) { return Guard{"service", Says::Refuse, std::move(why)}; };
  const auto page = fetch_status(config);
  if (!page) return refuse(page.error().context);
  const auto status = nlohmann::json::parse(*page, nullptr, false);
  if (!status.is_object() || !status.contains("mode") || !status["mode"].is_string())
    return refuse(fmt::format("what answers at {} (listen.admin) is no armgate", config.listen.admin));
  const std::string mode = status["mode"];
  if (mode != "protect")
    return refuse(fmt::format("armgate runs in the mode {}, in which nobody waits: a lease would keep nobody out", mode));
  const std::string keeper = keeper_of(*page, target);
  if (!keeper.empty()) return refuse(fmt::format("{} is in a lease of {}", target.cluster, keeper));
  return {"service", Says::Pass, fmt::format("armgate answers at {} and can keep others away meanwhile", config.listen.admin)};
}

}  // namespace

std::string keeper_of(std::string_view status, const Target& target) {
  const auto json = nlohmann::json::parse(status, nullptr, false);
  if (!json.is_object()) return {};
  const std::string lease = "LEASE " + lower_text(target.cluster);
  for (const auto& write : json.value("writes", nlohmann::json::array())) {
    const std::string what = write.is_object() ? write.value("what", "") : std::string();
    const bool is_of_cluster = what.starts_with(lease) && (what.size() == lease.size() || what[lease.size()] == '/');
    if (is_of_cluster) return write.value("client", "somebody");
  }
  return {};
}

std::vector<Guard> what_is_needed(const Config& config, const HealRequest& request) {
  std::vector<Guard> guards{service(config, request.target)};
  if (const auto holder = ClusterLock::holder(request.runs, request.target)) {
    guards.push_back(
        {"this machine", Says::Refuse,
         fmt::format("another process of this machine is at it now{}", holder->empty() ? "" : ", run " + *holder)});
  }
  if (request.options.access.kubeconfig.empty()) return guards;
  const auto usable = check_kubectl(request.options.access, request.environment);
  guards.push_back(
      {"kubectl", usable ? Says::Pass : Says::Refuse,
       usable ? fmt::format("kubectl is there and reads {}", request.options.access.kubeconfig) : usable.error().context});
  return guards;
}

}  // namespace armgate::heal
