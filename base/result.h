// result.h – a value or an Error that knows where it came from and whether the other side may have acted on it.
//
// Why: whether a write may be sent again is decided from "could ARM have seen it?", never from a status code or an
// errno alone, so every error carries that answer from birth, and none has it by default (docs/decisions/0001).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace armgate {

// What went wrong, in the terms a caller can act on.
enum class ErrorKind {
  BadInput,     // malformed or ambiguous bytes, config or rule text
  TooLarge,     // a configured limit was reached
  TimedOut,     // a deadline passed
  Closed,       // the peer closed in an orderly way where more was due
  Reset,        // the connection broke
  Busy,         // a limited number of something stayed in use: waiting helps
  Unreachable,  // no connection could be made (name, TCP or TLS)
  Untrusted,    // the peer's certificate did not verify
  Cancelled,    // our own shutdown or the client's leaving ended the work
  Internal,     // a library or the system failed in a way no input explains
};

// On whose account the error goes.
enum class ErrorSource { Client, Upstream, Gateway };

// Whether the request may have reached the upstream. Meaningful for errors of Upstream::send.
enum class Sent {
  No,        // no byte left: sending again is always safe
  Maybe,     // at least one byte left, no complete answer came back: outcome unknown
  Answered,  // an answer head arrived and then its body broke
};

struct [[nodiscard]] Error {
  Error(ErrorKind what, ErrorSource whose, Sent was_sent, std::string sentence)
      : kind(what), source(whose), sent(was_sent), context(std::move(sentence)) {}

  ErrorKind kind;
  ErrorSource source;
  Sent sent;
  std::string context;  // one English sentence for a person, naming the offending thing and the remedy; never a secret
};

// A T or an Error. value() on an error is a broken program and stops it.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    require();
    return std::get<0>(state_);
  }
  const T& value() const& {
    require();
    return std::get<0>(state_);
  }
  T&& value() && {
    require();
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & {
    GATE_CHECK(!ok(), "error() of a value");
    return std::get<1>(state_);
  }
  const Error& error() const& {
    GATE_CHECK(!ok(), "error() of a value");
    return std::get<1>(state_);
  }
  Error&& error() && {
    GATE_CHECK(!ok(), "error() of a value");
    return std::get<1>(std::move(state_));
  }

 private:
  void require() const { GATE_CHECK(ok(), "value() of an error"); }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const& {
    GATE_CHECK(!ok(), "error() of success");
    return *error_;
  }
  Error&& error() && {
    GATE_CHECK(!ok(), "error() of success");
    return *std::move(error_);
  }

 private:
  std::optional<Error> error_;
};

inline Error client_error(ErrorKind kind, std::string context) {
  return Error{kind, ErrorSource::Client, Sent::No, std::move(context)};
}
inline Error upstream_error(ErrorKind kind, Sent sent, std::string context) {
  return Error{kind, ErrorSource::Upstream, sent, std::move(context)};
}
inline Error gateway_error(ErrorKind kind, std::string context) {
  return Error{kind, ErrorSource::Gateway, Sent::No, std::move(context)};
}

}  // namespace armgate
