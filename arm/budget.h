// budget.h – what ARM's answers say is left of the requests that it takes of a principal for a subscription (docs/arm.md,
// "Limits and headers").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "arm/http.h"

namespace armgate::arm {

// One header each, x-ms-ratelimit-remaining-NAME. A resource provider's own (`resource`) is a list; its scarcest entry counts.
enum class Budget {
  Reads,
  Writes,
  Deletes,
  GlobalReads,
  GlobalWrites,
  GlobalDeletes,
  TenantReads,
  TenantWrites,
  TenantDeletes,
  ResourceRequests,
  EntityReads,
  TenantRequests,
  TenantEntityReads,
  Resource,
};
inline constexpr size_t kBudgets = static_cast<size_t>(Budget::Resource) + 1;

std::string_view to_text(Budget budget);  // NAME, as "subscription-reads"

// Whether each GET takes of it.
bool is_of_reads(Budget budget);

struct BudgetsLeft {
  std::array<std::optional<uint32_t>, kBudgets> left{};  // by Budget
  bool any = false;
  uint32_t unreadable = 0;  // values of these headers that are no count
};

// Headers of other names are nobody's business. Of one that comes twice the lower counts.
BudgetsLeft budgets_left(const Headers& fields);

// The id behind /subscriptions/, as it stands there; empty if there is none, or none that an id looks like.
std::string_view subscription_of(std::string_view target);

}  // namespace armgate::arm
