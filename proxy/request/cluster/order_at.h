// order_at.h – where a moment stands in the order of what all processes of a cluster have seen.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "proxy/cluster/replica.h"
#include "proxy/request/parts.h"

namespace armgate {

// What was there before that moment for certain comes before it.
inline uint64_t order_at(const Parts& parts, const Moment& moment) {
  return parts.cluster == nullptr ? moment.order : parts.cluster->surely_before(moment.time, moment.order);
}

}  // namespace armgate
