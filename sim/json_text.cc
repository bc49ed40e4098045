#include "sim/json_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <utility>

#include "json/document.h"
#include "json/tree.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;
namespace dom = simdjson::dom;

std::string dumped(const Json& value) { return dump_json(value, kOneLine, JsonLetters::AsTheyAre); }

// ASCII that dump() does not escape.
bool is_plain(char c) { return c >= ' ' && c != '"' && c != '\\'; }

// Eight characters at once: a byte's highest bit is set where it is below ' ', a quote, a backslash or no ASCII
// (the "haszero" of Anderson's Bit Twiddling Hacks; false alarms only where another byte is not plain anyway).
bool are_plain(const char* eight) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  uint64_t word = 0;
  std::memcpy(&word, eight, sizeof word);
  const auto has_zero = [](uint64_t bytes) { return (bytes - kOnes) & ~bytes; };
  const uint64_t found = (word - kOnes * 0x20) | word | has_zero(word ^ kOnes * '"') | has_zero(word ^ kOnes * '\\');
  return (found & kOnes * 0x80) == 0;
}

bool is_plain(const std::string& text) {
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    if (!are_plain(&text[at])) return false;
  }
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), [](char c) { return is_plain(c); });
}

void append_string(const std::string& text, std::string& out) {
  if (!is_plain(text)) {
    out += dumped(text);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

template <class Integer>
void append_integer(Integer number, std::string& out) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void append(const Json& value, std::string& out) {
  char before = '{';
  switch (value.type()) {
    case Json::value_t::object:
      if (value.empty()) out += '{';
      for (auto it = value.begin(); it != value.end(); ++it) {
        out += std::exchange(before, ',');
        append_string(it.key(), out);
        out += ':';
        append(*it, out);
      }
      out += '}';
      break;
    case Json::value_t::array:
      before = '[';
      if (value.empty()) out += '[';
      for (const Json& item : value) {
        out += std::exchange(before, ',');
        append(item, out);
      }
      out += ']';
      break;
    case Json::value_t::string: append_string(value.get_ref<const std::string&>(), out); break;
    case Json::value_t::number_integer: append_integer(value.get<int64_t>(), out); break;
    case Json::value_t::number_unsigned: append_integer(value.get<uint64_t>(), out); break;
    default: out += dumped(value);
  }
}

Json value_of(const dom::element& element) {
  switch (element.type()) {
    case dom::element_type::OBJECT: {
      Json object = Json::object();
      auto& members = object.get_ref<Json::object_t&>();
      // As parse() does: of two members of one name the last one counts.
      for (const auto member : dom::object(element)) members[std::string(member.key)] = value_of(member.value);
      return object;
    }
    case dom::element_type::ARRAY: {
      Json array = Json::array();
      for (const dom::element item : dom::array(element)) array.push_back(value_of(item));
      return array;
    }
    case dom::element_type::STRING: return std::string(std::string_view(element));
    case dom::element_type::INT64: {
      const int64_t number(element);
      if (number >= 0) return static_cast<uint64_t>(number);  // as parse() does
      return number;
    }
    case dom::element_type::UINT64: return uint64_t(element);
    case dom::element_type::DOUBLE: return double(element);
    case dom::element_type::BOOL: return bool(element);
    case dom::element_type::NULL_VALUE: return nullptr;
  }
  return nullptr;
}

}  // namespace

std::string json_text(const Json& value) {
  std::string text;
  text.reserve(1024);
  append(value, text);
  return text;
}

Json json_value(std::string_view text) {
  dom::parser parser;
  dom::element root;
  // What simdjson refuses may only be beyond it: numbers of more than 64 bits, a byte order mark.
  if (parser.parse(text.data(), text.size()).get(root)) return Json::parse(text, nullptr, false);
  return value_of(root);
}

}  // namespace armgate::sim
