#include "tests/gate_sim/scenario.h"

namespace armgate::world {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void lossy(WorldOptions& options, Rng& rng) {
  options.network.refuse = 0.1 * rng.unit();
  options.network.lose_request = 0.1 * rng.unit();
  options.network.lose_answer = 0.15 * rng.unit();
  options.network.cut = 0.1 * rng.unit();
}

void late_effects(WorldOptions& options, Rng& rng) { options.network.late = 0.05 + 0.2 * rng.unit(); }

void reordering(WorldOptions& options, Rng& rng) {
  options.network.delay_max = milliseconds(500 + rng.below(4000));
  options.clients.send_slowly = 0.3;
}

void slow_arm(WorldOptions& options, Rng& rng) {
  options.network.slow = 0.05 + 0.15 * rng.unit();
  options.network.slow_max = seconds(10 + rng.below(150));
}

void throttling(WorldOptions& options, Rng& rng) { options.network.throttle = 0.3 * rng.unit(); }
void failing_arm(WorldOptions& options, Rng& rng) { options.network.fail = 0.2 * rng.unit(); }

void leaving_clients(WorldOptions& options, Rng& rng) {
  options.clients.leave = 0.05 + 0.25 * rng.unit();
  options.clients.half_close = rng.unit();
}

void lost_answers(WorldOptions& options, Rng& rng) { options.clients.lose_answer = 0.05 + 0.2 * rng.unit(); }

void slow_clients(WorldOptions& options, Rng&) {
  options.clients.read_slowly = 0.5;
  options.clients.send_slowly = 0.5;
}

void moving_etags(WorldOptions& options, Rng& rng) { options.arm.neighbour_every = milliseconds(500 + rng.below(5000)); }

void expiring_tokens(WorldOptions& options, Rng& rng) { options.token_life = seconds(90 + rng.below(300)); }

void skipped_polls(WorldOptions& options, Rng&) { options.poll_skipped = 0.5; }

void long_operations(WorldOptions& options, Rng& rng) { options.arm.operation = seconds(20 + rng.below(60)); }
void instant_operations(WorldOptions& options, Rng&) { options.arm.operation = Duration{}; }

void silent_updates(WorldOptions& options, Rng&) { options.arm.update_announced = sim::UpdateAnnounced::StateOnly; }

void impatient(WorldOptions& options, Rng& rng) { options.pipeline.wait_max = seconds(1 + rng.below(10)); }

}  // namespace

const std::vector<Disturbance>& disturbances() {
  static const std::vector<Disturbance> all{
      {"lossy", lossy},
      {"late-effects", late_effects},
      {"reordering", reordering},
      {"slow-arm", slow_arm},
      {"throttling", throttling},
      {"failing-arm", failing_arm},
      {"leaving-clients", leaving_clients},
      {"lost-answers", lost_answers},
      {"slow-clients", slow_clients},
      {"moving-etags", moving_etags},
      {"expiring-tokens", expiring_tokens},
      {"skipped-polls", skipped_polls},
      {"long-operations", long_operations},
      {"instant-operations", instant_operations},
      {"silent-updates", silent_updates},
      {"short-waits", impatient},
  };
  return all;
}

}  // namespace armgate::world
