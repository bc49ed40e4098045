// lives.h – what simulated clients do: each function is the whole life of one of them.
#pragma once

#include <string>

#include "tests/gate_sim/workloads/knowing.h"
#include "tests/gate_sim/workloads/subjects.h"
#include "tests/support/world/sim_client.h"

namespace armgate::world {

struct Writing {
  int writes = 3;
  ReadsBy reads = ReadsBy::Point;
  Duration think_max = std::chrono::seconds(2);  // between the read and the write
  Duration pause_max = std::chrono::seconds(3);  // before the next change
  Duration again_max = std::chrono::seconds(2);  // before the first one, and after a refusal
  int operation_failures_in_hundred = 0;         // operations that ARM accepts and that then fail
  bool marks_tries = false;                      // no two writes have the same bytes
};

// Read, change one thing, write the whole back; on a refusal from the start. Until `writes` changes are in.
Task<void> change_repeatedly(std::shared_ptr<SimClient> client, Subject subject, Writing writing);

// Creates the subject if it is not there, else adds to it: many do so at once.
Task<void> create_or_change(std::shared_ptr<SimClient> client, Subject subject);

// Creates and deletes it over and over.
Task<void> create_and_delete(std::shared_ptr<SimClient> client, Subject subject, int rounds);

// Deletes it at any moment, whoever works on it.
Task<void> delete_sometimes(std::shared_ptr<SimClient> client, Subject subject, int times);

// Sends the same PATCH again and again, as a controller does that looks at nothing; so many of a hundred fail later.
Task<void> patch_stubbornly(std::shared_ptr<SimClient> client, Subject subject, int times, uint64_t failures_in_hundred);

// PUTs a child without reading anything, as `nsg rule create` does.
Task<void> put_children(std::shared_ptr<SimClient> client, std::string network, int count);

Task<void> put_rules(std::shared_ptr<SimClient> client, std::string group, int count);

// `az tag update --operation Merge`: tags as a resource of their own.
Task<void> tag_repeatedly(std::shared_ptr<SimClient> client, Subject subject, int times);

// Looks, as a plan does, and writes its file whatever it saw: one version after the other.
Task<void> write_file_repeatedly(std::shared_ptr<SimClient> client, Subject subject, int versions);

// POST .../restart, with the same request sent again after a lost answer, as SDKs do.
Task<void> restart_repeatedly(std::shared_ptr<SimClient> client, Subject subject, int times);

// The same and again, as if its answer had not come: each under a name of its own, or without.
enum class Names { Given, None };
Task<void> restart_forgetfully(std::shared_ptr<SimClient> client, Subject subject, int times, Names names);

// Reads all the time.
Task<void> read_repeatedly(std::shared_ptr<SimClient> client, Subject subject, int times);

// Goes around armgate, directly to ARM, with a guard of its own.
Task<void> change_around(SimWorld& world, std::string name, Subject subject, int writes);

// Makes the group and the subject before anybody starts, directly at ARM.
void prepare(SimWorld& world, const Subject& subject);

}  // namespace armgate::world
