#include "cli/heal/link/token.h"

#include <fmt/format.h>

#include <utility>

#include "json/tree.h"

namespace armgate::heal {
namespace {

std::string given_in(const Environment& environment) {
  const auto found = environment.find(kTokenVariable);
  return found == environment.end() ? std::string() : found->second;
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
  if (!given_.empty()) return given_;
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
