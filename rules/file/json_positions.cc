#include "rules/file/json_positions.h"

#include <algorithm>

#include "json/syntax_fault.h"
#include "json/tree.h"

namespace armgate::rules {

// Walks the text once. It only has to tell strings, comments and brackets apart: the text is known to be well formed.
class PositionScanner {
 public:
  PositionScanner(std::string_view text, JsonPositions& found) : text_(text), found_(found) {}

  void scan() {
    while (at_ < text_.size()) {
      switch (text_[at_]) {
        case '\n':
          ++line_;
          ++at_;
          break;
        case '/': skip_comment(); break;
        case '"': read_string(); break;
        case '{': open(Container::Object); break;
        case '[': open(Container::Array); break;
        case '}':
        case ']': close(); break;
        case ',': next_member(); break;
        case ':': ++at_; break;
        default: read_scalar(); break;
      }
      if (found_.too_deep_) return;
    }
  }

 private:
  enum class Container { Object, Array };

  struct Level {
    Container container;
    std::string pointer;
    size_t index = 0;         // Array: of the next element
    bool name_next = true;    // Object: the next string is a member's name
    std::string member = {};  // Object: pointer of the member whose name was read last
  };

  void skip_comment() {
    const size_t stop = std::min(end_of_comment(text_, at_), text_.size());
    for (; at_ < stop; ++at_) line_ += text_[at_] == '\n';
  }

  void read_string() {
    const size_t start = at_;
    at_ = std::min(end_of_string(text_, at_), text_.size());
    if (levels_.empty() || levels_.back().container == Container::Array || !levels_.back().name_next) {
      begin_value();
      return;
    }
    Level& level = levels_.back();
    level.name_next = false;
    const auto name = nlohmann::json::parse(text_.substr(start, at_ - start), nullptr, false);
    level.member = level.pointer + "/" + pointer_token(name.is_string() ? name.get<std::string>() : "");
    found_.names_[level.member] = {start, at_ - start};
    const auto [known, is_new] = found_.lines_.try_emplace(level.member, line_);
    if (is_new) return;
    found_.duplicates_.push_back({level.member, line_, known->second});
    known->second = line_;
  }

  void read_scalar() {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\r' || static_cast<unsigned char>(c) >= 0x80) {  // 0x80: a byte order mark
      ++at_;
      return;
    }
    begin_value();
    at_ = std::min(text_.find_first_of(" \t\r\n,]}/", at_), text_.size());
  }

  // Notes the line of the value that begins here and returns its pointer.
  std::string begin_value() {
    if (levels_.empty()) {
      found_.lines_.emplace("", line_);
      return "";
    }
    Level& level = levels_.back();
    if (level.container == Container::Object) return level.member;  // its line is its name's
    std::string pointer = level.pointer + "/" + std::to_string(level.index++);
    found_.lines_[pointer] = line_;
    return pointer;
  }

  void open(Container container) {
    if (levels_.size() >= JsonPositions::kDepthMax) {
      found_.too_deep_ = true;
      return;
    }
    std::string pointer = begin_value();
    levels_.push_back({container, std::move(pointer)});
    ++at_;
  }

  void close() {
    if (!levels_.empty()) levels_.pop_back();
    ++at_;
  }

  void next_member() {
    if (!levels_.empty()) levels_.back().name_next = true;
    ++at_;
  }

  std::string_view text_;
  JsonPositions& found_;
  std::vector<Level> levels_;
  size_t at_ = 0;
  int line_ = 1;
};

JsonPositions::JsonPositions(std::string_view text) { PositionScanner(text, *this).scan(); }

std::optional<JsonPositions::Name> JsonPositions::name_of(std::string_view pointer) const {
  const auto found = names_.find(std::string(pointer));
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

int JsonPositions::line_of(std::string_view pointer) const {
  for (;;) {
    if (const auto found = lines_.find(std::string(pointer)); found != lines_.end()) return found->second;
    if (pointer.empty()) return 1;
    pointer = pointer.substr(0, pointer.rfind('/'));
  }
}

}  // namespace armgate::rules
