#include "sim/sim_arm.h"

#include <utility>

#include "json/tree.h"
#include "sim/machine/machine.h"

namespace armgate::sim {

SimArm::SimArm(SimOptions options, uint64_t seed) : machine_(std::make_unique<Machine>(std::move(options), seed)) {}
SimArm::~SimArm() = default;
SimArm::SimArm(SimArm&&) noexcept = default;
SimArm& SimArm::operator=(SimArm&&) noexcept = default;

SimAnswer SimArm::handle(const arm::Request& request, TimePoint now) { return machine_->handle(request, now); }
void SimArm::advance(TimePoint now) { machine_->advance(now); }
std::optional<TimePoint> SimArm::next_event() const { return machine_->next_event(); }
Report SimArm::report() const { return machine_->report(); }
bool SimArm::is_current(std::string_view resource_path, std::string_view etag) const {
  return machine_->is_current(resource_path, etag);
}
bool SimArm::is_newer(std::string_view resource_path, std::string_view etag, std::string_view base,
                      std::string_view client) const {
  return machine_->is_newer(resource_path, etag, base, client);
}

States SimArm::states_of(std::string_view resource_path) const { return machine_->states_of(resource_path); }

std::vector<ClusterPool> SimArm::pools() const { return machine_->pools(); }

std::string to_json(const Report& report) {
  const nlohmann::ordered_json json{
      {"requests", report.requests},
      {"reads", report.reads},
      {"writes", report.writes},
      {"writes_applied", report.writes_applied},
      {"lost_updates", report.lost_updates},
      {"vanished", report.vanished},
      {"lost_increments", report.lost_increments},
      {"overcounted_increments", report.overcounted_increments},
      {"stale_writes_accepted", report.stale_writes_accepted},
      {"unintended_changes", report.unintended_changes},
      {"undone_changes", report.undone_changes},
      {"overwritten_changes", report.overwritten_changes},
      {"overlaps_attempted", report.overlaps_attempted},
      {"overlaps_accepted", report.overlaps_accepted},
      {"overlaps_own", report.overlaps_own},
      {"applied_twice", report.applied_twice},
      {"undeserved_412", report.undeserved_412},
      {"precondition_failed", report.precondition_failed},
      {"conflicts", report.conflicts},
      {"throttled", report.throttled},
      {"group_not_found", report.group_not_found},
      {"dropped_before", report.dropped_before},
      {"dropped_after", report.dropped_after},
      {"bad_signatures", report.bad_signatures},
      {"actions", report.actions},
      {"findings", report.findings},
  };
  return dump_json(json, kOneLine, JsonLetters::AsTheyAre);
}

}  // namespace armgate::sim
