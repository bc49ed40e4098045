#include "json/spans.h"

#include <algorithm>

namespace armgate {
namespace {

constexpr std::string_view kWhitespace = " \t\r\n";    // RFC 8259 §2
constexpr std::string_view kEndsPlain = ",]} \t\r\n";  // what may follow a number or a literal

}  // namespace

JsonSpans::JsonSpans(std::string_view json) : json_(json) {
  skip_blanks();
  read_value();
  nodes_.front().piece_end = static_cast<uint32_t>(json_.size());
}

std::vector<uint32_t> JsonSpans::items(size_t node) const {
  std::vector<uint32_t> items;
  for (auto item = static_cast<uint32_t>(node + 1); item < nodes_[node].next; item = nodes_[item].next) items.push_back(item);
  return items;
}

void JsonSpans::read_value() {
  const size_t node = nodes_.size();
  nodes_.emplace_back().begin = static_cast<uint32_t>(at_);
  const char first = at_ < json_.size() ? json_[at_] : '\0';
  if (first == '{' || first == '[') {
    read_items(first == '{' ? '}' : ']');
  } else if (first == '"') {
    skip_text();
  } else {
    at_ = json_.find_first_of(kEndsPlain, at_);
  }
  at_ = std::min(at_, json_.size());
  nodes_[node].end = static_cast<uint32_t>(at_);
  nodes_[node].next = static_cast<uint32_t>(nodes_.size());
}

// From the opening bracket to behind the closing one.
void JsonSpans::read_items(char closing) {
  for (char last = ','; last == ',' && at_ < json_.size();) {
    const auto piece_begin = static_cast<uint32_t>(++at_);
    skip_blanks();
    if (at_ >= json_.size() || json_[at_] == closing) break;  // none at all
    if (closing == '}') {
      skip_text();
      skip_blanks();
      ++at_;  // the colon
      skip_blanks();
    }
    const size_t node = nodes_.size();
    read_value();
    skip_blanks();
    nodes_[node].piece_begin = piece_begin;
    nodes_[node].piece_end = static_cast<uint32_t>(at_);
    last = at_ < json_.size() ? json_[at_] : closing;
  }
  ++at_;
}

void JsonSpans::skip_blanks() {
  at_ = std::min(json_.find_first_not_of(kWhitespace, std::min(at_, json_.size())), json_.size());
}

void JsonSpans::skip_text() {
  for (++at_; at_ < json_.size() && json_[at_] != '"'; ++at_) {
    if (json_[at_] == '\\') ++at_;
  }
  ++at_;
}

}  // namespace armgate
