#include "rules/file/error_table.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace armgate::rules {
namespace {

bool some_message_has(const arm::ArmError& error, std::string_view part) {
  const auto has = [part](std::string_view message) {
    return contains_ignoring_case(message.substr(0, ErrorTable::kMessageScanMax), part);
  };
  return has(error.message) || std::any_of(error.detail_messages.begin(), error.detail_messages.end(), has);
}

bool fits_message(const ErrorRule& rule, const arm::ArmError& error) {
  const auto said = [&error](const std::string& part) { return some_message_has(error, part); };
  const bool any = rule.message_any.empty() || std::any_of(rule.message_any.begin(), rule.message_any.end(), said);
  return any && std::all_of(rule.message_all.begin(), rule.message_all.end(), said);
}

bool fits_header(const ErrorRule& rule, const arm::Headers& fields) {
  if (rule.header_name.empty()) return true;
  const auto value = fields.find(rule.header_name);
  return value ? equal_ignoring_case(*value, rule.header_value) : rule.header_absent == ErrorRule::IfAbsent::Matches;
}

bool fits_error(const ErrorRule& rule, const arm::Headers& fields, const arm::ArmError& error) {
  const bool code = std::any_of(rule.codes.begin(), rule.codes.end(), [&](const auto& known) { return error.has_code(known); });
  return code && fits_header(rule, fields) && fits_message(rule, error);
}

bool fits(const ErrorRule& rule, const arm::ResponseHead& head, const arm::ArmError& error, OwnPrecondition own) {
  const bool status = std::find(rule.statuses.begin(), rule.statuses.end(), head.status) != rule.statuses.end();
  if (!status || (own == OwnPrecondition::Present && rule.clients == ErrorRule::ForClients::WithoutPrecondition)) return false;
  return fits_error(rule, head.fields, error);
}

std::optional<std::string> check_code(std::string& code) {
  const bool plain = std::all_of(code.begin(), code.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (plain && !code.empty() && code.size() <= 200) return std::nullopt;
  return "is not an error code such as \"AnotherOperationInProgress\"";
}

std::optional<std::string> check_part(std::string& part) {
  if (part.size() >= 5 && part.size() <= 200) return std::nullopt;
  return "is not a part of a message of 5 to 200 characters; shorter ones stand in any message";
}

std::optional<std::string> check_field_name(std::string& name) {
  name = lower_text(name);
  const auto is_token = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; };
  if (!name.empty() && std::all_of(name.begin(), name.end(), is_token)) return std::nullopt;
  return "is not the name of a header field such as \"x-ms-failure-cause\"";
}

}  // namespace

const ErrorRule* ErrorTable::find(const arm::ResponseHead& head, const arm::ArmError& error, OwnPrecondition own) const {
  const auto found =
      std::find_if(rules_.begin(), rules_.end(), [&](const ErrorRule& rule) { return fits(rule, head, error, own); });
  return found == rules_.end() ? nullptr : &*found;
}

const ErrorRule* ErrorTable::find_late(const arm::ArmError& error) const {
  // What is said with 429 alone is about requests, not about operations.
  const auto is_about_requests = [](const ErrorRule& rule) {
    return std::all_of(rule.statuses.begin(), rule.statuses.end(), [](int status) { return status == 429; });
  };
  const auto found = std::find_if(rules_.begin(), rules_.end(), [&](const ErrorRule& rule) {
    return !is_about_requests(rule) && fits_error(rule, {}, error);
  });
  return found == rules_.end() ? nullptr : &*found;
}

std::optional<Duration> pause_after(const Visibility& visibility, int sendings) {
  Duration pause = std::min<Duration>(std::chrono::milliseconds(500), visibility.every);
  Duration left = visibility.every * std::max(visibility.tries - 1, 0);
  for (int sent = 1; sent < sendings && left > Duration{}; ++sent) {
    left -= std::min(pause, left);
    pause = std::min(pause * 2, visibility.every);
  }
  if (left <= Duration{}) return std::nullopt;
  return std::min(pause, left);
}

SettingTable settings_of(ErrorRule& rule) {
  using Class = ErrorClass;
  using Absent = ErrorRule::IfAbsent;
  using Clients = ErrorRule::ForClients;
  return {
      {"/class",
       choice(&rule.kind, {{"busy", Class::Busy},
                           {"dependency", Class::Dependency},
                           {"superseded", Class::Superseded},
                           {"propagation", Class::Propagation},
                           {"final", Class::Final}}),
       "what the answer means; \"final\" passes it through, whatever a later entry says", Need::Required},
      {"/status", WholeNumberList{&rule.statuses, 400, 599}, "the statuses it comes with", Need::Required},
      {"/codes", TextList{&rule.codes, check_code, 1},
       "error codes, compared without case with error.code, code, Code and the codes of details", Need::Required},
      {"/message/contains_any", TextList{&rule.message_any, check_part, 1}, "parts of the message, one of which must be there"},
      {"/message/contains_all", TextList{&rule.message_all, check_part, 1}, "parts of the message that must all be there"},
      {"/header/name", Text{&rule.header_name, check_field_name}, "a header field of the answer that must say \"value\""},
      {"/header/value", Text{&rule.header_value, {}}, "what the header field must say, compared without case"},
      {"/header/if_absent", choice(&rule.header_absent, {{"matches", Absent::Matches}, {"matches-not", Absent::MatchesNot}}),
       "what it means if the answer has no such header field"},
      {"/evidence",
       choice(&rule.visibility.evidence, {{"group", Evidence::Group},
                                          {"parent", Evidence::Parent},
                                          {"named", Evidence::Named},
                                          {"referenced", Evidence::Referenced},
                                          {"principal", Evidence::Principal},
                                          {"role", Evidence::Role}}),
       "of class propagation: what armgate must have seen come into being"},
      {"/visibility/every", TimeSpan{&rule.visibility.every, std::chrono::milliseconds(100), std::chrono::minutes(5)},
       "the pause between tries while it is not known everywhere"},
      {"/visibility/tries", WholeNumber{&rule.visibility.tries, 0, 1000},
       "how many tries, the longest pause apart, the wait may last; 0: there is none"},
      {"/visibility/window", TimeSpan{&rule.visibility.window, std::chrono::seconds(0), std::chrono::hours(24)},
       "how long after it came into being it may be unknown somewhere"},
      {"/clients", choice(&rule.clients, {{"all", Clients::All}, {"without-precondition", Clients::WithoutPrecondition}}),
       "whether it counts also for a client that sent a precondition of its own"},
  };
}

void check_error_rule(const ErrorRule& rule, const std::string& pointer, const JsonPositions& positions, FaultList& faults) {
  const auto fault = [&](const std::string& below, std::string message) {
    const std::string place = pointer + below;
    faults.push_back({rule.place.file, positions.line_of(place), place, std::move(message)});
  };
  const auto stale = std::find(rule.statuses.begin(), rule.statuses.end(), 412);
  const bool tells_apart = rule.kind == ErrorClass::Busy && !(rule.message_any.empty() && rule.message_all.empty());
  if (stale != rule.statuses.end() && !tells_apart) {
    fault("/status/" + std::to_string(stale - rule.statuses.begin()),
          "412 is the answer to a precondition, which is either armgate's or the client's own business; only \"busy\" with a "
          "\"message\" that tells it from one can name it");
  }
  const bool repeats = rule.kind != ErrorClass::Final;
  const auto vague =
      std::find_if(rule.statuses.begin(), rule.statuses.end(), [](int status) { return status == 408 || status >= 500; });
  if (repeats && vague != rule.statuses.end()) {
    fault("/status/" + std::to_string(vague - rule.statuses.begin()),
          "does not prove that the request had no effect, so nothing may be sent again; only \"final\" can name it");
  }
  if (rule.header_name.empty() && (!rule.header_value.empty() || rule.header_absent == ErrorRule::IfAbsent::Matches)) {
    fault("/header", "says what a field means but not which; add \"name\"");
  }
}

}  // namespace armgate::rules
