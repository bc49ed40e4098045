// trace.h – what happened in a simulated run, in order: a hash of all of it, and the last lines for a person.
//
// Why: two runs of one seed must be the same run, and a failure must tell its story.
#pragma once

#include <fmt/format.h>

#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "base/time.h"

namespace armgate::world {

// A target or a sentence without what is the same in all of them: the group's path and queries.
std::string short_path(std::string_view text);

class Trace {
 public:
  enum class Echo { Off, On };
  explicit Trace(Echo echo) : echo_(echo) {}

  template <class... Args>
  void add(TimePoint now, fmt::format_string<Args...> text, Args&&... args) {
    std::string line = fmt::format("{:>12.3f} ", std::chrono::duration<double>(now - kStart).count());
    fmt::format_to(std::back_inserter(line), text, std::forward<Args>(args)...);
    hash_ = hasher_.chain(hash_, line);
    if (echo_ == Echo::On) fmt::print("{}\n", line);
    tail_.push_back(std::move(line));
    if (tail_.size() > kTailMax) tail_.pop_front();
  }

  Hash128 hash() const { return hash_; }
  const std::deque<std::string>& tail() const { return tail_; }

 private:
  static constexpr TimePoint kStart{std::chrono::hours(1000)};
  static constexpr size_t kTailMax = 60;
  const Echo echo_;
  const Hasher hasher_{HashKey{1, 2}};
  Hash128 hash_{};
  std::deque<std::string> tail_;
};

}  // namespace armgate::world
