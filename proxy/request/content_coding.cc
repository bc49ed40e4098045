#include "proxy/request/content_coding.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "proxy/http/inflate.h"

namespace armgate {
namespace {

enum class Coding { Identity, Compressed, Unknown };

Coding coding_of(const arm::ResponseHead& head) {
  const auto coding = trim(head.fields.get("content-encoding"));
  if (coding.empty() || equal_ignoring_case(coding, "identity")) return Coding::Identity;
  if (equal_ignoring_case(coding, "gzip") || equal_ignoring_case(coding, "x-gzip") || equal_ignoring_case(coding, "deflate")) {
    return Coding::Compressed;
  }
  return Coding::Unknown;
}

Result<PlainBytes> inflate(const std::string& body, size_t bytes_max) {
  auto decoded = http::inflate_gzip(body, bytes_max);
  if (!decoded) return std::move(decoded).error();
  return PlainBytes::decoded(*std::move(decoded));
}

}  // namespace

Result<PlainBytes> plain_content(const arm::ResponseHead& head, const std::string& body, size_t bytes_max) {
  switch (coding_of(head)) {
    case Coding::Identity: return PlainBytes::given(body);
    case Coding::Compressed: return body.empty() ? PlainBytes::given(body) : inflate(body, bytes_max);
    case Coding::Unknown: break;
  }
  return gateway_error(ErrorKind::BadInput,
                       fmt::format("the content coding {} cannot be read here", head.fields.get("content-encoding")));
}

std::shared_ptr<const policy::KeptBody> keep_body(const arm::ResponseHead& head, std::string body) {
  const Coding coding = coding_of(head);
  if (coding == Coding::Unknown) return nullptr;
  auto kept = std::make_shared<policy::KeptBody>();
  kept->bytes = std::move(body);
  kept->compressed = coding == Coding::Compressed;
  return kept;
}

Result<PlainBytes> plain_body(const policy::KeptBody& body, size_t bytes_max) {
  return body.compressed ? inflate(body.bytes, bytes_max) : PlainBytes::given(body.bytes);
}

}  // namespace armgate
