#include "proxy/gateway/cluster/rules_of_others.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "proxy/config/rule_documents.h"

namespace armgate {

RulesOfOthers::RulesOfOthers(RulesInForce& rules, Alert alert) : rules_(rules), alert_(std::move(alert)) { rules_.be_shared(); }

cluster::RulesToShare::Own RulesOfOthers::own() {
  Own own;
  const auto sources = rules_.in_use();
  for (const auto& source : sources) own.hashes.push_back(source->hash);
  own.document = sources.front()->document;
  return own;
}

void RulesOfOthers::learn(const Hash128& hash, const std::string& document) {
  auto read = rules_of(document);
  if (!read) {
    alert_(
        fmt::format("{}. Until all replicas have the same rules, this one and that one may lock and protect different things",
                    read.error().context));
  }
  known_.emplace(hash, read ? *std::move(read) : nullptr);
}

void RulesOfOthers::use(const Hash128& told, const std::vector<Hash128>& others) {
  std::erase_if(known_, [&](const auto& one) { return std::ranges::find(others, one.first) == others.end(); });
  RulesInForce::Others differing;
  for (const auto& [hash, ruleset] : known_) {
    if (ruleset && hash != told) differing.push_back(ruleset);
  }
  rules_.use_others(told, std::move(differing));
}

}  // namespace armgate
