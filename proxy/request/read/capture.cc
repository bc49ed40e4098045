#include "proxy/request/read/capture.h"

#include <algorithm>
#include <utility>

namespace armgate {

Capture::Capture(size_t bytes_max, BodyLength length, policy::SharedBody last)
    : wanted_(true), bytes_max_(bytes_max), last_(std::move(last)) {
  if (length.kind != BodyLength::Kind::Known) return;
  expected_ = length.bytes;
  overflown_ = length.bytes > bytes_max;
  if (last_ && last_->bytes.size() != length.bytes) last_.reset();
}

void Capture::add(std::string_view piece) {
  if (!has_all()) return;
  if (last_ && std::string_view(last_->bytes).substr(repeated_).starts_with(piece)) {
    repeated_ += piece.size();
    return;
  }
  if (last_) stop_repeating();
  if (bytes_.size() + piece.size() > bytes_max_) {
    overflown_ = true;
    std::string().swap(bytes_);  // an assignment would keep the memory
    return;
  }
  if (bytes_.empty()) bytes_.reserve(std::max<size_t>(expected_, piece.size()));
  bytes_.append(piece);
}

std::string Capture::take() && {
  if (last_) stop_repeating();
  return std::move(bytes_);
}

void Capture::stop_repeating() {
  bytes_.reserve(std::max<size_t>(expected_, repeated_));
  bytes_.assign(last_->bytes, 0, repeated_);
  last_.reset();
}

}  // namespace armgate
