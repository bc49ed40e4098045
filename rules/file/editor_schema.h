// editor_schema.h – the JSON Schema of a file that is read by a table of settings, for editors.
//
// Why: whoever writes a configuration should see what a key means, and a misspelt one underlined, before armgate is
// started. Made from the table that the reader uses, the schema cannot say anything else.
//
// Limits   a schema refuses nothing that the reader takes. The reader alone knows what no single key can say, and the forms
//          of texts other than durations and sizes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "rules/file/json_reader.h"

namespace armgate::rules {

// Called for every setting, also those within Items and Entries: "/rules", "/rules/*/name",
// "/rules/*/lock/references/*/pointer".
using SettingVisitor = std::function<void(const std::string& pointer, const Setting& setting)>;

// In the order of the table, a list before what is in it. Adds one element to each list that the table is bound to.
void visit_settings(const SettingTable& table, const SettingVisitor& visit);

// Draft 7, the newest that editors know completely. Adds elements as above.
std::string to_schema(const SettingTable& table, std::string_view title, std::string_view description);

}  // namespace armgate::rules
