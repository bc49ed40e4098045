// replace.h – the placeholders of a load test's options ("{n}", "{c}", "{v}"), filled in.
#pragma once

#include <string>
#include <string_view>

namespace armgate::load {

inline std::string replaced(std::string_view text, std::string_view placeholder, std::string_view value) {
  std::string result;
  while (true) {
    const size_t at = text.find(placeholder);
    result += text.substr(0, at);
    if (at == text.npos) return result;
    result += value;
    text.remove_prefix(at + placeholder.size());
  }
}

}  // namespace armgate::load
