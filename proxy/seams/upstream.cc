#include "proxy/seams/upstream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace armgate {

Error may_not_begin() {
  return upstream_error(ErrorKind::Cancelled, Sent::No,
                        "its client has left while it waited for a connection, or this armgate may not send any more");
}

Error given_up() { return upstream_error(ErrorKind::Cancelled, Sent::Maybe, "its client has left before the answer began"); }

bool SendGate::begin(TimePoint now) {
  if (!may_begin()) return false;
  if (!begun_) {
    begun_ = now;
    note_begun();
  }
  return true;
}

TimePoint SendLimits::answered_by() const {
  const bool counts = answer_max != Duration::max() && gate != nullptr && gate->begun();
  return counts ? std::min(deadline, *gate->begun() + answer_max) : deadline;
}

Task<Result<std::string>> read_whole(BodySource& body, Clock& clock, WholeLimits limits) {
  std::string whole;
  while (true) {
    auto piece = co_await body.read();
    if (!piece) {
      Error cut = std::move(piece).error();
      cut.sent = Sent::Answered;
      co_return cut;
    }
    if (piece->empty()) co_return std::move(whole);
    if (whole.size() + piece->size() > limits.bytes) {
      co_return Error{ErrorKind::TooLarge, ErrorSource::Upstream, Sent::Answered,
                      fmt::format("the answer is longer than {} bytes", limits.bytes)};
    }
    if (clock.now() > limits.until) {
      co_return Error{ErrorKind::TimedOut, ErrorSource::Upstream, Sent::Answered,
                      "the answer had begun in time, but did not come to its end"};
    }
    whole.append(*piece);
  }
}

}  // namespace armgate
