// The operation that runs for ever is aborted: nothing else can be done on the cluster before. Abort goes again only if ARM took none
// since this run began or was taken up, and the operation is old enough: it may be another one by then, and somebody's.
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
