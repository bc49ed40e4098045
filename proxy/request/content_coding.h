// content_coding.h – bodies in plain bytes, for scanning only. What goes to the client is never touched
// (promise P7, docs/design.md).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "arm/http.h"
#include "base/result.h"
#include "proxy/policy/history.h"

namespace armgate {

// A body in plain bytes: itself if it is plain, and then it must outlive this and stay as it is; else what it was decoded to.
class PlainBytes {
 public:
  static PlainBytes given(const std::string& body) { return PlainBytes(&body, {}); }
  static PlainBytes decoded(std::string body) { return PlainBytes(nullptr, std::move(body)); }

  std::string_view text() const { return given_ != nullptr ? *given_ : decoded_; }
  std::string into_string() && {
    if (given_ != nullptr) return *given_;
    return std::move(decoded_);
  }

 private:
  PlainBytes(const std::string* given, std::string decoded) : given_(given), decoded_(std::move(decoded)) {}

  const std::string* given_;
  std::string decoded_;
};

// An Accept-Encoding (RFC 9110 §12.5.3) without the codings that cannot be read here; nothing if it has none of these. What is
// left of it is never empty: that would allow all codings.
std::optional<std::string> readable_codings(std::string_view accepted);

// The same for a request whose answer is to be read here: bodies in Brotli, say, could not be compared, nor a conflict
// recognised.
void accept_readable_codings(arm::Headers& fields);

// The body without its gzip or deflate content coding. BadInput for another coding or broken data,
// TooLarge beyond `bytes_max`.
Result<PlainBytes> plain_content(const arm::ResponseHead& head, const std::string& body, size_t bytes_max);

// Keeps a body as it was received, noting its coding; null if that cannot be read here.
std::shared_ptr<policy::KeptBody> keep_body(const arm::ResponseHead& head, std::string body);

// Whether the body of an answer with this head, if it has the bytes of that one, would be kept as that one.
bool is_coded_as(const policy::KeptBody& kept, const arm::ResponseHead& head);

// The same for a kept body.
Result<PlainBytes> plain_body(const policy::KeptBody& body, size_t bytes_max);

// Itself if it is in plain bytes or null; null if it cannot be decoded.
policy::SharedBody in_plain_bytes(const policy::SharedBody& body, size_t bytes_max);

}  // namespace armgate
