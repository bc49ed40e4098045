// json_positions.h – where in a JSON text each value stands.
//
// Why: the JSON library forgets where things stood and silently lets the last of two equal keys win. People who mend a
// configuration need the line, and a key given twice is a mistake.
// Limits   values nested deeper than kDepthMax are not recorded; too_deep() tells.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json_pointer.h"

namespace armgate::rules {

class JsonPositions {
 public:
  static constexpr size_t kDepthMax = 64;

  struct DuplicateKey {
    std::string pointer;
    int line = 0;
    int first_line = 0;
  };

  // `text`: JSON with comments that the JSON library has accepted.
  explicit JsonPositions(std::string_view text);

  // The line of a member's name or of an array's element; for what does not exist, that of its nearest ancestor.
  int line_of(std::string_view pointer) const;

  // Where a member's name begins in the text, with its quotation marks, and how many bytes that has; nothing if there is no
  // such member.
  struct Name {
    size_t begin = 0, length = 0;
  };
  std::optional<Name> name_of(std::string_view pointer) const;

  const std::vector<DuplicateKey>& duplicates() const { return duplicates_; }
  bool too_deep() const { return too_deep_; }

 private:
  friend class PositionScanner;
  std::unordered_map<std::string, int> lines_;
  std::unordered_map<std::string, Name> names_;
  std::vector<DuplicateKey> duplicates_;
  bool too_deep_ = false;
};

}  // namespace armgate::rules
