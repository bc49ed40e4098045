// explain.h – `armgate explain`: what would be done about a request, and which rule or option says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/view/shown.h"
#include "proxy/config/config.h"
#include "rules/explain.h"

namespace armgate {

struct ExplainRequest {
  std::string method;
  std::string url;                   // absolute, or path and query
  std::optional<std::string> body;   // of a write
  std::string client;                // the user name of its proxy URL; empty: none
  std::string user_agent;            // empty: one that no rule file names
  std::vector<ShownAnswer> shown;    // what the client was shown before; counts only with a body
  std::optional<ShownAnswer> there;  // what is there when the write's turn comes; counts only with the two
};

enum class ExplainAs { Text, Json };

// As lines for people, or as one JSON object.
std::string to_output(const std::vector<rules::Fact>& facts, ExplainAs form);

// The whole answer. BadInput if armgate would refuse the request, or if there is no such method or URL.
Result<std::string> explain_request(const ExplainRequest& request, const Config& config, ExplainAs form);

}  // namespace armgate
