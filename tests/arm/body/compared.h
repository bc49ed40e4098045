// compared.h – bodies for tests of Difference, by their place in a list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arm/body/difference.h"

namespace armgate::arm {

inline Difference compared(const std::vector<std::string_view>& texts, const BodyFacts& facts = *BodyFacts::generic(),
                           const std::vector<OwnWrite>& own = {}) {
  std::vector<ComparedBody> bodies;
  bodies.reserve(texts.size());
  for (const auto text : texts) bodies.push_back({text});
  return Difference(bodies, facts, own);
}

inline std::string_view to_text(Resolution resolution) {
  switch (resolution) {
    case Resolution::Send: return "send";
    case Resolution::Contained: return "contained";
    case Resolution::Merge: return "merge";
    case Resolution::Conflict: break;
  }
  return "conflict";
}

// "merge /tags/x /tags/y"
inline std::string words_for(const Reconciliation& result) {
  std::string words(to_text(result.resolution));
  for (const auto& pointer : result.pointers) words += " " + (pointer.empty() ? "(all)" : pointer);
  if (result.unseen) words += " unseen";
  return words;
}

}  // namespace armgate::arm
