// option_checks.h – what the texts of options must be: each check gives a complaint, or nothing, and may bring the text into
// its canonical form (rules::TextCheck).
#pragma once

#include <optional>
#include <string>

namespace armgate {

std::optional<std::string> check_listen(std::string& text);
std::optional<std::string> check_optional_listen(std::string& text);
std::optional<std::string> check_target(std::string& text);
std::optional<std::string> check_host(std::string& text);
std::optional<std::string> check_host_pattern(std::string& text);
std::optional<std::string> check_destination(std::string& text);
std::optional<std::string> check_proxy(std::string& text);
std::optional<std::string> check_no_proxy(std::string& text);
std::optional<std::string> check_optional_engine(std::string& text);
std::optional<std::string> check_not_empty(std::string& text);

}  // namespace armgate
