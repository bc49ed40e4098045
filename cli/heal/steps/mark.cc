// A tag says when the pool was made anew. Its write also takes the cluster from Canceled, where the abort left it, to
// Succeeded.
#include <fmt/format.h>

#include "base/utc.h"
#include "cli/heal/steps/step.h"
#include "json/tree.h"

namespace armgate::heal {

std::string mark_of(const Progress& progress) { return utc_text(progress.begun); }

Move mark_cluster(const Known& known) {
  const std::string value = mark_of(known.progress);
  if (known.cluster.recreated_at == value) return done(fmt::format("the cluster has the tag {}={}", kRecreatedTag, value));
  if (known.progress.of(Phase::Mark).accepted()) return wait("the tag does not show yet");
  const nlohmann::json body = {{"operation", "Merge"}, {"properties", {{"tags", {{kRecreatedTag, value}}}}}};
  return send(
      "tag the cluster",
      {arm::Method::Patch,
       fmt::format("{}/providers/Microsoft.Resources/tags/default?api-version=2021-04-01", known.target.cluster), body.dump()});
}

}  // namespace armgate::heal
