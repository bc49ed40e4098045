// plan.h – what a run would do, for whoever decides at three in the morning; and earlier runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/heal/look.h"
#include "cli/heal/runbook.h"
#include "cli/heal/runs.h"

namespace armgate::heal {

enum class PlanAs { Text, Json };

// Which guards hold and why, and, if all do, each request in its order, its deadline, and what will be lost.
std::string plan_text(const Target& target, const Inspection& inspection, const RunOptions& options, PlanAs form);

// What will be lost, and needed: a line each.
std::vector<std::string> losses(const Target& target, const PoolBodies& bodies, const RunOptions& options);

// Of a run that ended in the middle: how far it came, and what comes next.
std::string resume_text(const RunFound& run, PlanAs form);

// Of one that has stopped: what was done and what not, and the ways on. `command` finds the run again.
std::string way_on_text(const Progress& progress, const std::string& directory, const std::string& command);

// What keeps a dry run from looking, in the form of its plan.
std::string refused_plan(std::string_view cluster, std::string_view pool, std::string_view why);

std::string runs_text(const std::vector<RunFound>& runs, PlanAs form);

}  // namespace armgate::heal
