// recovery.h – a scale set before a write, what the write asks for, and ARM's answer that it is busy.
#pragma once

#include <string>

#include "tests/support/stage_rig.h"

namespace armgate::world::recovery {

inline const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
inline const std::string kWanted = R"({"sku":{"capacity":5}})";
inline const std::string kBusy =
    R"({"error":{"code":"ConflictingConcurrentWriteNotAllowed","message":"The operation was interrupted by a conflicting write."}})";

}  // namespace armgate::world::recovery
