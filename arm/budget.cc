#include "arm/budget.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace armgate::arm {
namespace {

constexpr std::string_view kPrefix = "x-ms-ratelimit-remaining-";
constexpr uint32_t kMost = 1'000'000'000;  // nobody has more; what says so is no count
constexpr size_t kIdBytesMax = 64;

constexpr std::array<std::string_view, kBudgets> kNames = {"subscription-reads",
                                                           "subscription-writes",
                                                           "subscription-deletes",
                                                           "subscription-global-reads",
                                                           "subscription-global-writes",
                                                           "subscription-global-deletes",
                                                           "tenant-reads",
                                                           "tenant-writes",
                                                           "tenant-deletes",
                                                           "subscription-resource-requests",
                                                           "subscription-resource-entities-read",
                                                           "tenant-resource-requests",
                                                           "tenant-resource-entities-read",
                                                           "resource"};

std::optional<uint32_t> count_in(std::string_view text) {
  text = trim(text);
  uint32_t count = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool is_whole = !text.empty() && error == std::errc{} && stop == text.data() + text.size();
  return is_whole && count <= kMost ? std::optional(count) : std::nullopt;
}

void keep_least(BudgetsLeft& found, size_t budget, std::optional<uint32_t> count) {
  if (!count) {
    ++found.unreadable;
    return;
  }
  auto& left = found.left[budget];
  left = left ? std::min(*left, *count) : *count;
  found.any = true;
}

// "Microsoft.Compute/HighCostGet3Min;159,Microsoft.Compute/HighCostGet30Min;792"
void note_list(BudgetsLeft& found, std::string_view list) {
  while (true) {
    const size_t comma = list.find(',');
    const std::string_view entry = list.substr(0, comma);
    const size_t semicolon = entry.rfind(';');
    const bool is_entry = semicolon != entry.npos && semicolon > 0;
    keep_least(found, static_cast<size_t>(Budget::Resource), is_entry ? count_in(entry.substr(semicolon + 1)) : std::nullopt);
    if (comma == list.npos) return;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

std::string_view to_text(Budget budget) { return kNames[static_cast<size_t>(budget)]; }

bool is_of_reads(Budget budget) {
  return budget == Budget::Reads || budget == Budget::GlobalReads || budget == Budget::TenantReads ||
         budget == Budget::ResourceRequests;
}

BudgetsLeft budgets_left(const Headers& fields) {
  BudgetsLeft found;
  for (const Field field : fields) {
    if (!starts_with_ignoring_case(field.name, kPrefix)) continue;
    const std::string_view name = field.name.substr(kPrefix.size());
    const auto known = std::find_if(kNames.begin(), kNames.end(), [&](auto own) { return equal_ignoring_case(own, name); });
    if (known == kNames.end()) continue;
    const auto budget = static_cast<size_t>(known - kNames.begin());
    if (budget == static_cast<size_t>(Budget::Resource))
      note_list(found, field.value);
    else
      keep_least(found, budget, count_in(field.value));
  }
  return found;
}

std::string_view subscription_of(std::string_view target) {
  constexpr std::string_view kRoot = "/subscriptions/";
  const std::string_view path = path_of(target);
  if (!starts_with_ignoring_case(path, kRoot)) return {};
  const std::string_view rest = path.substr(kRoot.size());
  const std::string_view id = rest.substr(0, rest.find('/'));
  const auto is_of_an_id = [](char c) { return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-'; };
  return id.size() <= kIdBytesMax && std::all_of(id.begin(), id.end(), is_of_an_id) ? id : std::string_view();
}

}  // namespace armgate::arm
