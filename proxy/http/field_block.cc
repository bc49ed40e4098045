#include "proxy/http/field_block.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "proxy/http/syntax.h"

namespace armgate::http {
namespace {

// What a known field is to a proxy.
enum class Role : uint8_t {
  Onward,    // end-to-end
  HopByHop,  // for this connection only, of no use to us (RFC 9110 §7.6.1, RFC 9113 §8.2.2)
  Connection,
  Host,
  ContentLength,
  TransferEncoding,
  ProxyAuthorization,
  Expect,
};

enum class Often : uint8_t { Any, OnceInRequests };

struct KnownField {
  std::string_view name;  // lower case
  Role role = Role::Onward;
  Often often = Often::Any;
};

// End-to-end fields are here if two of them would be two identities, two preconditions or two kinds of content, or to protect
// them from Connection.
constexpr std::array kKnownFields = {
    KnownField{"te", Role::HopByHop},
    KnownField{"date"},
    KnownField{"etag"},
    KnownField{"host", Role::Host, Often::OnceInRequests},
    KnownField{"range", Role::Onward, Often::OnceInRequests},
    KnownField{"accept"},
    KnownField{"cookie"},
    KnownField{"expect", Role::Expect, Often::OnceInRequests},
    KnownField{"trailer", Role::HopByHop},
    KnownField{"upgrade", Role::HopByHop},
    KnownField{"location"},
    KnownField{"if-match", Role::Onward, Often::OnceInRequests},
    KnownField{"if-range", Role::Onward, Often::OnceInRequests},
    KnownField{"connection", Role::Connection},
    KnownField{"keep-alive", Role::HopByHop},
    KnownField{"set-cookie"},
    KnownField{"user-agent"},
    KnownField{"retry-after"},
    KnownField{"content-type", Role::Onward, Often::OnceInRequests},
    KnownField{"authorization", Role::Onward, Often::OnceInRequests},
    KnownField{"content-range", Role::Onward, Often::OnceInRequests},
    KnownField{"if-none-match", Role::Onward, Often::OnceInRequests},
    KnownField{"content-length", Role::ContentLength, Often::OnceInRequests},
    KnownField{"http2-settings", Role::HopByHop},
    KnownField{"retry-after-ms"},
    KnownField{"accept-encoding"},
    KnownField{"content-encoding"},
    KnownField{"proxy-connection", Role::HopByHop},
    KnownField{"if-modified-since", Role::Onward, Often::OnceInRequests},
    KnownField{"transfer-encoding", Role::TransferEncoding, Often::OnceInRequests},
    KnownField{"proxy-authenticate", Role::HopByHop},
    KnownField{"if-unmodified-since", Role::Onward, Often::OnceInRequests},
    KnownField{"proxy-authorization", Role::ProxyAuthorization, Often::OnceInRequests},
    KnownField{"azure-asyncoperation"},
    KnownField{"x-ms-client-request-id", Role::Onward, Often::OnceInRequests},
    KnownField{"proxy-authentication-info", Role::HopByHop},
};
constexpr size_t kUsualFields = 16;
static_assert(kKnownFields.size() <= 64, "FieldReader::seen_ has one bit for each");

// Length, first and last letter tell the known names apart, so that a field is compared with one name at most: each stands at a
// place of its own, with a factor that is looked for at compile time.
constexpr uint8_t kNone = 0xff;
using Places = std::array<uint8_t, 256>;

constexpr size_t place_of(std::string_view name, uint32_t factor) {
  const auto letter = [](char c) { return static_cast<uint32_t>(static_cast<uint8_t>(c)) | 0x20; };
  const uint32_t mixed = (letter(name.front()) << 16 | letter(name.back()) << 8 | static_cast<uint32_t>(name.size())) * factor;
  return mixed >> 24;
}

constexpr std::optional<Places> places_with(uint32_t factor) {
  Places places{};
  places.fill(kNone);
  for (uint8_t i = 0; i < kKnownFields.size(); ++i) {
    uint8_t& place = places[place_of(kKnownFields[i].name, factor)];
    if (place != kNone) return std::nullopt;
    place = i;
  }
  return places;
}

constexpr uint32_t kFactor = [] {
  uint32_t factor = 0x9e3779b1;
  while (!places_with(factor)) factor += 2;
  return factor;
}();
constexpr Places kPlaces = *places_with(kFactor);

const KnownField* find_known(std::string_view name) {
  if (name.empty()) return nullptr;
  const uint8_t index = kPlaces[place_of(name, kFactor)];
  return index != kNone && equal_ignoring_case(kKnownFields[index].name, name) ? &kKnownFields[index] : nullptr;
}

// Whether Connection may not name it. A client can leave a field out; but one that is sent and declared as meant only
// for this connection is there to be read by the guard and not by ARM, or the other way round (CVE-2025-48865 and its
// kind).
bool is_protected(std::string_view name) {
  if (const KnownField* known = find_known(name)) {
    return known->role != Role::HopByHop && known->role != Role::Connection && known->role != Role::ProxyAuthorization;
  }
  for (const std::string_view family : {"if-", "content-", "x-ms-", "x-armgate-", "accept-"}) {
    if (starts_with_ignoring_case(name, family)) return true;
  }
  return false;
}

class FieldReader {
 public:
  FieldReader(const Limits& limits, ErrorSource source, KeepLength keep_length)
      : limits_(limits), source_(source), keep_length_(keep_length) {}

  Result<FieldBlock> read(std::string_view lines) {
    lines_ = lines;
    block_.fields.take_lines(lines, kUsualFields);
    size_t begin = 0;
    for (;;) {
      // In a line that is as it should be nothing before its CRLF is no character of values.
      size_t end = find_no_value_char(lines, begin);
      const bool is_clean = end != std::string_view::npos && lines.substr(end, 2) == "\r\n";
      if (!is_clean) {
        const size_t line_feed = lines.find('\n', begin);
        if (line_feed == std::string_view::npos) return refuse("the head ends before its empty line; end it with CRLF CRLF");
        if (line_feed == begin || lines[line_feed - 1] != '\r') {
          return refuse(fmt::format("header line {} ends with a line feed alone; end lines with CRLF", line_ + 1));
        }
        end = line_feed - 1;
      }
      const std::string_view line = lines.substr(begin, end - begin);
      begin = end + 2;
      if (line.empty()) break;
      ++line_;
      if (Result<void> taken = take_line(line, is_clean); !taken) return std::move(taken).error();
    }
    if (begin != lines.size()) return refuse("bytes follow the empty line of the head");
    if (Result<void> removed = remove_named(); !removed) return std::move(removed).error();
    return std::move(block_);
  }

 private:
  Error refuse(std::string context) const { return refusal(source_, ErrorKind::BadInput, std::move(context)); }

  Result<void> take_line(std::string_view line, bool is_clean) {
    if (line_ > limits_.fields_max) {
      return refusal(source_, ErrorKind::TooLarge,
                     fmt::format("more than {} header fields (limits.fields); send fewer", limits_.fields_max));
    }
    const size_t colon = std::min(line.find(':'), line.size());
    const std::string_view name = line.substr(0, colon);
    const KnownField* known = find_known(name);
    if (colon == line.size() || (known == nullptr && !is_token(name))) return refuse_name(line);
    const std::string_view value = trim(line.substr(colon + 1));
    if (!is_clean && !is_field_value(value)) {
      return refuse(fmt::format("the value of header {} (line {}) has a control character; remove it", name, line_));
    }
    return take_field(known, name, value);
  }

  // Names a field only if it is a known one: a broken line may begin with anything, also with a secret.
  Error refuse_name(std::string_view line) const {
    if (line.front() == ' ' || line.front() == '\t') {
      return refuse(fmt::format("header line {} is folded (it begins with white space); send each field on one line", line_));
    }
    const auto name_end = static_cast<size_t>(std::find_if_not(line.begin(), line.end(), is_token_char) - line.begin());
    const KnownField* known = find_known(line.substr(0, name_end));
    const std::string which =
        known != nullptr ? fmt::format("header line {} ({})", line_, known->name) : fmt::format("header line {}", line_);
    if (line.find(':') == std::string_view::npos) return refuse(which + " has no colon; send `Name: value`");
    if (name_end == 0) return refuse(which + " does not begin with a name; send `Name: value`");
    return refuse(which + " has white space or another character that no name may have before its colon; remove it");
  }

  Result<void> take_field(const KnownField* known, std::string_view name, std::string_view value) {
    if (known == nullptr) {
      block_.fields.add_part(lines_, name, value);
      return {};
    }
    const uint64_t bit = uint64_t{1} << (known - kKnownFields.data());
    const bool again = (seen_ & bit) != 0;
    seen_ |= bit;
    if (again && known->often == Often::OnceInRequests && source_ == ErrorSource::Client) {
      return refuse(fmt::format("two {} headers; send it once", known->name));
    }
    switch (known->role) {
      case Role::Onward: block_.fields.add_part(lines_, name, value); break;
      case Role::HopByHop: break;
      case Role::Connection: take_connection(value); break;
      case Role::Host: block_.host = value; break;
      case Role::ContentLength: return take_content_length(name, value);
      case Role::TransferEncoding:
        if (again) return refuse("two transfer-encoding headers; send `Transfer-Encoding: chunked` once");
        block_.transfer_encoding = value;
        break;
      case Role::ProxyAuthorization: block_.proxy_authorization = value; break;
      case Role::Expect: block_.expect = value; break;
    }
    return {};
  }

  Result<void> take_content_length(std::string_view name, std::string_view value) {
    if (block_.content_length) {
      // Only a response comes here. The same length twice may be read as one (RFC 9110 §8.6).
      if (*block_.content_length == value) return {};
      return refuse("two content-length headers that differ; send one");
    }
    block_.content_length = value;
    const bool keep = keep_length_ == KeepLength::Always || (keep_length_ == KeepLength::IfZero && value == "0");
    if (keep) block_.fields.add_part(lines_, name, value);
    return {};
  }

  void take_connection(std::string_view value) {
    for_each_element(value, [this](std::string_view option) {
      if (equal_ignoring_case(option, "close"))
        block_.says_close = true;
      else if (equal_ignoring_case(option, "keep-alive"))
        block_.says_keep_alive = true;
      else
        named_.push_back(option);
      return true;
    });
  }

  Result<void> remove_named() {
    for (const std::string_view name : named_) {
      if (!is_token(name)) return refuse("the connection header names something that is no header; send `close` or nothing");
      if (is_protected(name)) {
        return refuse(
            fmt::format("the connection header names {}, which must not be dropped on the way; do not name it", name));
      }
      block_.fields.remove(name);
    }
    return {};
  }

  const Limits& limits_;
  const ErrorSource source_;
  const KeepLength keep_length_;
  std::string_view lines_;
  FieldBlock block_;
  std::vector<std::string_view> named_;  // by Connection, but close and keep-alive
  uint64_t seen_ = 0;                    // one bit for each known field
  size_t line_ = 0;
};

}  // namespace

Result<FieldBlock> parse_fields(std::string_view lines, const Limits& limits, ErrorSource source, KeepLength keep_length) {
  return FieldReader(limits, source, keep_length).read(lines);
}

Error refusal(ErrorSource source, ErrorKind kind, std::string context) {
  if (source == ErrorSource::Client) return client_error(kind, std::move(context));
  context.resize(std::min(context.find("; "), context.size()));
  if (kind == ErrorKind::TooLarge) context += "; whoever runs armgate can raise that option";
  // A request was sent and its answer cannot be read: what became of it is not known.
  return upstream_error(kind, Sent::Maybe, std::move(context));
}

}  // namespace armgate::http
