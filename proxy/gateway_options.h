// gateway_options.h – the configuration, cut into the small options of each part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/hash.h"
#include "proxy/config.h"
#include "proxy/journal/journal.h"
#include "proxy/net/intercept.h"
#include "proxy/net/server.h"
#include "proxy/net/upstream_pool.h"
#include "proxy/stages/parts.h"

namespace armgate {

// The ports that were bound: with port 0 in the configuration, the first loop's choice holds for all.
struct DoorPorts {
  uint16_t proxy = 0;
  uint16_t direct = 0;
  uint16_t admin = 0;
};

PipelineOptions pipeline_options(const Config& config);
ClientTable::Options client_options(const Config& config);
ResourceTable::Options resource_options(const Config& config);
LockTable::Options lock_options(const Config& config);
Tickets::Options ticket_options(const Config& config);
journal::Journal::Options journal_options(const Config& config);
using Parent = std::optional<net::ParentProxy>;
net::UpstreamOptions upstream_options(const Config& config, const Parent& parent);
net::ConnectorOptions tunnel_options(const Config& config, const Parent& parent);
net::InterceptOptions intercept_options(const Config& config);

// `bound`: the port if it is known already, else 0.
net::ServerOptions proxy_door(const Config& config, uint16_t bound);
std::optional<net::ServerOptions> direct_door(const Config& config, uint16_t bound);
std::optional<net::ServerOptions> admin_door(const Config& config);

// Of "host:port" or "[v6]:port" as a validated configuration has it: the host without brackets, and the port.
std::pair<std::string, uint16_t> split_address(const std::string& text);

// "host:port" with the port that was really bound.
std::string door_text(const std::string& configured, uint16_t port);

// From the system's secure random source.
HashKey random_hash_key();

}  // namespace armgate
