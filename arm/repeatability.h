// repeatability.h – a client's word that requests are one and the same (OASIS Repeatable Requests 1.0): it names the request,
// and says when it was first sent. A repetition has both unchanged.
#pragma once

#include <optional>
#include <string>

#include "arm/http.h"
#include "base/result.h"
#include "base/time.h"

namespace armgate::arm {

struct Repeatability {
  std::string request_id;  // opaque; 128 bytes at most
  std::string client_id;   // who gave the id, if several share a name; mostly empty
  WallTime first_sent;     // whole seconds, by its client's clock
};

// Nothing: the request does not ask for it. BadInput names the field and the remedy: half of it, twice, unreadable.
Result<std::optional<Repeatability>> repeatability_of(const Headers& fields);

}  // namespace armgate::arm
