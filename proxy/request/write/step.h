// step.h – what a step of a write comes to: something for the next one, or how the write has ended in this one.
#pragma once

#include <optional>
#include <utility>
#include <variant>

namespace armgate {

struct Outcome;

// A T, or an Outcome. To ask for the one that is not there is a mistake of the program.
template <class T, class End = Outcome>
class [[nodiscard]] Step {
 public:
  Step(T value) : state_(std::in_place_index<0>, std::move(value)) {}        // NOLINT: implicit by design
  Step(End outcome) : state_(std::in_place_index<1>, std::move(outcome)) {}  // NOLINT: implicit by design

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  End& ended() & { return std::get<1>(state_); }
  End&& ended() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, End> state_;
};

// Of nothing: the write goes on.
template <class End>
class [[nodiscard]] Step<void, End> {
 public:
  Step() = default;
  Step(End outcome) : outcome_(std::move(outcome)) {}  // NOLINT: implicit by design

  explicit operator bool() const { return !outcome_; }
  End&& ended() && { return std::move(outcome_).value(); }

 private:
  std::optional<End> outcome_;
};

}  // namespace armgate
