// input_buffer.h – what arrived on a connection and was not used yet.
//
// Why: an idle connection must hold no buffer (thousands of them are idle), so all reads of one thread go through one
// scratch area and only what arrived is kept, in memory that goes back as soon as it is used.
// Threads   one event loop.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/net/socket/buffer_pool.h"

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
    // A client that always sends the beginning of its next request along would make it grow for ever.
    storage_.erase(0, std::exchange(used_, 0));
    if (storage_.size() + more.size() > storage_.capacity() || storage_.empty()) make_room(more.size());
    storage_.append(more);
  }
  void consume(size_t count) {
    used_ += count;
    if (empty()) clear();
  }
  void clear() {
    used_ = 0;
    BufferPool::give_back(storage_);
  }

 private:
  void make_room(size_t bytes) {
    const size_t needed = storage_.size() + bytes;
    std::string larger;
    if (needed <= BufferPool::kBytes) {
      larger = BufferPool::take();
    } else {
      larger.reserve(std::max(needed, 2 * storage_.size()));
    }
    larger.append(storage_);
    BufferPool::give_back(storage_);
    storage_.swap(larger);
  }

  std::string storage_;
  size_t used_ = 0;
};

}  // namespace armgate::net
