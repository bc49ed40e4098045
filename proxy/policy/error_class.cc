#include "proxy/policy/error_class.h"

#include <algorithm>
#include <utility>

#include "arm/arm_error.h"
#include "arm/throttle.h"
#include "arm/url.h"

namespace armgate::policy {
namespace {

constexpr size_t kNamedMax = 4;
constexpr std::string_view kEndsOfUrl = " \t\r\n\"'<>";
constexpr std::string_view kEndsOfId = " \t\r\n\"'<>,;:";

// From `start` to one of `ends`, without the sentence's own punctuation.
std::string_view word_at(std::string_view text, size_t start, std::string_view ends) {
  std::string_view word = text.substr(start);
  word = word.substr(0, word.find_first_of(ends));
  while (!word.empty() && (word.back() == '.' || word.back() == ',')) word.remove_suffix(1);
  return word;
}

// Network names the operation in its message: "... To retrieve status of the operation use uri: https://...?api-version=...".
std::string url_in(std::string_view message) {
  const size_t start = message.find("https://");
  if (start == std::string_view::npos) return {};
  const std::string_view url = word_at(message, start, kEndsOfUrl);
  return arm::parse_url(url) ? std::string(url) : std::string();
}

// "Cannot proceed with operation because resource /subscriptions/... used by resource /subscriptions/... is not in Succeeded
// state." (Network). The paths of URLs are none of them.
void collect_ids(std::string_view message, std::vector<arm::ResourceId>& found) {
  constexpr std::string_view kStart = "/subscriptions/";
  for (size_t at = message.find(kStart); at != message.npos && found.size() < kNamedMax; at = message.find(kStart, at + 1)) {
    const bool begins_a_word = at == 0 || kEndsOfId.find(message[at - 1]) != kEndsOfId.npos;
    auto id = begins_a_word ? arm::parse_resource_id(word_at(message, at, kEndsOfId)) : std::nullopt;
    if (id && std::find(found.begin(), found.end(), *id) == found.end()) found.push_back(*std::move(id));
  }
}

std::string loggable(std::string_view message) {
  constexpr size_t kLoggedMax = 300;
  std::string text;
  bool in_query = false;
  for (const char c : message.substr(0, kLoggedMax)) {
    in_query = in_query ? kEndsOfUrl.find(c) == kEndsOfUrl.npos : c == '?';
    if (!in_query) text.push_back(c);
  }
  return text;
}

// Network's real reason stands in its first detail.
std::string loggable(const arm::ArmError& error) {
  const bool says_more = !error.detail_messages.empty() && !error.detail_messages.front().empty();
  return loggable(says_more ? error.message + " " + error.detail_messages.front() : error.message);
}

void read_messages(const arm::ArmError& error, ErrorFacts& facts) {
  const auto read = [&facts](std::string_view message) {
    message = message.substr(0, rules::ErrorTable::kMessageScanMax);
    if (!facts.come_back) facts.come_back = arm::retry_hint_in_message(message);
    if (facts.operation_url.empty()) facts.operation_url = url_in(message);
    const bool may_name = facts.kind == rules::ErrorClass::Dependency || facts.kind == rules::ErrorClass::Propagation;
    if (may_name) collect_ids(message, facts.named);
  };
  read(error.message);
  for (const std::string& message : error.detail_messages) read(message);
}

}  // namespace

ErrorFacts classify_error(const rules::ErrorTable& table, const arm::ResponseHead& head, std::string_view body,
                          rules::OwnPrecondition own, WallTime now) {
  ErrorFacts facts;
  if (head.status < 400) return facts;
  const auto error = arm::parse_error(body);
  if (!error) return facts;
  facts.code = error->code;
  const rules::ErrorRule* rule = table.find(head, *error, own);
  const bool final = rule == nullptr || rule->kind == rules::ErrorClass::Final;
  if (!final || head.status == 412) facts.message = loggable(*error);
  if (final) return facts;
  facts.kind = rule->kind;
  facts.visibility = rule->visibility;
  facts.come_back = arm::retry_after(head.fields, now);
  read_messages(*error, facts);
  return facts;
}

}  // namespace armgate::policy
