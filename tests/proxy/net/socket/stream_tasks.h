// stream_tasks.h – what tests do with a stream, as coroutines to await or to start.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/net/socket/byte_stream.h"
#include "proxy/net/socket/input_buffer.h"

namespace armgate::net {

inline Task<Result<std::string>> read_all(ByteStream& stream) {
  std::string text;
  while (true) {
    const auto got = co_await stream.read_some(scratch_area(), kNever);
    if (!got) co_return got.error();
    if (*got == 0) co_return text;
    text.append(scratch_area().data(), *got);
  }
}

// Less only if the stream ends before.
inline Task<Result<std::string>> read_bytes(ByteStream& stream, size_t count) {
  std::string text;
  while (text.size() < count) {
    const auto got = co_await stream.read_some(scratch_area(), kNever);
    if (!got) co_return got.error();
    if (*got == 0) break;
    text.append(scratch_area().data(), *got);
  }
  co_return text;
}

inline Task<Result<size_t>> read_once(ByteStream& stream) { co_return co_await stream.read_some(scratch_area(), kNever); }

inline Task<Result<void>> write_pieces(ByteStream& stream, std::vector<std::string_view> pieces, TimePoint deadline = kNever) {
  co_return co_await stream.write_all(pieces, deadline);
}

inline Task<void> write_and_end(ByteStream& stream, std::vector<std::string_view> pieces) {
  const auto written = co_await stream.write_all(pieces, kNever);
  if (written) co_await stream.shutdown(kNever);
}

inline Task<void> store_read(ByteStream& stream, TimePoint deadline, std::optional<Result<size_t>>& into) {
  into.emplace(co_await stream.read_some(scratch_area(), deadline));
}

inline Task<void> store_write(ByteStream& stream, std::string_view text, TimePoint deadline,
                              std::optional<Result<void>>& into) {
  into.emplace(co_await stream.write_all(text, deadline));
}

}  // namespace armgate::net
