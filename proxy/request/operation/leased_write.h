// leased_write.h – what a write leaves behind that runs on: what is held of it, and where its end is to be seen.
//
// Used for a write that was just answered, and for one of an earlier process of which only its plan and its record are left.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "arm/long_running.h"
#include "arm/resource_id.h"
#include "proxy/request/parts.h"
#include "proxy/state/lock/operation_leases.h"
#include "rules/plan.h"

namespace armgate {

// Whether its client may have another such write running on the resource. An action or a delete is not taken back by the next.
bool may_run_beside_its_own(const rules::Plan& plan);

// Where another resource can be read: only of the same provider's is the api-version known. Nothing for any other, and for the
// write's own.
std::optional<std::string> target_of_neighbour(const rules::Plan& plan, const arm::ResourceId& other);

// How the end of a write is found that may be running although no answer says so: by the resource itself.
arm::Tracking tracked_by_resource(const rules::Plan& plan);

// Adds to what is known of the leased write (planned, because, method, host, tracking) what follows from its plan and its
// target: where it can be looked at, for how long it is held, and what must be in a final state at its end. Alerts if its
// operation is at a host to which no token is sent (`intercept`).
void complete_from_plan(const Parts& parts, std::string_view target, LeasedWrite& leased);

// The URL of the operation for people: operation URLs are signed in their query, which is a secret of a kind.
std::string url_for_people(const arm::Tracking& tracking);

// What a write has changed, as far as others must know.
struct Change {
  Hash128 write_key{};                          // see write_key_of()
  policy::SharedBody requested_body;            // what it asked for; null: not kept
  bool certain = true;                          // false: it may have had no effect
  std::optional<policy::MergedWrite> merged{};  // if that is not what its client asked for
  bool knows_merges = false;                    // its client knows of what was merged into its earlier writes
  bool asked_for_all = false;                   // that is a whole resource
  std::string if_match{};                       // that it was sent with
};

// From now on everybody knows that it may have changed what it names, also who waits for a parent.
void note_may_have_changed(const Parts& parts, const LeasedWrite& leased, const Change& change, Moment now);

}  // namespace armgate
