// `armgate doctor`: gives the examination the world to look at, and tells what it found.
#include "cli/doctor/doctor.h"
#include "cli/load.h"
#include "cli/view/ask_service.h"

namespace armgate::commands {

int doctor(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  const DoctorWorld world{
      .environment = context.environment,
      .now = context.wall,
      .somebody_listens = context.somebody_listens,
      .status = fetch_status,
      .ask = context.ask_through,
      .try_runtime = [&context](const Runtime& runtime,
                                const RuntimeQuestion& question) { return try_runtime(runtime, question, context.trust.run); },
  };
  const auto findings = examine(*config, world);
  context.out << (asked.output == "json" ? findings_json(findings) : findings_text(findings));
  return is_well(findings) ? kExitDone : kExitBadInput;
}

}  // namespace armgate::commands
