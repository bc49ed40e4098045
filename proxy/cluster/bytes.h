// bytes.h – values as bytes, and back. What is read was sealed by a replica of the same key, so that a wrong length is a defect
// or another version's, and ends the reading: every value after it is empty, and ok() says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/hash.h"

namespace armgate::cluster {

class Writer {
 public:
  void number(uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<char>(value));
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  uint64_t number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    left_ = {};
    return 0;
  }
  std::string text() {
    const uint64_t size = number();
    if (size > left_.size()) {
      ok_ = false;
      left_ = {};
      return {};
    }
    std::string value(left_.substr(0, size));
    left_.remove_prefix(size);
    return value;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
  bool ok_ = true;
};

}  // namespace armgate::cluster
