// long_running.h – how the end of a write is recognised (docs/arm.md, "Long-running operations" and
// "Traps of operations"). Pure functions from messages to facts; who polls and how often is decided elsewhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "arm/http.h"
#include "base/time.h"

namespace armgate::arm {

// By what the end of an accepted write will be known, in order of trust.
enum class TrackedBy {
  Nothing,        // it is finished: the answer was final
  StatusUrl,      // Azure-AsyncOperation (or Operation-Location)
  LocationUrl,    // Location
  ResourceState,  // GET of the resource until provisioningState is terminal
  ResourceGone,   // DELETE: GET of the resource until 404
};

// At an operation URL of ARM's.
inline bool is_at_url(TrackedBy by) { return by == TrackedBy::StatusUrl || by == TrackedBy::LocationUrl; }

struct Tracking {
  TrackedBy by = TrackedBy::Nothing;
  std::string status_url;    // absolute, as received; empty if none
  std::string location_url;  // absolute, as received; empty if none or if it names no operation
  std::string state{};       // the provisioningState that the answer showed; empty: none
};

// What the 2xx answer to a write (PUT, PATCH, DELETE, POST) says about its operation.
//   - Azure-AsyncOperation wins whatever the status and whatever provisioningState says: DELETE 200 with it, PUT 200
//     "Succeeded" with it are running (observed: NIC delete, load balancer and subnet PUT).
//   - PUT/PATCH 200/201 with a non-terminal provisioningState and no URL is tracked by the resource's state (observed:
//     VM PUT 200 "Updating").
//   - A relative Location, or on 200/201 a Location without Azure-AsyncOperation and with a terminal or absent
//     provisioningState, names no operation (observed: managed identity 201 with a relative Location).
//   - A status header that is no absolute https URL still means that the write runs: then as without a URL.
//   - 202 without any URL: PUT/PATCH by the resource's state, DELETE until it is gone, POST: nothing to track.
Tracking tracking_of(Method method, const ResponseHead& head, std::string_view body);
// The same, if the body's provisioningState is known already.
Tracking tracking_of_state(Method method, const ResponseHead& head, const std::optional<std::string>& state);

enum class Progress {
  Running,
  Succeeded,
  Failed,
  Canceled,
  Unknown,  // this answer says nothing about the operation (429, 5xx, unreadable)
  Missing,  // 404 or 410: three in a row on an operation URL mean "ask the resource"
};

inline bool has_failed(Progress p) { return p == Progress::Failed || p == Progress::Canceled; }
inline bool is_terminal(Progress p) { return p == Progress::Succeeded || has_failed(p); }

std::string_view to_text(Progress progress);  // "Succeeded"; "unknown" for what is not terminal

// properties.provisioningState, as written; nothing if absent.
std::optional<std::string> provisioning_state(std::string_view json);

// Succeeded, Failed, Canceled, also "Cancelled" and "Completed", in any case; every other non-empty word is Running.
Progress progress_of_word(std::string_view state);

// The answer of an Azure-AsyncOperation URL: {"status": ...}, else a provisioningState; 202 without either is Running.
Progress progress_of_status_url(const ResponseHead& head, std::string_view body);

// The answer of a Location URL: 202 Running; 200/201/204 Succeeded unless a body says status Failed or Canceled
// (observed) or is a resource whose provisioningState says otherwise (observed: a Location that is the resource
// itself); 401, 403 and 408 are about the reading: Unknown; other 4xx Failed.
Progress progress_of_location_url(const ResponseHead& head, std::string_view body);

// The answer of a GET of the resource after a PUT or PATCH: provisioningState; absent on 200 = Succeeded.
Progress progress_of_resource(const ResponseHead& head, std::string_view body);

// The answer of a GET of the resource after a DELETE: 404 = Succeeded, 200 = Running.
Progress progress_of_deleted_resource(const ResponseHead& head);

// The last segment of the operation's URL, by which all its polls are of one operation; empty: it has no URL.
std::string operation_id(const Tracking& tracking);

}  // namespace armgate::arm
