#include "arm/resource_id.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "arm/http.h"
#include "base/eight_bytes.h"
#include "base/text.h"

namespace armgate::arm {
namespace {

constexpr std::string_view kSubscriptionType = "microsoft.resources/subscriptions";
constexpr std::string_view kGroupType = "microsoft.resources/resourcegroups";
constexpr size_t kUsualSegments = 12;
constexpr size_t kUsualLevels = 4;

// The canonical path ("/a/b") and where its segments stand in it.
struct Segments {
  struct Span {
    size_t begin = 0;
    size_t end = 0;
  };
  std::string_view path;
  std::vector<Span> spans;

  size_t size() const { return spans.size(); }
  std::string_view operator[](size_t i) const { return path.substr(spans[i].begin, spans[i].end - spans[i].begin); }
  std::string_view first(size_t count) const { return count == 0 ? std::string_view() : path.substr(0, spans[count - 1].end); }
};

// A type, not put together yet: `root`, then every second segment from `more` on, before `end`.
struct TypeName {
  std::string_view root;
  size_t more = 0;
  size_t end = 0;
};

// A complete resource inside a path: its first `segments` segments.
struct Level {
  size_t segments = 0;
  TypeName type;
};

// What the segments of a path say. A path with a dangling last segment is a collection or an action of its innermost
// level (of the tenant if there is none).
struct Reading {
  bool known = false;
  std::vector<Level> levels;  // outermost first
  bool dangling = false;
  TypeName dangling_type;
};

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

// Appends the path lowered if no byte of it needs a closer look; nearly no path has one.
bool append_plain(std::string_view path, std::string& canonical) {
  namespace words = eight_bytes;
  const size_t start = canonical.size();
  canonical.append(path);
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= path.size(); i += sizeof(uint64_t)) {
    const uint64_t word = words::load(path.data() + i);
    const uint64_t suspects = words::any_below(word, ' ') | words::any_equal(word, '%') | words::any_equal(word, '#') |
                              words::any_equal(word, '\\') | words::any_equal(word, '\x7f');
    if ((suspects & words::kHighBits) != 0) break;
    words::store(words::lowered(word), canonical.data() + start + i);
  }
  for (; i < path.size(); ++i) {
    const char plain = path[i] == '/' ? '/' : kPlain[static_cast<unsigned char>(path[i])];
    if (plain == 0) {
      canonical.resize(start);
      return false;
    }
    canonical[start + i] = plain;
  }
  return true;
}

// Appends the text decoded once and lowered. On failure `why` says what is wrong with it.
bool append_canonical(std::string_view raw, std::string& text, std::string_view& why) {
  const size_t start = text.size();
  text.append(raw);
  size_t plain = 0;
  while (plain < raw.size() && kPlain[static_cast<unsigned char>(raw[plain])] != 0) {
    text[start + plain] = kPlain[static_cast<unsigned char>(raw[plain])];
    ++plain;
  }
  text.resize(start + plain);
  for (size_t i = plain; i < raw.size(); ++i) {
    char c = raw[i];
    if (c == '#') {
      why = "a fragment mark";
      return false;
    }
    if (c == '%') {
      const int high = i + 1 < raw.size() ? hex_digit(raw[i + 1]) : -1;
      const int low = i + 2 < raw.size() ? hex_digit(raw[i + 2]) : -1;
      if (high < 0 || low < 0) {
        why = "a broken percent-escape";
        return false;
      }
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      why = "a control character";
      return false;
    }
    // A backslash is a slash to some servers, so it is as ambiguous as an encoded slash.
    if (c == '/' || c == '\\') {
      why = "an encoded slash or a backslash";
      return false;
    }
    text.push_back(lower(c));
  }
  return true;
}

// "providers/Microsoft.Storage//storageAccounts": SDKs and the Azure CLI leave the path of a parent empty where there is none,
// and ARM takes it for one slash (observed: docs/arm.md, "Resource ids").
bool has_no_parent(const Segments& before) { return before.size() >= 2 && before[before.size() - 2] == "providers"; }

Error ambiguous(size_t segment, std::string_view why) {
  return client_error(ErrorKind::BadInput,
                      fmt::format("The path of the request target has {} in segment {}; it could name two different "
                                  "resources. Send every name once, percent-encoded at most once, without it.",
                                  why, segment));
}

// The canonical segments of the path without its leading and one trailing slash; their text goes to `canonical`, which must
// stay.
Result<Segments> canonical_segments(std::string_view path, std::string& canonical) {
  if (path.empty() || path.front() != '/') {
    return client_error(ErrorKind::BadInput, "The request target does not begin with '/'. Send it in origin-form.");
  }
  const std::string_view whole = path;
  path.remove_prefix(1);
  if (!path.empty() && path.back() == '/') {
    path.remove_suffix(1);
    if (path.empty()) return ambiguous(1, "an empty name");
  }
  Segments segments;
  segments.spans.reserve(kUsualSegments);
  const bool is_plain =
      !path.empty() && path.find("//") == path.npos && append_plain(whole.substr(0, path.size() + 1), canonical);
  canonical.reserve(path.size() + 1);
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view raw = path.substr(0, slash);
    const size_t number = segments.size() + 1;
    if (raw.empty()) return ambiguous(number, "an empty name");
    size_t begin = static_cast<size_t>(raw.data() - whole.data());
    if (!is_plain) {
      canonical += '/';
      begin = canonical.size();
      std::string_view why;
      if (!append_canonical(raw, canonical, why)) return ambiguous(number, why);
    }
    const size_t end = is_plain ? begin + raw.size() : canonical.size();
    const std::string_view text = std::string_view(canonical).substr(begin, end - begin);
    if (text == "." || text == "..") return ambiguous(number, "a dot segment");
    segments.spans.push_back({begin, end});
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
    segments.path = canonical;
    if (path.starts_with('/') && has_no_parent(segments)) path.remove_prefix(1);
    if (path.empty()) return ambiguous(number + 1, "an empty name");
  }
  segments.path = canonical;
  return segments;
}

// "/%2Fsubscriptions%2FS/providers/...": generated SDKs encode the scope of a lock as if it were one name, and ARM reads its
// slashes as slashes (docs/arm.md, "Resource ids"). The same with plain slashes; empty for any other path. Only a scope that
// others' names stand behind is taken so: even a server that kept the slash would know no such segment, so that nothing else
// can be named by it. A slash in a name stays what is refused. Nothing else is decoded here, so that nothing is decoded twice.
std::string with_plain_scope(std::string_view path) {
  constexpr std::string_view kAbout = "/providers/";
  const size_t end = std::min(path.find('/', 1), path.size());
  if (path.find('%') >= end || !starts_with_ignoring_case(path.substr(end), kAbout)) return {};
  std::string plain = "/";
  for (size_t i = 1; i < end; ++i) {
    const bool is_slash = path[i] == '%' && equal_ignoring_case(path.substr(i, 3), "%2f");
    plain.push_back(is_slash ? '/' : path[i]);
    if (is_slash) i += 2;
  }
  const std::string_view scope = path_of(plain);
  const bool is_scope = scope.size() > kAbout.size() &&
                        (starts_with_ignoring_case(scope, "/subscriptions/") || starts_with_ignoring_case(scope, kAbout));
  return is_scope ? std::string(scope).append(path.substr(end)) : std::string();
}

bool is_subscription(const TypeName& type, const Segments& segments) {
  if (type.more >= type.end) return type.root == kSubscriptionType;
  return type.root == "microsoft.resources" && type.more + 1 == type.end && segments[type.more] == "subscriptions";
}

// The type that segment `at` begins below the innermost level; empty root: none.
TypeName child_type(const std::vector<Level>& levels, const Segments& segments, size_t at) {
  if (levels.empty()) return {segments[at] == "subscriptions" ? kSubscriptionType : std::string_view(), at + 1, at + 1};
  TypeName type = levels.back().type;
  if (is_subscription(type, segments) && segments[at] == "resourcegroups") return {kGroupType, at + 1, at + 1};
  if (type.more >= type.end) type.more = at;
  type.end = at + 1;
  return type;
}

std::string text_of(const TypeName& type, const Segments& segments) {
  std::string text(type.root);
  for (size_t i = type.more; i < type.end; i += 2) {
    text += '/';
    text += segments[i];
  }
  return text;
}

// Walks type and name alternately. "providers" where a type is due opens a namespace: on the tenant, or on the resource
// read so far, which it then extends. "providers" where a name is due is a name.
Reading read_segments(const Segments& segments) {
  Reading reading;
  reading.levels.reserve(kUsualLevels);
  size_t at = 0;
  while (at < segments.size()) {
    TypeName type;
    if (segments[at] == "providers") {
      if (at + 2 >= segments.size()) return Reading{};  // "/providers" and the metadata of one provider
      type = {segments[at + 1], at + 2, at + 3};
      at += 2;
    } else {
      type = child_type(reading.levels, segments, at);
      if (type.root.empty()) return Reading{};
    }
    if (at + 1 == segments.size()) {
      reading.dangling = true;
      reading.dangling_type = type;
      break;
    }
    at += 2;
    reading.levels.push_back(Level{at, type});
  }
  reading.known = segments.size() > 0;
  return reading;
}

ResourceId resource_at(const Segments& segments, const Level& level) {
  return ResourceId{std::string(segments.first(level.segments)), text_of(level.type, segments)};
}

ResourceId innermost(const Segments& segments, const Reading& reading) {
  return reading.levels.empty() ? ResourceId{} : resource_at(segments, reading.levels.back());
}

// The levels of a canonical id, nearest first, none above the resource group. Canonical ids are decoded already.
std::vector<ResourceId> chain_of(const ResourceId& resource) {
  std::vector<ResourceId> chain;
  if (resource.id.empty()) return chain;
  Segments segments{resource.id, {}};
  for (size_t at = 1; at <= resource.id.size();) {
    const size_t slash = std::min(resource.id.find('/', at), resource.id.size());
    segments.spans.push_back({at, slash});
    at = slash + 1;
  }
  const Reading reading = read_segments(segments);
  if (!reading.known || reading.dangling) return chain;
  for (auto level = reading.levels.rbegin(); level != reading.levels.rend(); ++level) {
    chain.push_back(resource_at(segments, *level));
    if (chain.back().type == kGroupType) break;
  }
  return chain;
}

}  // namespace

Result<Target> parse_target(std::string_view target, bool is_post) {
  Target result;
  if (target == "*") return result;  // OPTIONS of the server (RFC 9112 §3.2.4)
  std::string canonical;
  const std::string_view path = path_of(target);
  const std::string plain = with_plain_scope(target.substr(0, target.find('?')));
  const auto segments = canonical_segments(plain.empty() ? path : plain, canonical);
  if (!segments) return segments.error();
  if (const auto version = query_parameter(target, "api-version")) {
    std::string_view why;
    if (!append_canonical(*version, result.api_version, why)) result.api_version = lower_text(*version);
  }
  const Reading reading = read_segments(*segments);
  if (!reading.known) return result;
  if (reading.dangling && is_post && reading.levels.empty()) return result;  // "/providers/microsoft.x/query"
  result.resource = innermost(*segments, reading);
  if (!reading.dangling) {
    result.kind = TargetKind::Resource;
  } else if (is_post) {
    result.kind = TargetKind::Action;
    result.action = (*segments)[segments->size() - 1];
  } else {
    result.kind = TargetKind::Collection;
    result.resource.type = text_of(reading.dangling_type, *segments);
  }
  return result;
}

std::optional<ResourceId> parse_resource_id(std::string_view id) {
  if (id.find('?') != std::string_view::npos) return std::nullopt;
  std::string canonical;
  const auto segments = canonical_segments(id, canonical);
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

bool is_type_of_resources(std::string_view type) {
  // As providers spell it (docs/arm.md, "Resource ids"). "operations" alone may be a resource: those of an API in API
  // Management.
  static constexpr std::array<std::string_view, 9> kRecords{
      "asyncoperations", "asyncoperationresults", "operationresult",  "operationresults",   "operationsresults",
      "operationstatus", "operationstatuses",     "operationsstatus", "operationsstatuses",
  };
  if (type == kGroupType) return true;
  const bool below_none = type.empty() || type.starts_with(kSubscriptionType) || type.starts_with(kGroupType);
  if (below_none || type.ends_with("/locations/operations")) return false;
  return std::none_of(kRecords.begin(), kRecords.end(), [&](std::string_view record) { return type.ends_with(record); });
}

std::optional<std::string> resource_group_of(const ResourceId& resource) {
  auto group = ancestor_of_type(resource, kGroupType);
  if (!group) return std::nullopt;
  return std::move(group->id);
}

}  // namespace armgate::arm
