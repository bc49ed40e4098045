// body_etag.h – the ETag in a body, where it is the client's own word on what it read (docs/design.md, "Possible
// bases").
#pragma once

#include <string>
#include <string_view>

#include "rules/plan.h"

namespace armgate::policy {

// The ETag in the body, which names what the write may have been built from. Empty if the body has none, if the type does not
// enforce ETags or the request is not guarded.
std::string body_etag(const rules::Plan& plan, std::string_view body);

}  // namespace armgate::policy
