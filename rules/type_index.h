// type_index.h – finds, among rules or facts, those about some type, without a look at each of the others.
//
// Why: whoever makes rules by a program has tens of thousands of them, and a reload reads them where requests are served.
// Limits   those with one and the same type or pattern are looked at one by one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace armgate::rules {

class TypeIndex {
 public:
  // `place`: not less than any before it.
  void add(const std::string& pattern, size_t place);
  void add_all(const std::vector<std::string>& patterns, size_t place) {
    for (const std::string& pattern : patterns) add(pattern, place);
  }

  // The first place with a pattern that leaves nothing of `type` to a later one (takes_type) and of which `fits` is true.
  std::optional<size_t> first_taker(std::string_view type, const std::function<bool(size_t)>& fits) const;

  // The places with a pattern that takes `type` or that `type` takes; each once, in their order.
  std::vector<size_t> sharing(std::string_view type) const;

 private:
  using Places = std::unordered_map<std::string, std::vector<size_t>>;
  const std::vector<size_t>* with(const Places& places, std::string_view key) const;

  Places by_pattern_;  // "microsoft.network/*", "microsoft.network/virtualnetworks"
  Places below_;       // "microsoft.network/": of all that begins so
};

}  // namespace armgate::rules
