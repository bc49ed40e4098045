// input_buffer.h – what arrived on a connection and was not used yet.
//
// Why: an idle connection must hold no buffer (thousands of them are idle), so all reads of one thread go through one
// scratch area and only what arrived is kept.
// Threads   one event loop.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace armgate::net {

// Valid only until the next suspension: a stream fills it and the reader takes the bytes out in one go, and nothing
// else of this thread runs in between.
inline std::span<char> scratch_area() {
  static thread_local std::array<char, 16 * 1024> area;
  return area;
}

class InputBuffer {
 public:
  std::string_view bytes() const { return std::string_view(storage_).substr(used_); }
  bool empty() const { return used_ == storage_.size(); }

  void append(std::string_view more) {
    if (empty()) clear();
    storage_.append(more);
  }
  void consume(size_t count) {
    used_ += count;
    if (empty()) clear();
  }
  void clear() {
    used_ = 0;
    if (storage_.capacity() > kKeptBytesMax) storage_ = std::string();
    storage_.clear();
  }

 private:
  static constexpr size_t kKeptBytesMax = 4 * 1024;
  std::string storage_;
  size_t used_ = 0;
};

}  // namespace armgate::net
