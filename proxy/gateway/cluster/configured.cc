#include "proxy/gateway/cluster/configured.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "certs/authority_facts.h"
#include "certs/secret_file.h"
#include "proxy/cluster/engine/configured.h"
#include "proxy/config/option_table.h"
#include "rules/file/setting_text.h"
#include "rules/plan.h"

namespace armgate {
namespace {

cluster::Configured options_to_share(Config config) {
  // What a machine has of its own, and what says how much it takes.
  constexpr std::string_view kOwn[] = {"/threads",
                                       "/drain",
                                       "/core_dumps",
                                       "/listen/",
                                       "/hosts",
                                       "/allow_connect_to",
                                       "/ca/",
                                       "/rules",
                                       "/upstream/",
                                       "/limits/",
                                       "/journal/",
                                       "/log/",
                                       "/clients",
                                       "/cluster/engine",
                                       "/cluster/key_file",
                                       "/cluster/experimental",
                                       "/cluster/replica"};
  cluster::Configured shared;
  for (const rules::Setting& setting : options_of(config)) {
    const bool is_own = std::ranges::any_of(kOwn, [&](std::string_view own) { return setting.pointer.starts_with(own); });
    if (!is_own && !rules::is_gone(setting.value))
      shared.emplace_back(setting.pointer.substr(1), rules::value_to_json(setting.value));
  }
  const Hasher hasher(HashKey{});
  Hash128 clients{};
  for (const auto& [name, client] : config.clients)
    clients =
        hasher.chain(clients, fmt::format("{} {} {}", name, policy::to_text(client.actor), static_cast<int>(client.merge)));
  shared.emplace_back("clients", "#" + clients.hex());
  if (config.rule_source) shared.emplace_back("rules", "#" + config.rule_source->hash.hex());
  return shared;
}

}  // namespace

// A client that trusts one replica's authority trusts another's only if it is the same.
std::string root_of(const Config& config) {
  const auto pem = certs::read_file(certs::files_in(config.ca.directory).root);
  const auto found = pem ? certs::facts_in(*pem) : std::vector<certs::CertificateFacts>();
  return found.empty() ? std::string() : found.front().fingerprint;
}

std::string configured_text(const Config& config, const std::string& root) {
  cluster::Configured all = options_to_share(config);
  all.emplace_back("authority", "#" + root);
  return cluster::to_text(all);
}

}  // namespace armgate
