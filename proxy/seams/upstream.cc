#include "proxy/seams/upstream.h"

#include <fmt/format.h>

#include <utility>

namespace armgate {

Task<Result<std::string>> read_whole(BodySource& body, size_t bytes_max) {
  std::string whole;
  while (true) {
    auto piece = co_await body.read();
    if (!piece) co_return std::move(piece).error();
    if (piece->empty()) co_return std::move(whole);
    if (whole.size() + piece->size() > bytes_max) {
      co_return Error{ErrorKind::TooLarge, ErrorSource::Upstream, Sent::Answered,
                      fmt::format("the answer is longer than {} bytes", bytes_max)};
    }
    whole.append(*piece);
  }
}

}  // namespace armgate
