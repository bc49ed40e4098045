// options.h – the configuration, cut into the small options of each part.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "proxy/config/config.h"
#include "proxy/net/upstream/upstream_pool.h"
#include "proxy/request/parts.h"

namespace armgate {

namespace net {
struct InterceptOptions;
struct ServerOptions;
}  // namespace net

// All rules of the files.
std::shared_ptr<const rules::Ruleset> ruleset_of(const Config& config);

PipelineOptions pipeline_options(const Config& config);
ClientTable::Options client_options(const Config& config);
ResourceTable::Options resource_options(const Config& config);
LockTable::Options lock_options(const Config& config);
Reservations::Options reservation_options(const Config& config);
OperationResults::Options result_options(const Config& config);
// Those of all shared tables.
SharedState::Options shared_options(const Config& config);
Budgets::Options budget_options(const Config& config);
using Parent = std::optional<net::ParentProxy>;
net::UpstreamOptions upstream_options(const Config& config, const Parent& parent);
net::ConnectorOptions tunnel_options(const Config& config, const Parent& parent);
net::InterceptOptions intercept_options(const Config& config);

// `bound`: the port if it is known already, else 0.
net::ServerOptions proxy_listener(const Config& config, uint16_t bound);
std::optional<net::ServerOptions> direct_listener(const Config& config, uint16_t bound);
std::optional<net::ServerOptions> admin_listener(const Config& config);

}  // namespace armgate
