#include "cli/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/text.h"
#include "certs/secret_file.h"
#include "json/tree.h"
#include "rules/explain_type.h"
#include "rules/facts/bicep_types.h"
#include "rules/file/nearest_name.h"
#include "rules/plan.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;
using rules::TypeSummary;

constexpr size_t kTypesFileMax = 64 << 20;
constexpr size_t kNamesMax = 10;
constexpr size_t kMistakesMax = 3;  // in the name of a type that nobody has heard of; types have much in common

rules::Ruleset rules_of(const Config& config) {
  return rules::Ruleset(config.rules, config.errors, config.queue_timeouts, config.facts);
}

std::string list_text(const std::vector<TypeSummary>& all) {
  size_t width = 4;
  for (const TypeSummary& one : all) width = std::max(width, one.type.size());
  std::string text =
      fmt::format("{:<{}}  known     read-only write-only  kept  maps arrays  same  guard   rule\n", "type", width);
  size_t declared = 0, imported = 0, ruled = 0;
  for (const TypeSummary& one : all) {
    text += fmt::format("{:<{}}  {:<9} {:>8} {:>10} {:>5} {:>5} {:>6} {:>5}  {:<6}  {}\n", one.type, width,
                        to_text(one.strength), one.read_only, one.write_only, one.kept, one.maps, one.arrays, one.same,
                        one.guard.empty() ? "-" : one.guard, one.rule.empty() ? "-" : one.rule);
    declared += one.strength == rules::FactStrength::Declared ? 1 : 0;
    imported += one.strength == rules::FactStrength::Imported ? 1 : 0;
    ruled += one.rule.empty() ? 0 : 1;
  }
  return text +
         fmt::format("{} types and patterns: of {} rule files say what is known, of {} public schemas do; a rule is for {}\n",
                     all.size(), declared, imported, ruled);
}

std::string list_json(const std::vector<TypeSummary>& all) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const TypeSummary& one : all) {
    list.push_back({{"type", one.type},
                    {"known", to_text(one.strength)},
                    {"read_only", one.read_only},
                    {"write_only", one.write_only},
                    {"kept", one.kept},
                    {"maps", one.maps},
                    {"arrays", one.arrays},
                    {"same", one.same},
                    {"guard", one.guard},
                    {"rule", one.rule}});
  }
  return dump_json(list, 2) + "\n";
}

// The types at api-versions that the checkout's own index names; nothing if there is none.
std::optional<std::vector<std::string>> read_index(const fs::path& file, rules::FaultList& faults) {
  const auto text = certs::read_stream(file, kTypesFileMax);
  if (!text) {
    faults.push_back({file.string(), 0, "", "cannot be read: name the directory of a checkout of Azure/bicep-types-az"});
    return std::nullopt;
  }
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("resources") || !json["resources"].is_object()) {
    faults.push_back({file.string(), 0, "", "is no index of bicep-types-az in the form of today (\"resources\")"});
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const auto& [name, place] : json["resources"].items()) names.push_back(name);
  return names;
}

std::string names_text(std::string_view what, const std::vector<std::string>& names) {
  std::string text = fmt::format("{}: {}", what, names.size());
  for (size_t i = 0; i < std::min(names.size(), kNamesMax); ++i) text += (i == 0 ? " (" : ", ") + names[i];
  if (names.size() > kNamesMax) text += ", ...";
  return text + (names.empty() ? "\n" : ")\n");
}

}  // namespace

std::string types_text(const Config& config, ExplainAs form) {
  const auto all = rules::summaries_of(rules_of(config));
  return form == ExplainAs::Json ? list_json(all) : list_text(all);
}

std::string type_text(const Config& config, std::string_view type, ExplainAs form) {
  const rules::Ruleset rules = rules_of(config);
  auto facts = rules::explain_type(rules, type);
  std::vector<std::string> names;
  for (TypeSummary& one : rules::summaries_of(rules)) names.push_back(std::move(one.type));
  const bool is_known = std::find(names.begin(), names.end(), lower_text(type)) != names.end();
  const std::string nearest = is_known ? "" : rules::nearest_name(type, names, kMistakesMax);
  if (!nearest.empty()) facts.push_back({"did you mean", nearest, ""});
  return to_output(facts, form);
}

ReadTypes read_checkout(const fs::path& directory) {
  ReadTypes read;
  std::error_code error;
  const fs::path generated = fs::exists(directory / "generated", error) ? directory / "generated" : directory;
  const auto named = read_index(generated / "index.json", read.faults);
  if (!named) return read;
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator entry(generated, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename() == "types.json") files.push_back(entry->path());
  }
  if (error) read.faults.push_back({generated.string(), 0, "", "cannot be read as a whole: " + error.message()});
  std::sort(files.begin(), files.end());
  rules::BicepTypes types;
  for (const fs::path& file : files) {
    const auto text = certs::read_stream(file, kTypesFileMax);
    if (!text)
      read.faults.push_back({file.string(), 0, "", text.error().context});
    else
      types.add(file.string(), *text, read.faults);
  }
  std::vector<std::string> missing;
  std::copy_if(named->begin(), named->end(), std::back_inserter(missing), [&](const auto& name) { return !types.has(name); });
  if (!missing.empty()) {
    read.faults.push_back(
        {(generated / "index.json").string(), 0, "",
         "names what no types.json describes, so the checkout is not complete; " + names_text("missing", missing)});
  }
  read.types = types.types();
  read.described = types.count();
  if (read.types.empty() && read.faults.empty()) {
    read.faults.push_back({generated.string(), 0, "", "describes no type that can be written"});
  }
  return read;
}

Result<std::string> write_imported(const fs::path& file, const ReadTypes& read) {
  std::error_code error;
  std::vector<rules::ImportedType> before;
  if (fs::exists(file, error)) {
    const auto text = certs::read_stream(file, kTypesFileMax);
    if (!text) return text.error();
    rules::FaultList faults;
    if (rules::is_imported(*text)) before = rules::read_imported(file.string(), *text, faults);
    if (!rules::is_imported(*text) || !faults.empty()) {
      return gateway_error(
          ErrorKind::BadInput,
          fmt::format("{} is there and holds something else than imported facts; remove it, or name another file",
                      file.string()));
    }
  }
  if (const auto written = certs::write_file(file, rules::to_imported_text(read.types), 0644); !written) return written.error();
  const auto changes = rules::difference_between(before, read.types);
  return fmt::format("{} types that can be written, of {} types at api-versions, into {}\n", read.types.size(), read.described,
                     file.string()) +
         (before.empty()
              ? ""
              : names_text("added", changes.added) + names_text("gone", changes.gone) + names_text("changed", changes.changed));
}

}  // namespace armgate
