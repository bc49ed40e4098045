#include "proxy/http/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace armgate::http {
namespace {

// Owns zlib's state: inflateEnd on every way out.
class Inflater {
 public:
  Inflater() {
    // 32: zlib or gzip, told apart by the header (zlib.h, inflateInit2).
    GATE_CHECK(inflateInit2(&stream_, MAX_WBITS + 32) == Z_OK, "zlib has no memory or is another version");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

constexpr size_t kStepBytes = 64 * 1024;

Error damaged(std::string_view why) {
  return gateway_error(ErrorKind::BadInput, fmt::format("the compressed body cannot be read: {}", why));
}

}  // namespace

Result<std::string> inflate_gzip(std::string_view bytes, size_t bytes_max) {
  if (bytes.empty()) return damaged("it is empty");
  Inflater inflater;
  z_stream& stream = inflater.stream();
  // One byte beyond the limit is enough to see that there is more.
  const size_t output_bytes_max = bytes_max + (bytes_max < std::numeric_limits<size_t>::max() ? 1 : 0);
  std::string output;
  size_t filled = 0;
  size_t taken = 0;
  for (;;) {
    if (stream.avail_in == 0) {
      const size_t more = std::min<size_t>(bytes.size() - taken, std::numeric_limits<uInt>::max());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + taken));
      stream.avail_in = static_cast<uInt>(more);
      taken += more;
    }
    if (filled == output.size()) output.resize(std::min(filled + std::max(filled, kStepBytes), output_bytes_max));
    const size_t room = std::min<size_t>(output.size() - filled, std::numeric_limits<uInt>::max());
    stream.next_out = reinterpret_cast<Bytef*>(output.data() + filled);
    stream.avail_out = static_cast<uInt>(room);

    const int code = inflate(&stream, Z_NO_FLUSH);
    filled += room - stream.avail_out;
    if (filled > bytes_max) {
      return gateway_error(ErrorKind::TooLarge,
                           fmt::format("the compressed body inflates to more than the limit of {} bytes", bytes_max));
    }
    const bool all_taken = stream.avail_in == 0 && taken == bytes.size();
    if (code == Z_STREAM_END) {
      if (all_taken) break;
      // Only gzip has members that follow each other; a new one must begin as such (RFC 1952 §2.2).
      const size_t next = taken - stream.avail_in;
      if (!bytes.starts_with('\x1f') || bytes[next] != '\x1f') return damaged("other bytes follow its end");
      inflateReset2(&stream, MAX_WBITS + 16);
    } else if (code == Z_BUF_ERROR || (code == Z_OK && all_taken && stream.avail_out > 0)) {
      return damaged("it ends too early");
    } else if (code != Z_OK) {
      return damaged(stream.msg != nullptr ? stream.msg : "zlib refuses it");
    }
  }
  output.resize(filled);
  return output;
}

}  // namespace armgate::http
