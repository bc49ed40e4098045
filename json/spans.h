// spans.h – where each value of a JSON text stands, so that parts of several texts can be put together byte for byte.
//
// Why: a body that is read and written anew loses what readers do not keep: 1.0, integers beyond 53 bits, escapes, the order of
// members. Code that changes one member of a text must leave the rest of it alone. Limits: for texts that JsonDocument can
// read, which bounds depth and size. Keeps a view of the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace armgate {

class JsonSpans {
 public:
  // One value with what stands around it up to the commas or brackets: blanks, and a member's name.
  struct Node {
    uint32_t piece_begin = 0, begin = 0, end = 0, piece_end = 0;
    uint32_t next = 0;  // the node after this value and all that is in it
  };

  explicit JsonSpans(std::string_view json);

  // The first is the whole text.
  const Node& operator[](size_t node) const { return nodes_[node]; }
  // The items of an object or an array, in the text's order: the same as a parser gives.
  std::vector<uint32_t> items(size_t node) const;

  std::string_view value(size_t node) const { return text(nodes_[node].begin, nodes_[node].end); }
  std::string_view piece(size_t node) const { return text(nodes_[node].piece_begin, nodes_[node].piece_end); }
  // What stands in a piece before and after its value.
  std::string_view before(size_t node) const { return text(nodes_[node].piece_begin, nodes_[node].begin); }
  std::string_view after(size_t node) const { return text(nodes_[node].end, nodes_[node].piece_end); }

 private:
  std::string_view text(size_t begin, size_t end) const { return json_.substr(begin, end - begin); }
  void read_value();
  void read_items(char closing);
  void skip_blanks();
  void skip_text();

  std::string_view json_;
  size_t at_ = 0;
  std::vector<Node> nodes_;
};

}  // namespace armgate
