#include "proxy/request/content_coding.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "proxy/http/inflate.h"

namespace armgate {
namespace {

constexpr std::string_view kAcceptEncoding = "Accept-Encoding";

enum class Coding { Identity, Compressed, Unknown };

Coding coding_named(std::string_view coding) {
  if (coding.empty() || equal_ignoring_case(coding, "identity")) return Coding::Identity;
  if (equal_ignoring_case(coding, "gzip") || equal_ignoring_case(coding, "x-gzip") || equal_ignoring_case(coding, "deflate")) {
    return Coding::Compressed;
  }
  return Coding::Unknown;
}

Coding coding_of(const arm::ResponseHead& head) { return coding_named(trim(head.fields.get("content-encoding"))); }

// Whether one part of an Accept-Encoding says which coding is not wanted ("br;q=0").
bool is_refused(std::string_view part) {
  const size_t weight = part.find(';');
  if (weight == part.npos) return false;
  const std::string_view q = trim(part.substr(weight + 1));
  return q.size() > 2 && lower(q[0]) == 'q' && q[1] == '=' && q.find_first_not_of("0.", 2) == q.npos;
}

Result<PlainBytes> inflate(const std::string& body, size_t bytes_max) {
  auto decoded = http::inflate_gzip(body, bytes_max);
  if (!decoded) return std::move(decoded).error();
  return PlainBytes::decoded(*std::move(decoded));
}

}  // namespace

std::optional<std::string> readable_codings(std::string_view accepted) {
  std::string left;
  bool all_are = true;
  const auto keep = [&left](std::string_view part) {
    if (!left.empty()) left += ", ";
    left += part;
  };
  while (!accepted.empty()) {
    const std::string_view part = trim(accepted.substr(0, accepted.find(',')));
    accepted.remove_prefix(std::min(accepted.size(), accepted.find(',')));
    if (!accepted.empty()) accepted.remove_prefix(1);
    const std::string_view name = trim(part.substr(0, part.find(';')));
    if (coding_named(name) != Coding::Unknown || is_refused(part)) {
      if (!part.empty()) keep(part);
      continue;
    }
    all_are = false;
    if (name == "*") keep("gzip");
  }
  if (all_are) return std::nullopt;
  return left.empty() ? "identity" : left;
}

void accept_readable_codings(arm::Headers& fields) {
  std::string accepted;  // of all its lines
  for (const arm::Field field : fields) {
    if (!equal_ignoring_case(field.name, kAcceptEncoding)) continue;
    if (!accepted.empty()) accepted += ',';
    accepted += field.value;
  }
  if (const auto readable = readable_codings(accepted)) fields.set(kAcceptEncoding, *readable);
}

Result<PlainBytes> plain_content(const arm::ResponseHead& head, const std::string& body, size_t bytes_max) {
  switch (coding_of(head)) {
    case Coding::Identity: return PlainBytes::given(body);
    case Coding::Compressed: return body.empty() ? PlainBytes::given(body) : inflate(body, bytes_max);
    case Coding::Unknown: break;
  }
  return gateway_error(ErrorKind::BadInput,
                       fmt::format("the content coding {} cannot be read here", head.fields.get("content-encoding")));
}

std::shared_ptr<policy::KeptBody> keep_body(const arm::ResponseHead& head, std::string body) {
  const Coding coding = coding_of(head);
  if (coding == Coding::Unknown) return nullptr;
  auto kept = std::make_shared<policy::KeptBody>();
  kept->bytes = std::move(body);
  kept->compressed = coding == Coding::Compressed;
  return kept;
}

bool is_coded_as(const policy::KeptBody& kept, const arm::ResponseHead& head) {
  const Coding coding = coding_of(head);
  return !kept.is_partial && coding != Coding::Unknown && kept.compressed == (coding == Coding::Compressed);
}

Result<PlainBytes> plain_body(const policy::KeptBody& body, size_t bytes_max) {
  return body.compressed ? inflate(body.bytes, bytes_max) : PlainBytes::given(body.bytes);
}

policy::SharedBody in_plain_bytes(const policy::SharedBody& body, size_t bytes_max) {
  if (!body || !body->compressed) return body;
  auto plain = plain_body(*body, bytes_max);
  return plain ? policy::kept_body((*std::move(plain)).into_string(), body->is_partial) : nullptr;
}

}  // namespace armgate
