// buffer_pool.h – memory for what is read and composed, handed on from connection to connection of one thread.
//
// Why: a connection needs it while one message passes. Kept with its connection, it has left the processor's cache by the next
// message, and thousands of idle connections hold it for nothing. What came back last is given out first.
// Threads   any; each has spares of its own.
// Limits    a thread keeps 128 spares of 4 KB; what had to grow beyond is freed.
#pragma once

#include <string.h>

#include <string>
#include <utility>
#include <vector>

namespace armgate::net {

class BufferPool {
 public:
  static constexpr size_t kBytes = 4 * 1024;

  // An empty text with room for 4 KB.
  static std::string take() {
    auto& kept = pooled();
    std::string text;
    if (kept.empty()) {
      text.reserve(kBytes);
    } else {
      text = std::move(kept.back());
      kept.pop_back();
    }
    return text;
  }

  // Leaves `text` empty and without memory. What stood in one that is kept is wiped: heads carry tokens.
  static void give_back(std::string& text) {
    auto& kept = pooled();
    if (text.capacity() == kBytes && kept.size() < kPooledMax) {
      ::explicit_bzero(text.data(), text.size());
      text.clear();
      kept.push_back(std::move(text));
    }
    std::string().swap(text);  // an assignment would keep the memory
  }

 private:
  static constexpr size_t kPooledMax = 128;

  static std::vector<std::string>& pooled() {
    static thread_local std::vector<std::string> kept;
    return kept;
  }
};

// A text that goes back when its scope ends.
class PooledBuffer {
 public:
  PooledBuffer() : text_(BufferPool::take()) {}
  ~PooledBuffer() { BufferPool::give_back(text_); }
  PooledBuffer(const PooledBuffer&) = delete;
  PooledBuffer& operator=(const PooledBuffer&) = delete;

  std::string& operator*() { return text_; }

 private:
  std::string text_;
};

}  // namespace armgate::net
