#include "proxy/cli_status.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

namespace armgate {
namespace {

std::string time_text(int64_t milliseconds) {
  const int64_t seconds = milliseconds / 1000;
  if (seconds < 60) return fmt::format("{}.{} s", seconds, milliseconds % 1000 / 100);
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
}

std::string text_of(const nlohmann::json& status) {
  const auto config = status.at("config").get<std::string>();
  const auto did = status.at("summary").get<std::string>();
  std::string text = fmt::format("armgate {}, mode {}, {} rules, configuration from {}\n",
                                 status.at("version").get<std::string>(), status.at("mode").get<std::string>(),
                                 status.at("rules").get<size_t>(), config.empty() ? "the built-in defaults" : config);
  const auto connections = status.at("connections").get<size_t>();
  text += fmt::format("up {}, {} connection{}{}\n", time_text(status.at("up_ms").get<int64_t>()), connections,
                      connections == 1 ? "" : "s", status.at("draining").get<bool>() ? "; it ends and takes no new ones" : "");
  text += did.empty() ? fmt::format("{} requests to ARM, all passed on as they were\n", status.at("requests").get<size_t>())
                      : did + "\n";
  const auto& writes = status.at("writes");
  if (writes.empty()) text += "no write runs or waits\n";
  for (const auto& write : writes) {
    text += fmt::format("{:5}  {:>12}  {}  {}\n", write.at("state").get<std::string>(),
                        time_text(write.at("since_ms").get<int64_t>()), write.at("client").get<std::string>(),
                        write.at("what").get<std::string>());
  }
  if (const auto more = status.at("writes_left_out").get<size_t>(); more > 0) text += fmt::format("and {} more\n", more);
  return text;
}

std::string text_of_unlocked(const nlohmann::json& answer) {
  std::string text;
  for (const auto& write : answer.at("released")) {
    text += fmt::format("released after {}: {}, of {}\n", time_text(write.at("held_ms").get<int64_t>()),
                        write.at("what").get<std::string>(), write.at("client").get<std::string>());
  }
  if (answer.at("on_its_way").get<bool>()) {
    text += "another write is on its way to ARM and still has it: it ends with ARM's answer, or when that does not come\n";
  }
  return text;
}

Result<std::string> read(std::string_view json, std::string (*into_text)(const nlohmann::json&)) {
  try {
    return into_text(nlohmann::json::parse(json));
  } catch (const nlohmann::json::exception& wrong) {
    return gateway_error(ErrorKind::Unreachable,
                         fmt::format("what answers at listen.admin gives no status that can be read: {}", wrong.what()));
  }
}

}  // namespace

Result<std::string> status_text(std::string_view json) { return read(json, text_of); }

Result<std::string> unlocked_text(std::string_view json) { return read(json, text_of_unlocked); }

}  // namespace armgate
