// Comparing contents: an equivalence, and the hash agrees with it. The input is two JSON texts with a NUL between them.
#include "arm/content.h"
#include "base/check.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {

void fuzz_one(std::string_view input) {
  const size_t cut = input.find('\0');
  const std::string_view a = input.substr(0, cut);
  const std::string_view b = cut == std::string_view::npos ? a : input.substr(cut + 1);
  static const arm::ReadOnlyMembers kReadOnly;
  static const Hasher kHasher(HashKey{1, 2});
  const bool same = arm::same_writable_content(a, b, kReadOnly);
  GATE_CHECK(same == arm::same_writable_content(b, a, kReadOnly), "sameness is symmetric");
  const auto hash_a = arm::writable_content_hash(a, kReadOnly, kHasher);
  const auto hash_b = arm::writable_content_hash(b, kReadOnly, kHasher);
  GATE_CHECK(same == (hash_a && hash_b && *hash_a == *hash_b), "the hash agrees with the comparison");
  if (same) GATE_CHECK(arm::changed_pointers(a, b, kReadOnly, 10).empty(), "equal contents differ nowhere");
  (void)arm::satisfies(a, b, kReadOnly);
  (void)arm::list_items(a);
  (void)arm::provisioning_state(a);
}

}  // namespace armgate::fuzz
