// The operation that runs for ever is aborted: nothing else can be done on the cluster before. While ARM is at an abort none
// goes again; once that was seen to be done, or the run has stopped, what runs then may be another operation, and somebody's:
// it must be old enough.
#include <fmt/format.h>

#include "cli/heal/facts/guards.h"
#include "cli/heal/steps/step.h"

namespace armgate::heal {

Move abort_operation(const Known& known) {
  const std::string& state = known.cluster.state;
  if (state == "Canceling") return wait("the operation is being aborted");
  if (!has_running_operation(known.cluster)) return done(fmt::format("no operation runs, the cluster is {}", state));
  if (known.progress.of(Phase::Abort).accepted()) return wait(fmt::format("aborted, the cluster is still {}", state));
  const Guard age = operation_age(known.cluster, known.operation_started, known.now);
  if (age.says != Guard::Says::Pass) return stop(age.why);
  return send("abort the cluster's operation",
              {arm::Method::Post, fmt::format("{}/abort?api-version={}", known.target.cluster, known.target.api_version)});
}

}  // namespace armgate::heal
