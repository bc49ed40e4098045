#include "proxy/policy/backoff.h"

#include <algorithm>
#include <cmath>

namespace armgate::policy {

std::optional<Duration> next_delay(const rules::Backoff& backoff, int next_attempt, Duration spent,
                                   std::optional<Duration> come_back, Rng& rng) {
  if (next_attempt > backoff.attempts) return std::nullopt;
  Duration delay{};
  if (come_back && *come_back > Duration{}) {
    delay = *come_back;
  } else {
    const double base = std::chrono::duration<double>(backoff.base).count();
    const double ceiling = std::min(std::chrono::duration<double>(backoff.max).count(),
                                    base * std::pow(backoff.factor, std::max(0, next_attempt - 2)));
    delay = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(ceiling * (0.1 + 0.9 * rng.unit())));
  }
  if (spent + delay > backoff.deadline) return std::nullopt;
  return delay;
}

}  // namespace armgate::policy
