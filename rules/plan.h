// plan.h – what is to be done with one request, decided from its head and the rules before anything suspends.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arm/http.h"
#include "arm/operation.h"
#include "arm/resource_id.h"
#include "base/hash.h"
#include "base/result.h"
#include "rules/facts/fact_table.h"
#include "rules/file/error_table.h"
#include "rules/file/queue_timeouts.h"
#include "rules/rule.h"

namespace armgate::rules {

enum class PlanKind {
  Pass,   // no rule touches it: relayed unchanged
  Read,   // relayed unchanged; what it delivers is remembered in the resource's history
  Write,  // locked, guarded, held
};

struct LockKey {
  std::string id;  // a canonical resource id
  LockMode mode = LockMode::Exclusive;
  friend bool operator==(const LockKey&, const LockKey&) = default;
};

class Ruleset;

// What rules were made of, for other processes.
struct RuleSource {
  Hash128 hash;
  std::string document;
};

struct Plan {
  PlanKind kind = PlanKind::Pass;
  Mode mode = Mode::Protect;  // of the service and the rule together; Off is always Pass
  arm::OperationKind operation = arm::OperationKind::Other;
  arm::Target target;
  std::shared_ptr<const Rule> rule;                      // null for Pass
  std::shared_ptr<const TypeFacts> type_facts;           // of its type at its api-version; null for Pass: none are needed
  bool guarded = false;                                  // rule->guard applies to this method
  std::vector<LockKey> keys;                             // sorted by id, no duplicates; empty for reads
  std::vector<std::shared_ptr<const Rule>> referring{};  // rules whose lock.references count; empty: the body need not be read

  // What is known about the bodies of its type, and how sure that is.
  const TypeFacts& facts() const { return type_facts ? *type_facts : generic_type_facts(); }
};

// An immutable set of rules, facts, meanings of errors and queue timeouts of clients; the first that matches decides, those for
// any type ("*") after all others. Cheap to share between threads.
// Finding a rule costs the depth of the type, however many rules there are for other types.
class Ruleset {
 public:
  explicit Ruleset(std::vector<Rule> rules, std::vector<ErrorRule> errors = {}, std::vector<QueueTimeout> queue_timeouts = {},
                   FactEntries facts = nullptr, std::shared_ptr<const RuleSource> source = nullptr);

  // The same rules, with reference counts of their own: for one thread of many, which would all change those of one set with
  // each plan. The rules themselves are shared.
  std::shared_ptr<const Ruleset> for_one_thread() const;

  // The first rule for the type and api-version; null if none. A rule for any type is for resources only
  // (arm::is_type_of_resources).
  std::shared_ptr<const Rule> find(std::string_view type, std::string_view api_version) const;
  const std::vector<std::shared_ptr<const Rule>>& rules() const { return rules_; }
  // What is known about the bodies of the type, which is never nothing; the rule, which may be null, is one of these.
  std::shared_ptr<const TypeFacts> facts_of(std::string_view type, std::string_view api_version,
                                            const std::shared_ptr<const Rule>& rule) const;
  const FactTable& facts() const { return *facts_; }
  // What ARM's error answers mean.
  const ErrorTable& errors() const { return errors_; }
  // How long clients can be kept waiting.
  const QueueTimeouts& queue_timeouts() const { return queue_timeouts_; }
  const std::shared_ptr<const RuleSource>& source() const { return source_; }  // null: nobody asks

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  // Places in rules_, ascending, by what the type must be or begin with.
  using Index = std::unordered_map<std::string, std::vector<size_t>, TextHash, std::equal_to<>>;

  std::vector<std::shared_ptr<const Rule>> rules_;
  std::shared_ptr<const FactTable> facts_;
  ErrorTable errors_;
  QueueTimeouts queue_timeouts_;
  std::shared_ptr<const RuleSource> source_;
  Index by_type_;                // "microsoft.network/virtualnetworks"
  Index by_prefix_;              // "microsoft.network/" from the pattern "microsoft.network/*"
  std::vector<size_t> for_any_;  // those with "*"
};

// The plan of a request.
//   - mode observe (globally or by the rule): the plan that mode protect would make, marked so.
//   - mode off (globally or by the rule), OPTIONS, HEAD, ReadAction, a target no rule matches, an action its rule does not
//     name as a write: Pass. (HEAD delivers no state, RFC 9110 §9.3.2.)
//   - GET of a resource, GET of a collection of a matching type: Read. So is POST .../list, which may show the resource itself.
//   - PUT, PATCH, DELETE, and a POST action that the rule names: Write, locking the resource and the rule's parents. For a
//     type below a subscription that is not in a group the same holds.
// BadInput: the target of something that may write can be read in two ways; in mode protect it must be refused (see
// arm::parse_target).
Result<Plan> make_plan(const Ruleset& rules, Mode mode, arm::Method method, std::string_view target);

}  // namespace armgate::rules
