// fact_table.h – what all facts together, and a rule's own body, say about a type at an api-version.
//
// Facts add up. Where two say different things about one array or text, the stronger decides; from weak to strong: what was
// imported, a pattern, a longer pattern, the type itself, and among equals the later and then the earlier one; above all the
// rule's own "body".
//
// Threads: any. What comes of a type is worked out when it is first asked for and then kept; to find it again takes no lock.
// Limits   kept is one result for each span of api-versions within which the facts of a type are the same, and each rule with a
//          body.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/facts/fact_entry.h"
#include "rules/facts/type_facts.h"
#include "rules/rule.h"

namespace armgate::rules {

class FactTable {
 public:
  explicit FactTable(FactEntries entries);
  ~FactTable();
  FactTable(const FactTable&) = delete;
  FactTable& operator=(const FactTable&) = delete;

  // Lives as long as this. The type in lower case; the rule may be null, and must live as long as this.
  const TypeFacts& find(std::string_view type, std::string_view api_version, const Rule* rule) const;

  // Those about the type, whatever the api-version, the weakest first.
  std::vector<const FactEntry*> about(std::string_view type) const;

  const std::vector<FactEntry>& entries() const { return *entries_; }

 private:
  struct Known;
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Index = std::unordered_map<std::string, std::unique_ptr<Known>, TextHash, std::equal_to<>>;

  const Known& known(std::string_view type) const;

  const FactEntries entries_;
  Index by_type_;                         // "microsoft.network/virtualnetworks"
  Index by_prefix_;                       // "microsoft.network/" from the pattern "microsoft.network/*"
  const std::unique_ptr<Known> unnamed_;  // of all other types: nothing
};

}  // namespace armgate::rules
