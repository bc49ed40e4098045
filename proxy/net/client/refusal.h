// refusal.h – the answer to a request that cannot be served at all, in ARM's error shape.
#pragma once

#include <string>
#include <string_view>

#include "arm/http.h"
#include "base/result.h"
#include "proxy/http/limits.h"

namespace armgate::net {

struct Refusal {
  int status = 400;
  std::string_view code = "ArmgateBadRequest";
  std::string message;
};

// For a head that could not be read or parsed. `head`: what arrived of it.
Refusal refuse_head(const Error& error, std::string_view head, const http::Limits& limits);

inline constexpr std::string_view kTooManyBodies = "ArmgateTooManyBodies";

// For content that could not be read. Busy: there is no room for it now.
Refusal refuse_body(const Error& error);

// The whole answer, closing the connection; without content for HEAD.
arm::Response to_response(const Refusal& refusal);

// The same as bytes for the wire.
std::string to_bytes(const Refusal& refusal);

}  // namespace armgate::net
