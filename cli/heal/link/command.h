// command.h – `armgate heal`: what was asked for (run_heal.h does it), and how it is told.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "cli/heal/plan.h"
#include "cli/heal/runbook.h"
#include "proxy/config/tool_environment.h"

namespace armgate::heal {

struct HealRequest {
  Target target;
  RunOptions options;
  bool names_api_version = false;  // target.api_version was asked for
  bool confirm = false;
  bool undo = false;
  bool without_kubeconfig = false;  // a run that looked at nodes goes on without
  PlanAs form = PlanAs::Text;
  std::filesystem::path runs;  // the directory
  std::filesystem::path root;  // armgate's certificate
  std::string who;             // for the service's log
  std::string command;         // that finds the same cluster, pool and runs again, to be added to
  Environment environment;
};

// The time and four random digits: "20260101T000000Z-1a2b".
std::string new_run_id(WallTime now);

// One line of progress: for people, or with component, phase and run_id for programs.
std::string progress_line(const Told& told, WallTime at, const std::string& run, PlanAs form);

// For programs: that nothing was begun, and why. Of a run its last line, of a dry run a plan that does nothing.
std::string refusal_json(const Target& target, bool confirm, WallTime at, const std::string& run, std::string_view why);

}  // namespace armgate::heal
