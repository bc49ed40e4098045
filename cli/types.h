// types.h – `armgate types`: what is known about types, and facts about all of Azure's from a checkout of Azure/bicep-types-az.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/explain.h"
#include "proxy/config/config.h"
#include "rules/facts/imported_facts.h"

namespace armgate {

// All types that anything is known of; or one, which may be any.
std::string types_text(const Config& config, ExplainAs form);
std::string type_text(const Config& config, std::string_view type, ExplainAs form);

struct ReadTypes {
  std::vector<rules::ImportedType> types;
  size_t described = 0;     // types at api-versions
  rules::FaultList faults;  // not empty: not all could be read
};

// What the checkout describes. Nothing is written.
ReadTypes read_checkout(const std::filesystem::path& directory);

// Replaces the file as a whole, unless it is something else than imported facts. What is said about it, in lines.
Result<std::string> write_imported(const std::filesystem::path& file, const ReadTypes& read);

}  // namespace armgate
