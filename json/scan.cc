// Everything here reads on demand: the text is indexed once, and only the members asked for are decoded.
#include "json/scan.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/eight_bytes.h"
#include "base/sixteen_bytes.h"
#include "base/text.h"

namespace armgate {
namespace {

namespace ondemand = simdjson::ondemand;

// The name of a member. Taken as it is written where it has no escapes, as nearly all names: decoding all of them costs more
// than the rest of reading.
bool read_name(ondemand::field& field, std::string_view& name) {
  const char* const begin = field.key().raw();
  const char* const value = field.value().raw_json_token().data();
  const void* const quote = std::memchr(begin, '"', static_cast<size_t>(value - begin));
  if (quote == nullptr) return false;
  name = {begin, static_cast<size_t>(static_cast<const char*>(quote) - begin)};
  return name.find('\\') == name.npos || !field.unescaped_key().get(name);
}

// Hands every member to visit(name, value). False if the document breaks there or a visit says so.
template <class Visit>
bool visit_members(ondemand::object& object, Visit visit) {
  for (auto member : object) {
    ondemand::field field;
    std::string_view name;
    if (std::move(member).get(field) || !read_name(field, name) || !visit(name, field.value())) return false;
  }
  return true;
}

// The same for a whole text, which must be one object and nothing after it.
template <class Visit>
bool visit_top_members(ondemand::parser& parser, simdjson::padded_string_view text, Visit visit) {
  ondemand::document document;
  ondemand::object top;
  if (parser.iterate(text).get(document) || document.get_object().get(top)) return false;
  return visit_members(top, visit) && document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

// Usual resources are read with memory that the thread keeps: a parser allocates five times what it reads.
constexpr size_t kKeptTextMax = 64 * 1024;

template <class Visit>
bool visit_top_members(std::string_view json, Visit visit) {
  if (json.size() > kKeptTextMax) {
    ondemand::parser parser;
    return visit_top_members(parser, simdjson::padded_string(json), visit);
  }
  static thread_local ondemand::parser parser;
  static thread_local std::string copy;
  copy.reserve(json.size() + simdjson::SIMDJSON_PADDING);
  copy.assign(json);
  return visit_top_members(parser, simdjson::padded_string_view(copy.data(), copy.size(), copy.capacity()), visit);
}

constexpr std::string_view kBlanks = " \t\r\n";  // RFC 8259 §2

bool is_blank(char c) { return kBlanks.find(c) != kBlanks.npos; }

// Whether the text ends with a quote and the name.
bool ends_as_quoted(std::string_view text, std::string_view name) {
  if (text.size() <= name.size() || text[text.size() - name.size() - 1] != '"') return false;
  return equal_ignoring_case(text.substr(text.size() - name.size()), name);
}

// Whether some character is written as \uXXXX (RFC 8259 §7), which may spell any letter.
bool has_spelled_letter(std::string_view json) {
  for (size_t at = json.find('\\'); at < json.size(); at = json.find('\\', at + 2)) {
    if (json.substr(at + 1).starts_with('u')) return true;
  }
  return false;
}

// The names that a text is searched for.
class WantedNames {
 public:
  explicit WantedNames(std::span<const std::string_view> names) : names_(names) {
    for (const std::string_view name : names) {
      if (!name.empty()) add_ending(name.back());
    }
  }

  // For each of 16 bytes from there, of which two have others before them: whether it is a colon before which one of the names
  // may stand. Has all of these.
  auto may_stand_before(const char* from) const {
    const Block before = sixteen_bytes::load(from - 1);
    const Block ending = sixteen_bytes::load(from - 2) | kCase;
    Comparison ends = any_ending_;
    for (const uint8_t letter : few_) ends |= ending == letter;
    return (sixteen_bytes::load(from) == ':') & (((before == '"') & ends) | (before <= ' '));
  }

  // Whether one of them stands before this colon: a name is what stands in quotes there (RFC 8259 §4).
  bool has_before(std::string_view json, size_t colon) const {
    if (colon < 2) return false;
    size_t end = colon - 1;
    if (json[end] != '"') {
      if (!is_blank(json[end])) return false;
      end = json.substr(0, colon).find_last_not_of(kBlanks);
      if (end == json.npos || json[end] != '"') return false;
    }
    return end > 0 && (endings_ & bit_of(json[end - 1])) != 0 && has_one_at_end_of(json.substr(0, end));
  }

 private:
  bool has_one_at_end_of(std::string_view text) const {
    return std::any_of(names_.begin(), names_.end(), [text](std::string_view name) { return ends_as_quoted(text, name); });
  }
  // The same for letters of either case, and some other characters.
  static constexpr uint32_t bit_of(char c) { return uint32_t{1} << (static_cast<unsigned char>(c) % 32); }

  void add_ending(char ending) {
    endings_ |= bit_of(ending);
    const auto folded = static_cast<uint8_t>(static_cast<uint8_t>(ending) | kCase);
    if (std::find(few_.begin(), few_.end(), folded) != few_.end()) return;
    if (count_ < kFew) std::fill(few_.begin() + static_cast<std::ptrdiff_t>(count_), few_.end(), folded);
    if (++count_ > kFew) any_ending_ = ~Comparison{};
  }

  using Block = sixteen_bytes::Block;
  using Comparison = decltype(Block() == Block());
  static constexpr uint8_t kCase = 'a' - 'A';  // the bit that letters of either case differ by
  static constexpr size_t kFew = 3;

  const std::span<const std::string_view> names_;
  uint32_t endings_ = 0;             // by which characters they end
  std::array<uint8_t, kFew> few_{};  // the same with that bit, if they are few
  size_t count_ = 0;
  Comparison any_ending_{};  // all bits, if they are not
};

// The value of a member.
struct Kept {
  std::optional<std::string> text;
  bool differs = false;  // the member was there twice, with different values
};

// Keeps a string; any other value is passed over. False if the document breaks.
bool keep_string(ondemand::value value, Kept& kept) {
  ondemand::json_type type;
  if (value.type().get(type)) return false;
  if (type != ondemand::json_type::string) return true;
  std::string_view text;
  if (value.get_string().get(text)) return false;
  kept.differs |= kept.text && *kept.text != text;
  kept.text = std::string(text);
  return true;
}

template <size_t N>
using Names = std::array<std::string_view, N>;

template <size_t N>
size_t place_of(std::string_view name, const Names<N>& names) {
  size_t i = 0;
  while (i < N && !equal_ignoring_case(name, names[i])) ++i;
  return i;
}

template <size_t N>
bool scan_properties(ondemand::value value, const Names<N>& wanted, std::array<Kept, N>& kept) {
  ondemand::json_type type;
  if (value.type().get(type)) return false;
  if (type != ondemand::json_type::object) return true;
  ondemand::object properties;
  if (value.get_object().get(properties)) return false;
  return visit_members(properties, [&](std::string_view name, ondemand::value member) {
    const size_t place = place_of(name, wanted);
    return place == N || keep_string(member, kept[place]);
  });
}

template <size_t N>
std::array<ScannedMember, N> scan_members(std::string_view json, const Names<N>& wanted) {
  std::array<Kept, N> own, in_properties;
  const bool intact = visit_top_members(without_byte_order_mark(json), [&](std::string_view name, ondemand::value value) {
    const size_t place = place_of(name, wanted);
    if (place < N) return keep_string(value, own[place]);
    return !equal_ignoring_case(name, "properties") || scan_properties(value, wanted, in_properties);
  });
  std::array<ScannedMember, N> found;
  for (size_t i = 0; i < N && intact; ++i) {
    if (own[i].differs || in_properties[i].differs) continue;
    found[i] = {true, std::move(own[i].text), std::move(in_properties[i].text)};
  }
  return found;
}

// The item's "id", empty if it is no string. False if the page is broken there, or the item has two.
bool read_id(ondemand::object& item, std::string& id) {
  Kept kept;
  const bool intact = visit_members(
      item, [&](std::string_view name, ondemand::value member) { return name != "id" || keep_string(member, kept); });
  id = std::move(kept.text).value_or(std::string());
  return intact && !kept.differs;
}

// The raw text of an item runs up to the next token, so it may end in blanks.
std::string_view without_trailing_blanks(std::string_view raw) { return raw.substr(0, raw.find_last_not_of(kBlanks) + 1); }

// `copy` is where the parser's copy of `page` begins.
bool read_items(ondemand::value list, const char* copy, std::string_view page, std::vector<ListItem>& items) {
  ondemand::array array;
  if (list.get_array().get(array)) return false;
  for (auto element : array) {
    ondemand::json_type type;
    if (element.type().get(type)) return false;
    if (type != ondemand::json_type::object) continue;
    ondemand::object item;
    std::string_view raw;
    if (element.get_object().get(item) || item.raw_json().get(raw) || item.reset().error()) return false;
    std::string id;
    if (!read_id(item, id)) return false;
    if (id.empty()) continue;
    raw = without_trailing_blanks(raw);
    items.push_back(ListItem{std::move(id), page.substr(static_cast<size_t>(raw.data() - copy), raw.size())});
  }
  return true;
}

}  // namespace

ScannedMember scan_string_member(std::string_view json, std::string_view wanted) {
  return scan_members<1>(json, {wanted}).front();
}

std::array<ScannedMember, 2> scan_string_members(std::string_view json, const std::array<std::string_view, 2>& wanted) {
  return scan_members<2>(json, wanted);
}

// Colons are rarer than quotes and letters, and 16 bytes at a time most bytes are none.
bool may_have_member(std::string_view json, std::span<const std::string_view> names) {
  using sixteen_bytes::Block;
  if (has_spelled_letter(json)) return true;
  const WantedNames wanted(names);
  size_t at = 2;                                             // of a colon before that nothing is the name
  const auto is_among = [&](uint64_t colons, size_t from) {  // a byte of ones for each of eight
    for (colons &= eight_bytes::kHighBits; colons != 0; colons &= colons - 1) {
      if (wanted.has_before(json, from + static_cast<size_t>(std::countr_zero(colons)) / 8)) return true;
    }
    return false;
  };
  for (; at + sizeof(Block) <= json.size(); at += sizeof(Block)) {
    const auto colons = sixteen_bytes::words_of(wanted.may_stand_before(json.data() + at));
    if ((colons[0] | colons[1]) == 0) continue;
    if (is_among(colons[0], at) || is_among(colons[1], at + 8)) return true;
  }
  for (; at < json.size(); ++at) {
    if (json[at] == ':' && wanted.has_before(json, at)) return true;
  }
  return false;
}

std::vector<ListItem> list_items(std::string_view page) {
  page = without_byte_order_mark(page);
  ondemand::parser parser;
  const simdjson::padded_string text(page);
  std::vector<ListItem> items;
  size_t lists = 0;
  const bool intact = visit_top_members(parser, text, [&](std::string_view name, ondemand::value value) {
    return name != "value" || (++lists == 1 && read_items(value, text.data(), page, items));
  });
  if (!intact) items.clear();
  return items;
}

}  // namespace armgate
