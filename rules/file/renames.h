// renames.h – keys of configuration and rule files that have other names now, and the file with the new names.
//
// Why: whoever has files of the version before should not have to look for each key. The names stand once, in the tables of
// settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/file/json_reader.h"

namespace armgate::rules {

struct Rename {
  int line = 0;
  std::string from;   // the pointer as it stands in the file: "/rules/0/hold"
  std::string to;     // the new name of its last part: "lease"
  bool both = false;  // the new name stands beside it already, so that somebody has to say which of the two counts
};

// What `table` says has another name now, in the order of lines. `text` is the JSON text of a file, comments allowed; of one
// that is no JSON, or no object, nothing.
std::vector<Rename> renames_in(std::string_view text, const SettingTable& table);

// The text with these names and everything else as it is, comments and spaces too. A name whose new one stands beside it
// already stays.
std::string renamed(std::string_view text, const std::vector<Rename>& renames);

}  // namespace armgate::rules
