// world.h – everything that a run does to the outside, as functions: the runbook is tried with a simulated ARM and virtual
// time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "cli/heal/facts/nodes.h"
#include "cli/heal/progress.h"
#include "cli/heal/steps/step.h"

namespace armgate::heal {

struct Reply {
  int status = 0;
  std::string body;
  Duration retry_after{};
  std::string operation;  // the target of its Azure-AsyncOperation; empty: none
};

enum class Interrupted { No, AtTheStepsEnd, Now };

// Something to tell a person, as it happens.
struct Told {
  Phase phase = Phase::Guards;
  std::string_view event;  // "begin", "send", "answer", "wait", "done", "warning", ...
  std::string text;
};

struct World {
  // Any method; a GET has neither body nor conditions. Errors say whether ARM may have seen it.
  std::function<Result<Reply>(const Write& request)> send;
  std::function<TimePoint()> now;
  std::function<WallTime()> wall;
  std::function<void(Duration)> pause;  // ends early when it is interrupted
  std::function<Interrupted()> interrupted;
  // Whether the lease is held; false: it waits for a write that began earlier. An error: it is lost.
  std::function<Result<bool>()> lease_held;
  std::function<void(const Told&)> print;
  // Since when ARM may be at what the lease waits for, as lease_held() was told last; nothing: it waits for nothing. Null: no
  // lease.
  std::function<std::optional<Duration>()> behind_age{};
  // What Kubernetes says of a pool's nodes, and a pool emptied of its pods: its nodes are cordoned, or that is an error; what
  // did not go is the answer, empty if all did. Null: nobody gave access to Kubernetes, or asked for it.
  std::function<Result<NodeCount>(const std::string& pool)> nodes{};
  std::function<Result<std::string>(const std::string& pool)> drain{};
};

}  // namespace armgate::heal
