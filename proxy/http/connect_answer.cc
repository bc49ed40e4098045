#include "proxy/http/connect_answer.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace armgate::http {
namespace {

constexpr size_t kQuotedMax = 100;
constexpr std::string_view kLineEnd = "\r\n";
constexpr size_t kStatusAt = 9;  // behind "HTTP/1.1 "
constexpr size_t kStatusDigits = 3;

std::string quoted(std::string_view text) { return printable(trim(text).substr(0, kQuotedMax)); }

std::string first_word(std::string_view text) { return quoted(text.substr(0, text.find(' '))); }

bool read_status_line(std::string_view line, ConnectAnswer& answer) {
  if (!line.starts_with("HTTP/1.") || line.size() < kStatusAt + kStatusDigits) return false;
  line.remove_prefix(kStatusAt);
  const auto [end, error] = std::from_chars(line.data(), line.data() + kStatusDigits, answer.status);
  if (error != std::errc{} || end != line.data() + kStatusDigits || answer.status < 100) return false;
  answer.reason = quoted(line.substr(kStatusDigits));
  return true;
}

void read_field(std::string_view line, ConnectAnswer& answer) {
  const size_t colon = line.find(':');
  if (colon == line.npos) return;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim(line.substr(colon + 1));
  if (equal_ignoring_case(name, "Proxy-Authenticate")) answer.schemes.push_back(first_word(value));
  if (equal_ignoring_case(name, "X-Squid-Error")) answer.proxy_error = first_word(value);
}

}  // namespace

std::optional<ConnectAnswer> parse_connect_answer(std::string_view head) {
  ConnectAnswer answer;
  if (!head.ends_with("\r\n\r\n")) return std::nullopt;
  for (bool is_first = true; !head.empty(); is_first = false) {
    const size_t end = head.find(kLineEnd);
    const std::string_view line = head.substr(0, end);
    if (!is_first) read_field(line, answer);
    if (is_first && !read_status_line(line, answer)) return std::nullopt;
    head.remove_prefix(end + kLineEnd.size());
  }
  return answer;
}

}  // namespace armgate::http
