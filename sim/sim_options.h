// sim_options.h – what a simulated ARM does, and what it saw.
//
// Why: the deterministic tests, the armsim server, the demo and the load test use one simulated ARM; they differ only
// in these values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "arm/http.h"
#include "base/time.h"
#include "sim/state_log.h"

namespace armgate::sim {

// Whether a second write is refused while an operation runs on the same entity.
enum class Exclusivity {
  Refuse,     // 409, as Compute and most of Network do
  Accept,     // taken at once, both run: the harm that a naive provider does
  Supersede,  // Network's other behaviour: the running operation ends Canceled, the new write wins (azure-cli#21156)
};

// What the answer to a PUT, and a GET during its operation, say about provisioningState.
enum class StateShown {
  Honest,     // Creating, Updating, Deleting
  Succeeded,  // the trap: Succeeded although Azure-AsyncOperation still runs (observed: load balancer, subnet)
};

// How a PUT or PATCH that replaces something tells that it still runs.
enum class UpdateAnnounced {
  StatusUrl,  // Azure-AsyncOperation
  StateOnly,  // the trap: 200 "Updating" and no header at all (observed: virtual machine update)
};

// When the end of an operation moves the ETag again.
enum class EtagAtEnd { Always, AfterCreate, Never };

// How a Location answers after its operation failed.
enum class FailureShown {
  Error,  // 409 and an error
  Ok,     // the trap: 200 and a body that says "Failed" (msrestazure#157)
};

// What a list shows of each resource.
enum class ListItems {
  Whole,  // what a point read shows
  Fewer,  // no ETag, no state and no location (observed in part: lists of several providers are views of their own)
};

// Escapes in operation URLs. Python's urllib3 writes them anew by itself (seen: "%2b" becomes "%2B", "%7e" becomes "~"),
// so its users cannot follow a URL whose very bytes are compared.
enum class UrlEscapes { Odd, None };

// How many requests of one kind are taken of a principal for a subscription. Size zero: as many as come.
struct Bucket {
  double size = 0;
  double each_second = 0;  // is refilled
};

struct SimOptions {
  std::string origin = "https://management.azure.com";  // of operation URLs and nextLink

  // How long operations last: of Compute and Network types, then per type ("microsoft.network/virtualnetworks/subnets",
  // "microsoft.compute/virtualmachinescalesets/restart", "microsoft.resources/resourcegroups", any other type). Zero:
  // the write is finished with its answer. Other types are synchronous unless named here.
  Duration operation = std::chrono::seconds(5);
  std::map<std::string, Duration> operation_by_type;

  Duration group_lag{};  // for so long after its creation a group is unknown to every provider below it
  Duration retry_after = std::chrono::seconds(1);  // zero: it is not said
  Exclusivity exclusivity = Exclusivity::Refuse;
  StateShown state_shown = StateShown::Honest;
  UpdateAnnounced update_announced = UpdateAnnounced::StatusUrl;
  EtagAtEnd etag_at_end = EtagAtEnd::Always;
  FailureShown location_failure = FailureShown::Error;
  std::string success_word = "Succeeded";  // of operations; the trap: "Completed", "SUCCEEDED"
  std::string cancel_word = "Canceled";    // the trap: "Cancelled"
  Duration operation_record{};             // for so long an ended operation is known; zero: always
  size_t page_items = 100;
  size_t operation_url_bytes = 600;  // about this long; real ones reach 4 KB
  UrlEscapes url_escapes = UrlEscapes::Odd;

  double stale_read_chance = 0;  // a GET, of whatever, is answered by a replica that lags by...
  Duration stale_by{};
  ListItems list_items = ListItems::Whole;
  bool has_etags = true;         // false: no type and no api-version shows or compares any
  Duration neighbour_every{};    // zero: never. Else some resource's ETag moves so often although nothing changed...
  bool neighbour_links = false;  // ...but for what the service writes into it: who refers to it now

  double drop_before_chance = 0;  // of writes: the connection breaks before / after the write was applied
  double drop_after_chance = 0;

  Bucket reads, writes, deletes;

  bool keep_states = false;  // every content of every resource, for SimArm::states_of(); it only grows
};

// One answer, or a connection that is closed without one.
struct SimAnswer {
  arm::Response response;
  bool drop = false;
  std::vector<Seen> seen{};  // with keep_states
};

// What the judge saw. The counts from lost_updates to applied_twice, overlaps_own aside, are harms: zero behind a
// working gateway.
struct Report {
  uint64_t requests = 0;
  uint64_t reads = 0;
  uint64_t writes = 0;  // PUT, PATCH, DELETE and POST actions that arrived
  uint64_t writes_applied = 0;

  uint64_t lost_updates = 0;            // acknowledged members (tags, rules, subnets) that are not there now
  uint64_t vanished = 0;                // times that an acknowledged member was wiped out, even if it came back
  uint64_t lost_increments = 0;         // declared and acknowledged, but missing in the counter now
  uint64_t overcounted_increments = 0;  // in the counter, but nobody ever declared them
  uint64_t stale_writes_accepted = 0;   // full PUTs whose declared base was not the current state
  uint64_t unintended_changes = 0;      // full PUTs that changed more than their clients said (sim/judge/intentions.h)
  uint64_t undone_changes = 0;          // or less
  uint64_t overwritten_changes = 0;     // or what somebody else had changed since
  uint64_t overlaps_attempted = 0;      // arrived while another client's operation ran on the entity, refused or not
  uint64_t overlaps_accepted = 0;
  uint64_t overlaps_own = 0;  // the same, but of the same declared client; not in the two above
  uint64_t applied_twice = 0;
  // 412s of ARM itself although the declared base is writable-equal to the current state: a gateway can put them right
  // before its client sees them.
  uint64_t undeserved_412 = 0;

  uint64_t precondition_failed = 0;
  uint64_t conflicts = 0;        // 409
  uint64_t throttled = 0;        // 429, as a bucket was empty
  uint64_t group_not_found = 0;  // 404 ResourceGroupNotFound
  uint64_t dropped_before = 0;
  uint64_t dropped_after = 0;
  uint64_t bad_signatures = 0;              // operation URLs whose bytes were changed on the way
  std::map<std::string, uint64_t> actions;  // "restart": times applied
  std::vector<std::string> findings;        // one sentence per harm, the first 100
};

std::string to_json(const Report& report);

}  // namespace armgate::sim
