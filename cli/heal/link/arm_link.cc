#include "cli/heal/link/arm_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

namespace armgate::heal {
namespace {

// A Retry-After in seconds. Longer than a day is a day: every step ends before.
Duration seconds_in(std::string_view text) {
  constexpr int64_t kMost = 86'400;
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && seconds >= 0;
  return is_number ? std::chrono::seconds(std::min(seconds, kMost)) : Duration{};
}

// The path and query of a whole URL; empty if there is none.
std::string target_of_url(std::string_view url) {
  constexpr std::string_view kScheme = "https://";
  const size_t path = url.starts_with(kScheme) ? url.find('/', kScheme.size()) : url.npos;
  return path == url.npos ? std::string() : std::string(url.substr(path));
}

}  // namespace

ArmLink::ArmLink(Through through, std::string host, Token token, std::string run)
    : through_(std::move(through)), host_(std::move(host)), token_(std::move(token)), run_(std::move(run)) {}

Result<arm::Response> ArmLink::send_once(const Write& write, const std::string& token) {
  arm::Request request;
  request.head.method = write.method;
  request.head.method_token = arm::to_text(write.method);
  request.head.target = write.target;
  request.head.host = host_;
  request.head.fields.add("Accept", "application/json");
  request.head.fields.add("Authorization", "Bearer " + token);
  request.head.fields.add("User-Agent", "armgate-heal/" ARMGATE_VERSION);
  request.head.fields.add("x-ms-client-request-id", fmt::format("{}-{}", run_, ++sent_));
  if (!write.if_match.empty()) request.head.fields.add("If-Match", write.if_match);
  if (!write.if_none_match.empty()) request.head.fields.add("If-None-Match", write.if_none_match);
  if (!write.body.empty()) request.head.fields.add("Content-Type", "application/json");
  request.body = write.body;
  return send_through(through_, request);
}

Result<Reply> ArmLink::send(const Write& write) {
  for (bool is_last_try = false;; is_last_try = true) {
    const auto token = token_.get();
    if (!token) return token.error();
    auto answer = send_once(write, *token);
    if (!answer) return std::move(answer).error();
    if (answer->head.status == 401 && !is_last_try && token_.expired()) continue;
    return Reply{answer->head.status, std::move(answer->body), seconds_in(answer->head.fields.get("Retry-After")),
                 target_of_url(answer->head.fields.get("Azure-AsyncOperation"))};
  }
}

}  // namespace armgate::heal
