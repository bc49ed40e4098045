// service_listener.h – the way through the running service for a run's requests.
#pragma once

#include <filesystem>
#include <string>

#include "cli/link/send_through.h"

namespace armgate {
struct Config;
}  // namespace armgate

namespace armgate::heal {

// `client` is the name under which they go, `root` armgate's certificate.
Through service_listener(const Config& config, const std::filesystem::path& root, const std::string& client);

}  // namespace armgate::heal
