#include "arm/resource_id.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "arm/http.h"
#include "base/text.h"

namespace armgate::arm {
namespace {

constexpr std::string_view kSubscriptionType = "microsoft.resources/subscriptions";
constexpr std::string_view kGroupType = "microsoft.resources/resourcegroups";

// A complete resource inside a path: its first `segments` segments.
struct Level {
  size_t segments = 0;
  std::string type;
};

// What the segments of a path say. A path with a dangling last segment is a collection or an action of its innermost
// level (of the tenant if there is none).
struct Reading {
  bool known = false;
  std::vector<Level> levels;  // outermost first
  bool dangling = false;
  std::string dangling_type;
};

using Segments = std::vector<std::string>;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char letter = lower(c);
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

// What a byte of a segment becomes: its lower case, or 0 if it needs a closer look.
constexpr auto kPlain = [] {
  std::array<char, 256> plain{};
  for (size_t byte = 0x20; byte < plain.size(); ++byte) plain[byte] = lower(static_cast<char>(byte));
  for (const unsigned char special : {'#', '%', '/', '\\', '\x7f'}) plain[special] = 0;
  return plain;
}();

// Decodes once and lowers. On failure `why` says what is wrong with the text.
std::optional<std::string> canonical_text(std::string_view raw, std::string_view& why) {
  std::string text(raw);
  size_t plain = 0;
  while (plain < raw.size() && kPlain[static_cast<unsigned char>(raw[plain])] != 0) {
    text[plain] = kPlain[static_cast<unsigned char>(raw[plain])];
    ++plain;
  }
  text.resize(plain);
  for (size_t i = plain; i < raw.size(); ++i) {
    char c = raw[i];
    if (c == '#') {
      why = "a fragment mark";
      return std::nullopt;
    }
    if (c == '%') {
      const int high = i + 1 < raw.size() ? hex_digit(raw[i + 1]) : -1;
      const int low = i + 2 < raw.size() ? hex_digit(raw[i + 2]) : -1;
      if (high < 0 || low < 0) {
        why = "a broken percent-escape";
        return std::nullopt;
      }
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      why = "a control character";
      return std::nullopt;
    }
    // A backslash is a slash to some servers, so it is as ambiguous as an encoded slash.
    if (c == '/' || c == '\\') {
      why = "an encoded slash or a backslash";
      return std::nullopt;
    }
    text.push_back(lower(c));
  }
  return text;
}

Error ambiguous(size_t segment, std::string_view why) {
  return client_error(ErrorKind::BadInput,
                      fmt::format("The path of the request target has {} in segment {}; it could name two different "
                                  "resources. Send every name once, percent-encoded at most once, without it.",
                                  why, segment));
}

// The path without its leading and one trailing slash, as canonical segments.
Result<Segments> canonical_segments(std::string_view path) {
  Segments segments;
  if (path.empty() || path.front() != '/') {
    return client_error(ErrorKind::BadInput, "The request target does not begin with '/'. Send it in origin-form.");
  }
  path.remove_prefix(1);
  if (!path.empty() && path.back() == '/') {
    path.remove_suffix(1);
    if (path.empty()) return ambiguous(1, "an empty name");
  }
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view raw = path.substr(0, slash);
    const size_t number = segments.size() + 1;
    std::string_view why = "an empty name";
    std::optional<std::string> text;
    if (!raw.empty()) text = canonical_text(raw, why);
    if (!text) return ambiguous(number, why);
    if (*text == "." || *text == "..") return ambiguous(number, "a dot segment");
    segments.push_back(std::move(*text));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
    if (path.empty()) return ambiguous(number + 1, "an empty name");
  }
  return segments;
}

std::string child_type(const std::vector<Level>& levels, const std::string& segment) {
  if (levels.empty()) return segment == "subscriptions" ? std::string(kSubscriptionType) : std::string();
  const std::string& type = levels.back().type;
  if (type == kSubscriptionType && segment == "resourcegroups") return std::string(kGroupType);
  return type + "/" + segment;
}

// Walks type and name in turns. "providers" where a type is due opens a namespace: on the tenant, or on the resource
// read so far, which it then extends. "providers" where a name is due is a name.
Reading read_segments(const Segments& segments) {
  Reading reading;
  size_t at = 0;
  while (at < segments.size()) {
    std::string type;
    if (segments[at] == "providers") {
      if (at + 2 >= segments.size()) return Reading{};  // "/providers" and the metadata of one provider
      type = segments[at + 1] + "/" + segments[at + 2];
      at += 2;
    } else {
      type = child_type(reading.levels, segments[at]);
      if (type.empty()) return Reading{};
    }
    if (at + 1 == segments.size()) {
      reading.dangling = true;
      reading.dangling_type = std::move(type);
      break;
    }
    at += 2;
    reading.levels.push_back(Level{at, std::move(type)});
  }
  reading.known = !segments.empty();
  return reading;
}

std::string joined(const Segments& segments, size_t count) {
  std::string id;
  for (size_t i = 0; i < count; ++i) {
    id += '/';
    id += segments[i];
  }
  return id;
}

ResourceId innermost(const Segments& segments, const Reading& reading) {
  if (reading.levels.empty()) return {};
  const Level& level = reading.levels.back();
  return ResourceId{joined(segments, level.segments), level.type};
}

// The levels of a canonical id, nearest first, none above the resource group. Canonical ids are decoded already.
std::vector<ResourceId> chain_of(const ResourceId& resource) {
  std::vector<ResourceId> chain;
  if (resource.id.empty()) return chain;
  Segments segments;
  for (size_t at = 1; at <= resource.id.size();) {
    const size_t slash = std::min(resource.id.find('/', at), resource.id.size());
    segments.push_back(resource.id.substr(at, slash - at));
    at = slash + 1;
  }
  const Reading reading = read_segments(segments);
  if (!reading.known || reading.dangling) return chain;
  for (auto level = reading.levels.rbegin(); level != reading.levels.rend(); ++level) {
    chain.push_back(ResourceId{joined(segments, level->segments), level->type});
    if (level->type == kGroupType) break;
  }
  return chain;
}

}  // namespace

Result<Target> parse_target(std::string_view target, bool is_post) {
  Target result;
  if (target == "*") return result;  // OPTIONS of the server (RFC 9112 §3.2.4)
  const auto segments = canonical_segments(path_of(target));
  if (!segments) return segments.error();
  if (const auto version = query_parameter(target, "api-version")) {
    std::string_view why;
    result.api_version = canonical_text(*version, why).value_or(lower_text(*version));
  }
  Reading reading = read_segments(*segments);
  if (!reading.known) return result;
  if (reading.dangling && is_post && reading.levels.empty()) return result;  // "/providers/microsoft.x/query"
  result.resource = innermost(*segments, reading);
  if (!reading.dangling) {
    result.kind = TargetKind::Resource;
  } else if (is_post) {
    result.kind = TargetKind::Action;
    result.action = segments->back();
  } else {
    result.kind = TargetKind::Collection;
    result.resource.type = std::move(reading.dangling_type);
  }
  return result;
}

std::optional<ResourceId> parse_resource_id(std::string_view id) {
  if (id.find('?') != std::string_view::npos) return std::nullopt;
  const auto segments = canonical_segments(id);
  if (!segments) return std::nullopt;
  const Reading reading = read_segments(*segments);
  if (!reading.known || reading.dangling) return std::nullopt;
  return innermost(*segments, reading);
}

std::optional<ResourceId> parent_of(const ResourceId& resource) {
  auto chain = chain_of(resource);
  if (chain.size() < 2) return std::nullopt;
  return std::move(chain[1]);
}

std::vector<std::string> self_and_ancestors(const ResourceId& resource) {
  std::vector<std::string> ids;
  for (auto& level : chain_of(resource)) ids.push_back(std::move(level.id));
  return ids;
}

std::optional<ResourceId> ancestor_of_type(const ResourceId& resource, std::string_view type) {
  for (auto& level : chain_of(resource)) {
    if (equal_ignoring_case(level.type, type)) return std::move(level);
  }
  return std::nullopt;
}

std::optional<std::string> resource_group_of(const ResourceId& resource) {
  auto group = ancestor_of_type(resource, kGroupType);
  if (!group) return std::nullopt;
  return std::move(group->id);
}

}  // namespace armgate::arm
