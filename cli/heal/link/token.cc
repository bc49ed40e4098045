#include "cli/heal/link/token.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "json/tree.h"

namespace armgate::heal {
namespace {

// Without what stands around it: files and pipes that a token comes from end with a line end.
std::string given_in(const Environment& environment) {
  const auto found = environment.find(kTokenVariable);
  if (found == environment.end()) return {};
  constexpr std::string_view kSpaces = " \t\r\n";
  const std::string& text = found->second;
  const size_t begin = text.find_first_not_of(kSpaces);
  return begin == text.npos ? std::string() : text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

bool is_printable(char c) { return c > ' ' && c < '\x7f'; }

// It goes into a line of a request's head (RFC 6750, 2.1).
Result<std::string> checked(const std::string& token) {
  const auto bad = std::find_if_not(token.begin(), token.end(), is_printable);
  if (bad == token.end()) return token;
  return gateway_error(ErrorKind::BadInput,
                       fmt::format("the token in {} has the byte 0x{:02x} at place {}, which no token has: set it anew",
                                   kTokenVariable, static_cast<unsigned char>(*bad), bad - token.begin() + 1));
}

}  // namespace

Result<std::string> token_in(std::string_view printed) {
  const size_t begin = printed.find('{');
  const size_t end = printed.rfind('}');
  if (begin != printed.npos && end != printed.npos && begin < end) {
    const auto json = nlohmann::json::parse(printed.substr(begin, end - begin + 1), nullptr, false);
    if (json.is_object() && json.contains("accessToken") && json["accessToken"].is_string())
      return json["accessToken"].get<std::string>();
  }
  return gateway_error(ErrorKind::BadInput, "az printed no token");
}

Token::Token(const Environment& environment, std::string host, RunCommand run)
    : given_(given_in(environment)), host_(std::move(host)), run_(std::move(run)) {}

Result<std::string> Token::get() {
  if (!given_.empty()) return checked(given_);
  if (!token_.empty()) return token_;
  const auto printed =
      run_({"az", "account", "get-access-token", "--resource", fmt::format("https://{}/", host_), "--output", "json"});
  auto token = printed ? token_in(*printed) : Result<std::string>(printed.error());
  if (!token) {
    return gateway_error(ErrorKind::BadInput,
                         fmt::format("no token for ARM: {}; run `az login`, or set {}", token.error().context, kTokenVariable));
  }
  token_ = *std::move(token);
  return token_;
}

bool Token::expired() {
  token_.clear();
  return given_.empty();
}

}  // namespace armgate::heal
