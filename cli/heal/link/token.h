// token.h – the credential of a repair: its own, never a client's.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "proxy/config/tool_environment.h"

namespace armgate::heal {

inline constexpr const char* kTokenVariable = "ARMGATE_HEAL_TOKEN";

class Token {
 public:
  // Runs a command to its end; what it printed, or nothing if it failed.
  using RunCommand = std::function<Result<std::string>(const std::vector<std::string>& words)>;

  // `host` is ARM's. The variable's value, without the spaces and line ends around it, if it is set; else `az account
  // get-access-token` is asked, and again when ARM does not take the token any more.
  Token(const Environment& environment, std::string host, RunCommand run);

  // BadInput says how to get one.
  Result<std::string> get();
  // ARM did not take it. True: another one can be had.
  bool expired();

 private:
  const std::string given_;
  const std::string host_;
  const RunCommand run_;
  std::string token_;
};

// What `az account get-access-token` printed; warnings may stand around it.
Result<std::string> token_in(std::string_view printed);

}  // namespace armgate::heal
