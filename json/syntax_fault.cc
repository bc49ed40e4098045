#include "json/syntax_fault.h"

#include <fmt/format.h>

#include <algorithm>

#include "json/tree.h"

namespace armgate {
namespace {

using nlohmann::json;

constexpr size_t kClosingMax = 16;  // brackets that a person may be told to add

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_printable(char c) { return c > ' ' && c < '\x7f'; }

// What a look at the brackets, texts and comments before a place tells.
struct Before {
  std::string open;       // brackets that nothing closes, the outermost first
  char last = 0;          // the last character that is neither space nor comment
  bool in_text = false;   // a text has begun and not ended
  bool in_block = false;  // a comment
};

Before read_before(std::string_view text) {
  Before found;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_comment = text.substr(i).starts_with("//") || text.substr(i).starts_with("/*");
    if (is_comment || c == '"') {
      const size_t end = is_comment ? end_of_comment(text, i) : end_of_string(text, i);
      if (end == text.npos) (is_comment ? found.in_block : found.in_text) = true;
      if (!is_comment) found.last = c;
      i = std::min(end, text.size()) - 1;
    } else if (!is_space(c)) {
      if (c == '{' || c == '[') found.open.push_back(c);
      if ((c == '}' || c == ']') && !found.open.empty()) found.open.pop_back();
      found.last = c;
    }
  }
  return found;
}

std::string closing(std::string open) {
  std::reverse(open.begin(), open.end());
  for (char& c : open) c = c == '{' ? '}' : ']';
  return open;
}

// Of a text that ends before the JSON does.
std::string words_for_end(std::string_view text) {
  const Before all = read_before(text);
  if (all.in_block) return "a comment that begins with /* has no end; add */";
  if (all.in_text) return "a text has no end; close it with '\"'";
  if (all.last == 0) return "there is nothing in it; write an object, {} at least";
  if (all.open.size() > kClosingMax) return fmt::format("it ends too early; {} brackets in it are open", all.open.size());
  if (!all.open.empty()) return fmt::format("it ends too early; what is open needs \"{}\" at the end", closing(all.open));
  return "it ends too early";
}

// Of a character where another one was expected. `said`: what the parser makes of it.
std::string words_for(std::string_view text, size_t place, std::string_view said) {
  const auto says = [said](std::string_view part) { return said.find(part) != said.npos; };
  const char c = text[place];
  // NUL and the two bytes of a UTF-16 byte order mark stand in no text that an editor has saved as UTF-8.
  if (says("UTF-8") || c == '\0' || c == '\xFE' || c == '\xFF')
    return "it has bytes that are not UTF-8; save the file as UTF-8";
  if (says("control character"))
    return "a text has a line end or a control character in it; close it with '\"', or write \\n or \\t";
  if (says("forbidden character after backslash") || says("'\\u'"))
    return "a backslash in a text stands before what it cannot stand before; write \\\\ for a backslash";
  if (says("invalid comment")) return "a comment begins with // or stands between /* and */";
  const Before before = read_before(text.substr(0, place));
  if ((c == ']' || c == '}') && before.last == ',')
    return fmt::format("a comma stands before '{}' with nothing behind it; remove the comma", c);
  if (c == '\'') return "names and texts stand in double quotes, \"...\", not in single ones; replace them";
  if (c == '#') return "a comment begins with // or stands between /* and */, not with '#'";
  if (says("expected end of input"))
    return "something stands behind the end of the object; a file is one object: remove it, or put it in";
  if (says("expected ':'") || says("object separator")) return "':' is missing between a key and its value";
  if (says("expected ']'") || says("expected '}'")) {
    if (c == ']' || c == '}') return fmt::format("'{}' closes what was opened with another bracket, or is one too many", c);
    return "',' is missing before this, or a bracket that closes what stands before";
  }
  if (says("object key")) return "a key is a text in double quotes, \"...\"; write it so";
  if (says("invalid number")) return "this is no number of JSON; write it as 7, 1.5 or 2e3, or as a text in double quotes";
  if (says("invalid literal"))
    return "a text stands in double quotes, \"...\"; true, false and null are all that stands without";
  if (is_printable(c)) return fmt::format("'{}' cannot stand here; see what is missing before it", c);
  return "this cannot stand here; see what is missing before it";
}

SyntaxFault at(std::string_view text, size_t place, std::string message) {
  const auto before = text.substr(0, place);
  const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return {1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')), static_cast<int>(place - line_begin) + 1,
          std::move(message)};
}

// The library names only the text of a number that is too large for a double: "... parsing '1e400'".
SyntaxFault huge_number(std::string_view text, std::string_view said) {
  const size_t open = said.find('\'');
  const size_t close = said.rfind('\'');
  const auto number = open == said.npos || open == close ? std::string_view() : said.substr(open + 1, close - open - 1);
  const size_t place = number.empty() ? text.npos : text.find(number);
  return at(text, place == text.npos ? 0 : place, fmt::format("the number {} is too large; write a smaller one", number));
}

}  // namespace

size_t end_of_comment(std::string_view text, size_t at) {
  if (!text.substr(at).starts_with("/*")) return std::min(text.find('\n', at), text.size());
  const size_t end = text.find("*/", at + 2);
  return end == text.npos ? text.npos : end + 2;
}

size_t end_of_string(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"';) at += text[at] == '\\' ? 2 : 1;
  return at < text.size() ? at + 1 : text.npos;
}

SyntaxFault syntax_fault_in(std::string_view text) {
  try {
    [[maybe_unused]] const json good = json::parse(text, nullptr, true, true);
  } catch (const json::parse_error& error) {
    const size_t place = std::min(text.size(), error.byte > 0 ? error.byte - 1 : 0);
    return at(text, place, place == text.size() ? words_for_end(text) : words_for(text, place, error.what()));
  } catch (const json::out_of_range& error) {
    return huge_number(text, error.what());
  }
  return {};
}

}  // namespace armgate
