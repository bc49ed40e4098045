// evidence_corpus.h – what tools really send, and which state armgate must take it to be built from.
//
// Why: rule 6 (content evidence) stands or falls with realistic bodies. Each story is data: the states that one client name was
// shown, oldest first, as ARM answers them; the body of one full PUT; and the base that must be chosen, with the rule that finds it.
// Whoever meets a body that armgate judges wrongly adds it here.
#pragma once

#include <string_view>
#include <vector>

namespace armgate::policy {

enum class Still {
  Live,
  Dead,     // used up
  Refused,  // to one of its actors; another may still hold it
};

struct ShownState {
  std::string_view body;
  Still still = Still::Live;
};

struct EvidenceStory {
  std::string_view name;
  std::vector<ShownState> shown;  // their ETags are "1", "2", ...
  std::string_view put;
  std::string_view chosen;  // "content 2": by this rule, on this state; or "refused"
};

const std::vector<EvidenceStory>& evidence_corpus();

}  // namespace armgate::policy
