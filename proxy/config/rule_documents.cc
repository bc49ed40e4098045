#include "proxy/config/rule_documents.h"

#include <fmt/format.h>

#include <utility>

#include "json/tree.h"
#include "rules/file/rule_file.h"

namespace armgate {
namespace {

constexpr const char* kUnruled = "unruled";
constexpr const char* kFiles = "files";

Error unreadable_document(std::string_view why) {
  return gateway_error(ErrorKind::BadInput, fmt::format("the rules of another replica cannot be read here: {}", why));
}

std::shared_ptr<const rules::RuleSource> source_of(std::string document) {
  const Hash128 hash = Hasher(HashKey{}).hash(document);
  return std::make_shared<const rules::RuleSource>(rules::RuleSource{hash, std::move(document)});
}

}  // namespace

std::shared_ptr<const rules::RuleSource> rule_source(const std::vector<std::string>& files, rules::Mode unruled) {
  nlohmann::json document;
  document[kUnruled] = rules::to_text(unruled);
  document[kFiles] = files;
  return source_of(dump_json(document));
}

Result<std::shared_ptr<const rules::Ruleset>> rules_of(const std::string& document) {
  const auto read = nlohmann::json::parse(document, nullptr, false);
  if (!read.is_object() || !read.contains(kFiles) || !read[kFiles].is_array()) return unreadable_document("there are none");
  rules::RuleBook book;
  rules::FaultList faults;
  for (const auto& file : read[kFiles]) {
    if (file.is_string())
      book.add(rules::read_rule_book("a rule file", file.get_ref<const std::string&>(), faults, rules::Cases::AreTried));
  }
  if (!faults.empty()) return unreadable_document(rules::to_text(faults.front()));
  const std::string unruled = read.value(kUnruled, "");
  for (const rules::Mode mode : {rules::Mode::Observe, rules::Mode::Off}) {
    if (unruled == rules::to_text(mode)) limit_unruled(mode, book.rules);
  }
  return std::make_shared<const rules::Ruleset>(std::move(book.rules), std::move(book.errors), std::move(book.queue_timeouts),
                                                rules::share(std::move(book.facts)), source_of(document));
}

void limit_unruled(rules::Mode most, std::vector<rules::Rule>& all) {
  for (rules::Rule& rule : all) {
    if (!rules::is_for_any_type(rule.match) || rule.mode.value_or(rules::Mode::Protect) >= most) continue;
    rule.mode = most;
    rule.mode_by_option = true;
  }
}

}  // namespace armgate
