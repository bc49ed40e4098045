// references.h – what a write refers to, by its own body and by the body of what it was built from.
//
// Why: a write may drop a reference, and what it drops must stand still as well as what it takes on (terraform-provider-azurerm
// locks the old and the new security group of a subnet).
// Limits   kReferencesMax locks; what is beyond is not locked, and counted.
#pragma once

#include <vector>

#include "proxy/request/write/write.h"

namespace armgate {

inline constexpr size_t kReferencesMax = 256;

// Empty, and without reading anything, where no rule of the write's plan has references. Requires the write's base.
std::vector<rules::ReferenceKey> references_of(const Write& write);

}  // namespace armgate
