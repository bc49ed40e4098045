// tidy_rules.h – the house rules that no compiler checks, as functions of a path and a text: who may include what, what
// must not be used and what to use instead.
//
// Why: a reviewer should never have to say these things. tests/tidy_test.cc tries each rule on examples, then on the
// tree.
#pragma once

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace armgate::tidy {

using std::string;
using std::string_view;
using Strings = std::vector<string>;
using Views = std::vector<string_view>;

inline bool starts_with_any(string_view text, const Views& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](string_view prefix) { return text.starts_with(prefix); });
}

inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// ---- reading C++
// -----------------------------------------------------------------------------------------------------

// Where the string or character literal, or the comment, that begins at `at` ends; `at` itself if none begins there.
inline size_t end_of_noise(string_view text, size_t at) {
  const auto after = [&](string_view closing, size_t from) {
    const size_t found = text.find(closing, from);
    return found == text.npos ? text.size() : found + closing.size();
  };
  const string_view rest = text.substr(at);
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (rest.starts_with("/*")) return after("*/", at + 2);
  const bool inside_word = at > 0 && is_word(text[at - 1]);  // a digit separator, or the R of a name
  if (rest.starts_with("R\"") && !inside_word) {
    const size_t open = text.find('(', at);
    if (open == text.npos) return text.size();
    return after(")" + string(text.substr(at + 2, open - at - 2)) + "\"", open);
  }
  if (rest[0] == '"' || (rest[0] == '\'' && !inside_word)) {
    size_t end = at + 1;
    while (end < text.size() && text[end] != rest[0] && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }
  return at;
}

// The code without comments and literals, line breaks and includes kept.
inline string code_of(string_view text) {
  string code;
  for (size_t at = 0; at < text.size();) {
    const bool line_begins = at == 0 || text[at - 1] == '\n';
    size_t end = end_of_noise(text, at);
    if (line_begins && text.substr(at).starts_with("#include")) {
      end = std::min(text.find('\n', at), text.size());
      code += text.substr(at, end - at);
    } else if (end == at) {
      code += text[end++];
    } else {
      code.append(static_cast<size_t>(std::count(&text[at], &text[at] + (end - at), '\n')), '\n');
    }
    at = end;
  }
  return code;
}

inline Strings includes_of(const string& code) {
  Strings found;
  std::istringstream lines(code);
  for (string line; std::getline(lines, line);) {
    if (!line.starts_with("#include")) continue;
    const size_t open = line.find_first_of("<\"");
    const size_t close = line.find_first_of(">\"", open + 1);
    if (close != line.npos) found.push_back(line.substr(open + 1, close - open - 1));
  }
  return found;
}

// ---- who may include what -------------------------------------------------------------------------------------------

// The layers, lowest first, and what each may include; "below" is every layer above it in this list. A folder that is
// missing here may not exist.
inline constexpr string_view kBelow = "below";
inline const std::vector<std::pair<string_view, string_view>> kLayers = {
    {"base", ""},
    {"json", "base"},
    {"arm", "base json"},
    {"rules", "base json arm"},
    {"certs", "base"},
    {"proxy/policy", "base json arm rules"},
    {"proxy/async", "base"},
    {"proxy/seams", "base arm proxy/async"},
    {"proxy/state", "base arm rules proxy/policy proxy/async proxy/seams"},
    {"proxy/journal", "base arm proxy/async proxy/seams proxy/state"},
    {"proxy/cluster", "base arm rules proxy/policy proxy/async proxy/seams proxy/state"},
    {"proxy/cluster/engine", "base certs proxy/seams proxy/cluster"},
    {"proxy/http", "base arm proxy/async proxy/seams"},
    {"proxy/request", "base json arm rules proxy/policy proxy/async proxy/seams proxy/state proxy/cluster proxy/http"},
    {"proxy/net", kBelow},
    {"proxy/observability", kBelow},
    {"proxy/config", kBelow},
    {"proxy/gateway", kBelow},
    {"cli", kBelow},
    {"sim", "base json arm certs proxy/async proxy/seams"},  // time, coroutines, certificates; nothing that it judges
    {"bench", kBelow},
    {"tests", kBelow},
};

inline string_view layer_of(string_view path) {
  string_view best;
  for (const auto& [layer, below] : kLayers) {
    const bool inside = path.starts_with(layer) && path.substr(layer.size()).starts_with('/');
    if (inside && layer.size() > best.size()) best = layer;
  }
  return best;
}

inline bool may_include(string_view from, string_view to) {
  const auto place = [](string_view name) {
    return std::find_if(kLayers.begin(), kLayers.end(), [&](const auto& layer) { return layer.first == name; });
  };
  if (place(from)->second == kBelow) return place(to) < place(from) && (to != "bench" || from == "tests");
  return (" " + string(place(from)->second) + " ").find(" " + string(to) + " ") != string::npos;
}

struct LibraryRule {
  string_view header;  // what the include begins with
  Views allowed;       // where it may stand: path prefixes
  string_view why;
};

inline const Views kEverywhereImpure = {"certs/",         "proxy/async/",   "proxy/seams/",  "proxy/state/",
                                        "proxy/http/",    "proxy/request/", "proxy/net/",    "proxy/journal/",
                                        "proxy/cluster/", "proxy/gateway/", "proxy/config/", "proxy/observability/",
                                        "cli/",           "sim/",           "tests/",        "bench/"};
// The headers with types of the JSON parser: the files that compare bodies share them.
inline const Views kParsedBodies = {"arm/", "tests/arm/"};
inline constexpr string_view kParsedBodiesWhy = "parsed JSON stays within arm: say arm/body/difference.h or arm/body/content.h";

inline const LibraryRule kLibraries[] = {
    {"openssl/",
     {"certs/", "proxy/net/", "proxy/cluster/engine/seal", "sim/", "tests/", "bench/"},
     "TLS and keys live in certs and proxy/net"},
    {"boost/beast", {"sim/", "tests/"}, "our own codec is the one reading of HTTP (docs/decisions/0007)"},
    {"boost/asio",
     {"proxy/async/", "proxy/net/", "proxy/seams/real_clock", "proxy/gateway/", "cli/", "sim/", "tests/", "bench/"},
     "Asio enters through proxy/async, so that the simulator can take its place"},
    {"boost/", kEverywhereImpure, "pure folders are std only"},
    {"absl/synchronization", kEverywhereImpure, "pure code has no threads to guard against"},
    {"sqlite3.h", {"proxy/journal/sqlite"}, "SQL stays behind types of our own"},
    {"libpq", {"proxy/cluster/engine/pg"}, "SQL stays behind types of our own"},
    {"nlohmann/", {"json/"}, "the tree of JSON is json/tree.h, its names for headers json/tree_fwd.h"},
    {"simdjson.h", {"json/"}, "parsed JSON is json/document.h"},
    {"arm/body/array_keys.h", kParsedBodies, kParsedBodiesWhy},
    {"arm/body/canonical_value.h", kParsedBodies, kParsedBodiesWhy},
    {"arm/body/difference_table.h", kParsedBodies, kParsedBodiesWhy},
    {"filesystem", kEverywhereImpure, "pure code touches no disk: take the text as an argument"},
    {"fstream", kEverywhereImpure, "pure code touches no disk: take the text as an argument"},
    {"proxy/config/config.h",
     {"proxy/gateway/", "proxy/config/", "cli/", "tests/"},
     "every other part takes its own small Options struct"},
};

// What is wrong with the include of `header` in the file `path`; empty if nothing.
inline string fault_of_include(string_view path, string_view header) {
  for (const LibraryRule& rule : kLibraries) {
    if (header.starts_with(rule.header) && !starts_with_any(path, rule.allowed)) return string(rule.why);
  }
  const bool is_tree_or_document = header == "json/tree.h" || header == "json/document.h";
  const bool may_show_it = path.ends_with(".cc") || starts_with_any(path, {"json/", "arm/body/", "tests/"});
  if (is_tree_or_document && !may_show_it) return "JSON types stay in .cc files; json/tree_fwd.h has their names";
  const string_view to = layer_of(header);
  const string_view from = layer_of(path);
  if (to.empty() || from == to || may_include(from, to)) return {};
  return string(from) + " may not include " + string(to) + " (CMakeLists.txt has the order of layers)";
}

// ---- what must not be used ------------------------------------------------------------------------------------------

struct Ban {
  string_view word;  // begins at a word's beginning, unless it begins with '_' or ':'
  string_view instead;
  Views allowed;  // path prefixes
  string_view bad;
  string_view good;
};

inline const Ban kBans[] = {
    {"_clock::now(",
     "the Clock seam, or a TimePoint argument",
     {"proxy/seams/real_clock", "sim/", "bench/", "tests/wire/", "tests/gate_sim/gate_sim.cc"},
     "auto t = std::chrono::steady_clock::now();",
     "auto t = clock.now();"},
    {"random_device",
     "an Rng& argument, seeded in the gateway",
     {"proxy/gateway/", "cli/", "sim/"},
     "std::random_device d;",
     "rng.below(7);"},
    {"rand(", "an Rng& argument", {}, "int i = rand();", "int i = operand(1); // rand()"},
    {"this_thread::sleep", "Clock::sleep_until", {"sim/"}, "std::this_thread::sleep_for(x);", "co_await clock.sleep_for(x);"},
    {"getenv(", "an option of the command line or the config", {"cli/"}, "std::getenv(\"HOME\");", "options.home;"},
    {"std::thread",
     "the event loops that the gateway starts, the journal's, the cluster's and the log's writers",
     {"proxy/gateway/", "proxy/journal/", "proxy/cluster/engine/", "proxy/observability/line_writer", "cli/",
      "proxy/seams/real_clock", "sim/", "tests/", "bench/"},
     "std::thread t(f);",
     "std::this_thread::get_id();"},
    {"std::jthread",
     "the event loops that the gateway starts, the one that reads the journal for the admin listener",
     {"proxy/observability/admin.cc", "sim/", "tests/"},
     "std::jthread t(f);",
     "spawn(executor, f());"},
    {"co_spawn",
     "spawn() of proxy/async, which lets no exception vanish",
     {"proxy/async/", "sim/", "tests/", "bench/"},
     "asio::co_spawn(e, f(), asio::detached);",
     "spawn(e, f());"},
    {"reinterpret_cast",
     "a typed value; bytes are cast only at the edge to C libraries",
     {"certs/", "proxy/net/", "proxy/http/inflate", "proxy/cluster/engine/seal", "sim/", "tests/"},
     "reinterpret_cast<char*>(p)",
     "static_cast<char>(c)"},
    {"absl::string_view", "std::string_view (docs/decisions/0008)", {}, "absl::string_view s;", "std::string_view s;"},
    {"absl::Str", "fmt and std::string_view (docs/decisions/0008)", {}, "absl::StrCat(a, b);", "fmt::format(\"{}{}\", a, b);"},
    {"absl::Status", "Result and Error (docs/decisions/0001)", {}, "absl::StatusOr<int> f();", "Result<int> f();"},
    {"using namespace std;", "names with their namespace", {}, "using namespace std;", "using namespace std::literals;"},
};

inline bool uses(const string& code, string_view word) {
  for (size_t at = code.find(word); at != string::npos; at = code.find(word, at + 1)) {
    if (!is_word(word[0]) || word[0] == '_' || at == 0 || !is_word(code[at - 1])) return true;
  }
  return false;
}

// A coroutine that is a lambda loses its captures at the first suspension, when the lambda object dies.
inline bool has_capturing_coroutine(const string& code) {
  static const std::regex pattern(R"(\[[^\]\s]+[^\]]*\]\s*(\([^;{}]*\)\s*)?(mutable\s*)?->\s*(armgate::)?Task<)");
  return code.find("-> Task<") != string::npos && std::regex_search(code, pattern);
}

// g++ 12 miscompiles a co_await on one side of ?:, && or ||: what it gives is destroyed twice, or the frame is laid out
// wrong.
inline bool has_conditional_await(const string& code) {
  static const std::regex pattern(R"((\?|&&|\|\|)\s*!?\(?co_await\b|\?[^;{}?]*[^:]:\s*co_await\b)");
  return code.find("co_await") != string::npos && std::regex_search(code, pattern);
}

// ---- comments ---------------------------------------------------------------------------------------------------------

inline constexpr size_t kCommentColumnsMax = 128;  // as .clang-format has it for code; it leaves comments alone

// Lines of comments that are too wide, or in which a sentence begins with a relative clause: its subject comes too late. A title
// in quotation marks may begin so.
inline Strings faults_of_comments(const string& text) {
  static const std::regex pattern(R"re((^|[^"\w])(Who|Whoever|Whom|Whose)\b)re");
  Strings faults;
  std::istringstream lines(text);
  for (string line; std::getline(lines, line);) {
    size_t begins = 0;
    for (size_t end = 0; begins < line.size() && !string_view(line).substr(begins).starts_with("//");
         begins = std::max(end, begins + 1))
      end = end_of_noise(line, begins);
    if (begins >= line.size()) continue;
    const bool is_whole = line.find_first_not_of(" \t") == begins;
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };  // a byte within a character
    const size_t columns = line.size() - static_cast<size_t>(std::count_if(line.begin(), line.end(), continues));
    if ((is_whole && columns > kCommentColumnsMax) || std::regex_search(line.substr(begins), pattern)) faults.push_back(line);
  }
  return faults;
}

// ---- tests of their own name ------------------------------------------------------------------------------------------

// Where the test of a source stands: in the mirrored folder.
inline string twin_of(string_view path) { return "tests/" + string(path.substr(0, path.rfind('.'))) + "_test.cc"; }

// Marks of unfinished work. Put together from halves, so that this file has none.
inline const string kUnfinishedMarks[] = {string("TO") + "DO", string("FIX") + "ME"};

inline bool has_unfinished_mark(const string& text) {
  return std::any_of(std::begin(kUnfinishedMarks), std::end(kUnfinishedMarks),
                     [&](const string& mark) { return uses(text, mark); });
}

}  // namespace armgate::tidy
