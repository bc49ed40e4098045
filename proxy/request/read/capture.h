// capture.h – a copy of an answer's body, made while it streams by.
//
// Why: whoever polls is shown the same again and again. As long as the pieces repeat what was kept last, there is nothing to
// copy. An answer that is announced to be too long is not copied either.
// Limits    bytes_max; what turns out to be longer is let go.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/policy/history.h"
#include "proxy/seams/upstream.h"

namespace armgate {

class Capture {
 public:
  Capture() = default;  // of nothing
  // `last`: what the body is, if it has the same bytes; null: it is always another.
  Capture(size_t bytes_max, BodyLength length, policy::SharedBody last);

  void add(std::string_view piece);

  bool has_all() const { return wanted_ && !overflown_; }
  // `last`, if the body is the same; else null. Requires, as take(): has_all(), and the whole body was added.
  policy::SharedBody same_as_last() const { return last_ && repeated_ == last_->bytes.size() ? last_ : nullptr; }
  std::string take() &&;

 private:
  void stop_repeating();

  bool wanted_ = false;
  bool overflown_ = false;
  size_t bytes_max_ = 0;
  uint64_t expected_ = 0;  // 0: not known
  policy::SharedBody last_;
  size_t repeated_ = 0;  // of its bytes, so far
  std::string bytes_;    // without those
};

}  // namespace armgate
