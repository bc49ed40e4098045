// tidy_uses.h – does a file include what it uses? Names of the libraries whose headers are precompiled
// (cmake/precompiled.cmake), and the headers that give them.
//
// Why: with precompiled headers a file compiles that includes nothing. It must not: clang, which lints and fuzzes, builds
// without them, and what a file leans on is read from its head.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy_rules.h"

namespace armgate::tidy {

struct Giver {
  Views headers;  // one of them, reached directly or through headers of our own; "a/" is any header that begins so
  Views names;
};

inline const std::vector<Giver> kGivers = {
    {{"algorithm"},
     {"std::sort",    "std::stable_sort", "std::find",        "std::find_if",     "std::any_of",  "std::all_of",
      "std::none_of", "std::min",         "std::max",         "std::clamp",       "std::copy_if", "std::remove_if",
      "std::count",   "std::count_if",    "std::lower_bound", "std::upper_bound", "std::equal",   "std::transform",
      "std::reverse", "std::max_element", "std::min_element"}},
    {{"array"}, {"std::array"}},
    {{"atomic"}, {"std::atomic", "std::memory_order_relaxed", "std::memory_order_acquire", "std::memory_order_release"}},
    {{"bit"}, {"std::bit_cast", "std::endian", "std::countr_zero", "std::popcount", "std::has_single_bit"}},
    {{"charconv"}, {"std::from_chars", "std::to_chars"}},
    {{"chrono"}, {"std::chrono"}},
    {{"cstdint", "chrono"}, {"std::uint64_t", "std::int64_t", "uint64_t", "int64_t", "uint32_t", "uint16_t", "uint8_t"}},
    {{"cstring"}, {"std::memcpy", "std::memcmp", "std::memset", "std::memmove", "std::strlen", "std::strerror"}},
    {{"deque"}, {"std::deque"}},
    {{"filesystem"}, {"std::filesystem"}},
    {{"fstream"}, {"std::ifstream", "std::ofstream"}},
    {{"functional"}, {"std::function", "std::reference_wrapper"}},
    {{"iterator", "string", "vector", "map", "array"},
     {"std::back_inserter", "std::istreambuf_iterator", "std::next", "std::prev"}},
    {{"limits"}, {"std::numeric_limits"}},
    {{"list"}, {"std::list"}},
    {{"map"}, {"std::map", "std::multimap"}},
    {{"memory"}, {"std::unique_ptr", "std::shared_ptr", "std::weak_ptr", "std::make_unique", "std::make_shared"}},
    {{"mutex", "condition_variable"}, {"std::mutex", "std::lock_guard", "std::unique_lock", "std::scoped_lock"}},
    {{"optional"}, {"std::optional", "std::nullopt"}},
    {{"regex"}, {"std::regex", "std::smatch", "std::sregex_iterator"}},
    {{"set"}, {"std::set"}},
    {{"span"}, {"std::span"}},
    {{"sstream"}, {"std::ostringstream", "std::istringstream", "std::stringstream"}},
    {{"string", "sstream", "fstream", "filesystem", "regex"}, {"std::string", "std::to_string", "std::getline"}},
    {{"string_view", "string"}, {"std::string_view"}},
    {{"thread"}, {"std::thread", "std::jthread", "std::this_thread"}},
    {{"tuple"}, {"std::tuple", "std::tie"}},
    {{"unordered_map"}, {"std::unordered_map"}},
    {{"utility", "map", "variant", "optional", "vector", "memory", "functional", "algorithm", "string"},
     {"std::move", "std::forward", "std::pair", "std::exchange", "std::swap"}},
    {{"variant"}, {"std::variant", "std::monostate", "std::get_if", "std::visit", "std::holds_alternative"}},
    {{"vector"}, {"std::vector"}},
    {{"fmt/"}, {"fmt::format", "fmt::join", "fmt::print"}},
    {{"boost/"}, {"boost::asio", "asio::io_context", "asio::steady_timer"}},
    {{"absl/"}, {"absl::flat_hash_map", "absl::Mutex", "absl::MutexLock"}},
    {{"nlohmann/"}, {"nlohmann::json", "nlohmann::ordered_json"}},
    {{"gtest/", "gmock/"}, {"EXPECT_EQ", "TEST"}},
};

// The names with their namespaces and the other words that stand in the code.
inline std::set<string_view> words_of(string_view code) {
  std::set<string_view> words;
  const auto inside = [](char c) { return is_word(c) || c == ':'; };
  for (size_t at = 0; at < code.size();) {
    if (!inside(code[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < code.size() && inside(code[end])) ++end;
    // std::chrono::seconds is std::chrono as well.
    for (size_t part = code.find("::", at + 1); part < end; part = code.find("::", part + 2)) {
      words.insert(code.substr(at, part - at));
    }
    words.insert(code.substr(at, end - at));
    at = end;
  }
  return words;
}

// Every header that `path` includes, itself or through headers of the tree. `tree` holds what each file includes.
inline std::set<string> reached_from(const string& path, const std::map<string, Strings>& tree) {
  std::set<string> reached;
  Strings waiting = {path};
  while (!waiting.empty()) {
    const string file = waiting.back();
    waiting.pop_back();
    const auto found = tree.find(file);
    if (found == tree.end()) continue;
    for (const string& header : found->second) {
      const string sibling = (std::filesystem::path(file).parent_path() / header).string();
      const string& name = tree.contains(header) || !tree.contains(sibling) ? header : sibling;
      if (reached.insert(name).second) waiting.push_back(name);
    }
  }
  return reached;
}

// "std::map, which <map> gives" for each name that the code uses though no header that gives it is among `reached`.
inline Strings missing_includes(string_view code, const std::set<string>& reached) {
  Strings missing;
  const std::set<string_view> words = words_of(code);
  const auto gives = [](string_view wanted, string_view header) {
    return wanted.ends_with('/') ? header.starts_with(wanted) : header == wanted;
  };
  for (const Giver& giver : kGivers) {
    for (const string_view name : giver.names) {
      if (!words.contains(name)) continue;
      const bool given = std::any_of(reached.begin(), reached.end(), [&](const string& header) {
        return std::any_of(giver.headers.begin(), giver.headers.end(),
                           [&](string_view wanted) { return gives(wanted, header); });
      });
      if (!given) missing.push_back(string(name) + ", which <" + string(giver.headers.front()) + "> gives");
    }
  }
  return missing;
}

}  // namespace armgate::tidy
