// pg_servers.h – the servers that a cluster's URL names, each with what libpq needs to reach it alone.
//
// Why: libpq tries them in order within one time, so that a first one that is silent leaves nothing for the others; and when it
// is driven step by step it keeps no connect_timeout.
// Threads   any.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace armgate::cluster {

struct Server {
  std::string name;  // for people
  std::vector<std::pair<std::string, std::string>> options;
  Duration within{};  // connect_timeout, else its share
};

// In their order; at least one. `within`: for all of them, where the URL has no connect_timeout. BadInput: libpq does not take
// the URL; the error has nothing of a password.
Result<std::vector<Server>> servers_of(const std::string& url, Duration within);

// Why whoever is between might read the password and what is told, or answer in the engine's place; nothing: that is not so.
std::optional<std::string> weak_transport(const std::string& url);

}  // namespace armgate::cluster
