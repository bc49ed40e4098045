#include "proxy/gateway/cluster/rules_of_others.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "proxy/config/rule_documents.h"

namespace armgate {

RulesOfOthers::RulesOfOthers(RulesInForce& rules, Alert alert) : rules_(rules), alert_(std::move(alert)) { rules_.be_shared(); }

std::vector<cluster::RulesToShare::Own> RulesOfOthers::own() {
  std::vector<Own> all;
  for (const auto& source : rules_.in_use()) all.push_back({source->hash, source->document});
  return all;
}

void RulesOfOthers::learn(const Hash128& hash, std::optional<std::string> document) {
  auto read = document ? rules_of(*document)
                       : Result<std::shared_ptr<const rules::Ruleset>>(gateway_error(
                             ErrorKind::Internal, "the rules of another replica are not to be had in the engine"));
  if (!read) {
    alert_(
        fmt::format("{}. Until all replicas have the same rules, this one and that one may lock and protect different things",
                    read.error().context));
  }
  known_.emplace(hash, read ? *std::move(read) : nullptr);
}

void RulesOfOthers::use(const Hash128& told, const std::vector<Hash128>& others) {
  std::erase_if(known_,
                [&](const auto& one) { return one.first == told || std::ranges::find(others, one.first) == others.end(); });
  RulesInForce::Others differing;
  for (const auto& [hash, ruleset] : known_) {
    if (ruleset) differing.push_back(ruleset);
  }
  rules_.use_others(told, std::move(differing));
}

}  // namespace armgate
