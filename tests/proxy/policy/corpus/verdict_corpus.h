// verdict_corpus.h – what tools really send, and what must become of it.
//
// Why: "looks stale" stands or falls with realistic bodies. Each story is data: the states that one client name of unknown kind was
// shown, oldest first, as ARM answers them; what is there now; the body of one full PUT; and how it must end. Whoever meets a body
// that armgate judges wrongly adds it here.
#pragma once

#include <string_view>
#include <vector>

namespace armgate::policy {

enum class Ends {
  Sent,
  Refused,
  Merged,  // refused, but others changed something else
};

// In place of a state: more than think_max passes after the next one is shown.
inline constexpr std::string_view kLongAgo = "";

struct VerdictStory {
  std::string_view name;
  std::vector<std::string_view> shown;
  std::string_view put;
  Ends ends = Ends::Sent;
  std::string_view pointer{};  // refused: one of those that say why
  std::string_view there{};    // empty: the last that was shown
};

const std::vector<VerdictStory>& verdict_corpus();

}  // namespace armgate::policy
