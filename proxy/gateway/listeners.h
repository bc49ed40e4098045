// listeners.h – the addresses at which a gateway listens: as they are configured, and as they were bound. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace armgate {

// The ports that were bound: with port 0 in the configuration, the first loop's choice holds for all.
struct ListenerPorts {
  uint16_t proxy = 0;
  uint16_t direct = 0;
  uint16_t admin = 0;
};

// Of "host:port" or "[v6]:port" as a validated configuration has it: the host without brackets, and the port.
std::pair<std::string, uint16_t> split_address(const std::string& text);

// "host:port" with the port that was really bound.
std::string listener_text(const std::string& configured, uint16_t port);

}  // namespace armgate
