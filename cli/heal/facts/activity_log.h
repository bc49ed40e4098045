// activity_log.h – what the activity log says of a cluster: how often the scale set of its pool could not be written, and since
// when its operation runs.
//
// Why: AKS writes the scale set itself, so no gateway sees these failures (docs/requirements.md, W4).
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace armgate::heal {

struct LogEvent {
  WallTime at{};
  std::string resource;       // as logged
  std::string operation;      // operationName.value
  std::string status;         // status.value
  std::string code;           // error.code in properties.statusMessage; empty: none that can be read
  std::string correlation{};  // correlationId: the same in all events of an operation
};

struct LogPage {
  std::vector<LogEvent> events;
  std::string next;  // nextLink; empty: the last page
};

// A page that is no page is an error; of an event whose message cannot be read, the code is empty.
Result<LogPage> read_log_page(std::string_view json);

// The target that asks for what happened to resources of this group between two moments.
std::string log_target(std::string_view subscription, std::string_view group, WallTime from, WallTime until);

inline constexpr std::string_view kStormCode = "NetworkingInternalOperationError";

// Failed writes of the scale set of this pool with that code.
size_t storm_failures(const std::vector<LogEvent>& events, std::string_view pool);

// When the newest operation began that is not logged to have ended: on the cluster, or on something of it, for a write of a
// pool keeps the cluster as well. Nothing: none is logged. An operation has ended with the first Succeeded, Failed or Canceled
// of its correlation, name and resource; one client may begin several under one correlation.
std::optional<WallTime> latest_start(const std::vector<LogEvent>& events, std::string_view cluster_id);

}  // namespace armgate::heal
