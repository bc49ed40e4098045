#include "proxy/gateway/listeners.h"

#include <fmt/format.h>

#include <charconv>

#include "base/check.h"

namespace armgate {

std::pair<std::string, uint16_t> split_address(const std::string& text) {
  const size_t colon = text.rfind(':');
  GATE_CHECK(colon != std::string::npos, "an address without a port passed validation");
  std::string host = text.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  uint16_t port = 0;
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  return {std::move(host), port};
}

std::string listener_text(const std::string& configured, uint16_t port) {
  return fmt::format("{}:{}", configured.substr(0, configured.rfind(':')), port);
}

}  // namespace armgate
