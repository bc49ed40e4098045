// record_area.h – memory for the content of one TLS record, on its way into OpenSSL or out of it.
//
// Why: OpenSSL copies all content between the caller's memory and its own. Where the one lies a few bytes behind the other
// within their pages of 4 KB, the copy of the C library before 2.40 takes thirty times as long on AMD's processors (16 KB: 4.6
// us; glibc bug 30994; bench/README.md). Allocators let long blocks begin with a page, so here the content begins half a page
// later.
// Threads   one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace armgate::net {

class RecordArea {
 public:
  static constexpr size_t kBytes = 16 * 1024;  // RFC 8446 §5.1: a record holds at most 2^14 bytes

  void make() { memory_ = std::make_unique_for_overwrite<char[]>(kOffset + kBytes); }
  explicit operator bool() const { return memory_ != nullptr; }
  // Requires: made.
  std::span<char> bytes() const { return {memory_.get() + kOffset, kBytes}; }

 private:
  static constexpr size_t kOffset = 2 * 1024;

  std::unique_ptr<char[]> memory_;
};

}  // namespace armgate::net
