// The house rules that no compiler checks: who may include what, how long a file may be, what must not be used and what
// to use instead, and that every piece of logic has its test. Goal: a reviewer never has to say these things. Each rule
// is first tried on a small bad and a small good example, then on every file of the tree.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;
using std::string;
using std::string_view;
using Strings = std::vector<string>;
using Views = std::vector<string_view>;

bool starts_with_any(string_view text, const Views& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](string_view prefix) { return text.starts_with(prefix); });
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// ---- reading C++ -----------------------------------------------------------------------------------------------------

// Where the string or character literal, or the comment, that begins at `at` ends; `at` itself if none begins there.
size_t end_of_noise(string_view text, size_t at) {
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
string code_of(string_view text) {
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

Strings includes_of(const string& code) {
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

// The layers, lowest first, and the layers that each may include. One that is missing here may not exist.
const std::map<string_view, Views> kLayers = {
    {"base", {}},
    {"arm", {"base"}},
    {"rules", {"base", "arm"}},
    {"certs", {"base"}},
    {"proxy/policy", {"base", "arm", "rules"}},
    {"proxy/async", {"base"}},
    {"proxy/seams", {"base", "arm", "proxy/async"}},
    {"proxy/state", {"base", "arm", "rules", "proxy/policy", "proxy/async", "proxy/seams"}},
    {"proxy/http", {"base", "arm", "proxy/async", "proxy/seams"}},
    {"proxy/stages", {"base", "arm", "rules", "proxy/policy", "proxy/async", "proxy/seams", "proxy/state", "proxy/http"}},
    {"proxy/net", {"base", "arm", "rules", "certs", "proxy/policy", "proxy/async", "proxy/seams", "proxy/state", "proxy/http", "proxy/stages"}},
    {"proxy", {"base", "arm", "rules", "certs", "proxy/policy", "proxy/async", "proxy/seams", "proxy/state", "proxy/http", "proxy/stages", "proxy/net"}},
    {"sim", {"base", "arm"}},
    {"bench", {"base", "arm", "rules", "certs", "proxy/policy", "proxy/async", "proxy/seams", "proxy/state", "proxy/http", "proxy/stages", "proxy/net", "proxy", "sim"}},
    {"tests", {"base", "arm", "rules", "certs", "proxy/policy", "proxy/async", "proxy/seams", "proxy/state", "proxy/http", "proxy/stages", "proxy/net", "proxy", "sim"}},
};

string_view layer_of(string_view path) {
  string_view best;
  for (const auto& [layer, below] : kLayers) {
    if (path.starts_with(layer) && path.substr(layer.size()).starts_with('/') && layer.size() > best.size()) best = layer;
  }
  return best;
}

struct LibraryRule {
  string_view header;   // what the include begins with
  Views allowed;        // where it may stand: path prefixes
  string_view why;
};

const Views kEverywhereImpure = {"certs/", "proxy/async/", "proxy/seams/", "proxy/state/", "proxy/http/", "proxy/stages/",
                                 "proxy/net/", "proxy/gateway", "proxy/main", "proxy/config", "proxy/cli", "sim/", "tests/", "bench/"};
const LibraryRule kLibraries[] = {
    {"openssl/", {"certs/", "proxy/net/", "sim/", "tests/"}, "TLS and keys live in certs and proxy/net"},
    {"boost/beast", {"sim/", "tests/"}, "our own codec is the one reading of HTTP (docs/decisions/0007)"},
    {"boost/asio", {"proxy/async/", "proxy/net/", "proxy/seams/real_clock", "proxy/gateway", "sim/", "tests/", "bench/"},
     "Asio enters through proxy/async, so that the simulator can take its place"},
    {"boost/", kEverywhereImpure, "pure folders are std only"},
    {"absl/synchronization", kEverywhereImpure, "pure code has no threads to guard against"},
    {"filesystem", kEverywhereImpure, "pure code touches no disk: take the text as an argument"},
    {"fstream", kEverywhereImpure, "pure code touches no disk: take the text as an argument"},
    {"proxy/config.h", {"proxy/main", "proxy/gateway", "proxy/config", "proxy/option", "proxy/cli", "tests/"},
     "every other part takes its own small Options struct"},
};

// What is wrong with the include of `header` in the file `path`; empty if nothing.
string fault_of_include(string_view path, string_view header) {
  for (const LibraryRule& rule : kLibraries) {
    if (header.starts_with(rule.header) && !starts_with_any(path, rule.allowed)) return string(rule.why);
  }
  const bool json = header.starts_with("nlohmann/") || header == "simdjson.h";
  if (json && header != "nlohmann/json_fwd.hpp" && !path.ends_with(".cc")) return "JSON types stay in .cc files";
  const string_view to = layer_of(header);
  const string_view from = layer_of(path);
  if (to.empty() || from == to) return {};
  const Views& allowed = kLayers.at(from);
  if (std::find(allowed.begin(), allowed.end(), to) != allowed.end()) return {};
  return string(from) + " may not include " + string(to) + " (CMakeLists.txt has the order of layers)";
}

// ---- what must not be used ------------------------------------------------------------------------------------------

struct Ban {
  string_view word;      // begins at a word's beginning, unless it begins with '_' or ':'
  string_view instead;
  Views allowed;         // path prefixes
  string_view bad;
  string_view good;
};

const Ban kBans[] = {
    {"_clock::now(", "the Clock seam, or a TimePoint argument", {"proxy/seams/real_clock", "sim/", "bench/", "tests/wire/"},
     "auto t = std::chrono::steady_clock::now();", "auto t = clock.now();"},
    {"random_device", "an Rng& argument, seeded in the gateway", {"proxy/gateway", "proxy/main", "sim/"}, "std::random_device d;", "rng.below(7);"},
    {"rand(", "an Rng& argument", {}, "int i = rand();", "int i = operand(1); // rand()"},
    {"this_thread::sleep", "Clock::sleep_until", {"sim/"}, "std::this_thread::sleep_for(x);", "co_await clock.sleep_for(x);"},
    {"getenv(", "an option of the command line or the config", {"proxy/main", "proxy/cli"}, "std::getenv(\"HOME\");", "options.home;"},
    {"std::thread", "the event loops that the gateway starts", {"proxy/gateway", "proxy/main", "proxy/seams/real_clock", "sim/", "tests/", "bench/"},
     "std::thread t(f);", "std::this_thread::get_id();"},
    {"std::jthread", "the event loops that the gateway starts", {"sim/", "tests/"}, "std::jthread t(f);", "spawn(executor, f());"},
    {"co_spawn", "spawn() of proxy/async, which lets no exception vanish", {"proxy/async/", "sim/", "tests/", "bench/"},
     "asio::co_spawn(e, f(), asio::detached);", "spawn(e, f());"},
    {"reinterpret_cast", "a typed value; bytes are cast only at the edge to C libraries", {"certs/", "proxy/net/", "proxy/http/inflate", "sim/", "tests/"},
     "reinterpret_cast<char*>(p)", "static_cast<char>(c)"},
    {"absl::string_view", "std::string_view (docs/decisions/0008)", {}, "absl::string_view s;", "std::string_view s;"},
    {"absl::Str", "fmt and std::string_view (docs/decisions/0008)", {}, "absl::StrCat(a, b);", "fmt::format(\"{}{}\", a, b);"},
    {"absl::Status", "Result and Error (docs/decisions/0001)", {}, "absl::StatusOr<int> f();", "Result<int> f();"},
    {"using namespace std;", "names with their namespace", {}, "using namespace std;", "using namespace std::literals;"},
};

bool uses(const string& code, string_view word) {
  for (size_t at = code.find(word); at != string::npos; at = code.find(word, at + 1)) {
    if (!is_word(word[0]) || word[0] == '_' || at == 0 || !is_word(code[at - 1])) return true;
  }
  return false;
}

// A coroutine that is a lambda loses its captures at the first suspension, when the lambda object dies.
bool has_capturing_coroutine(const string& code) {
  static const std::regex pattern(R"(\[[^\]\s]+[^\]]*\]\s*(\([^;{}]*\)\s*)?(mutable\s*)?->\s*(armgate::)?Task<)");
  return code.find("-> Task<") != string::npos && std::regex_search(code, pattern);
}

// Marks of unfinished work. Written in two halves so that this file has none.
bool has_unfinished_mark(const string& text) { return uses(text, "TO" "DO") || uses(text, "FIX" "ME"); }

// ---- the tree -------------------------------------------------------------------------------------------------------

constexpr int kLinesMax = 400;

struct File {
  string path;  // from the root of the tree
  string text;
  string code;  // for C++
  bool is_cpp() const { return path.ends_with(".cc") || path.ends_with(".h"); }
};

std::vector<File> read_tree() {
  const fs::path root = ARMGATE_SOURCE_DIR;
  std::vector<File> files;
  for (const char* folder : {"base", "arm", "rules", "certs", "proxy", "sim", "bench", "tests", "scripts", ".ci"}) {
    if (!fs::exists(root / folder)) continue;
    for (auto entry = fs::recursive_directory_iterator(root / folder); entry != fs::recursive_directory_iterator(); ++entry) {
      if (entry->path().filename() == "node_modules") entry.disable_recursion_pending();
      const string path = fs::relative(entry->path(), root).string();
      const string kind = entry->path().extension().string();
      static const std::set<string> kCode = {".cc", ".h", ".mjs", ".sh", ".py", ".txt", ""};
      if (!entry->is_regular_file() || !kCode.contains(kind)) continue;
      std::ostringstream text;
      text << std::ifstream(entry->path()).rdbuf();
      File file{path, text.str(), {}};
      if (file.is_cpp()) file.code = code_of(file.text);
      files.push_back(std::move(file));
    }
  }
  return files;
}

const std::vector<File>& tree() {
  static const std::vector<File> files = read_tree();
  return files;
}

// Logic that is tested elsewhere than in a test of its own name.
const std::map<string_view, string_view> kTwinExemptions = {
    {"proxy/async/asio_impl.cc", "holds Asio's compiled half, no code of ours"},
    {"proxy/async/spawn.cc", "every test of a coroutine starts through it"},
};

// ---- the rules on examples ------------------------------------------------------------------------------------------

TEST(TidyReader, CommentsAndLiteralsAreNotCode) {
  EXPECT_EQ(code_of("a // rand()\nb"), "a \nb");
  EXPECT_EQ(code_of("a /* x\n y */ b"), "a \n b");
  EXPECT_EQ(code_of(R"(f("rand()\"", 'x', 1'000'000, y))"), "f(, , 1'000'000, y)");
  EXPECT_EQ(code_of("R\"x(rand()\n\")x\" b"), "\n b");
  EXPECT_EQ(includes_of(code_of("#include \"arm/http.h\"  // why\n#include <map>\nauto s = \"\\n#include <x>\";")),
            (Strings{"arm/http.h", "map"}));
}

TEST(TidyReader, IncludesGoOnlyDown) {
  const struct { const char* path; const char* header; bool allowed; } cases[] = {
      {"arm/url.cc", "base/text.h", true},
      {"base/text.h", "arm/url.h", false},
      {"proxy/policy/retry.cc", "proxy/state/lock_table.h", false},
      {"proxy/stages/guard.cc", "proxy/state/lock_table.h", true},
      {"proxy/state/lock_table.cc", "proxy/stages/exchange.h", false},
      {"proxy/gateway.cc", "proxy/net/listener.h", true},
      {"proxy/net/listener.cc", "proxy/gateway.h", false},
      {"proxy/net/listener.cc", "proxy/config.h", false},
      {"proxy/gateway.cc", "proxy/config.h", true},
      {"certs/leaf.cc", "openssl/x509.h", true},
      {"certs/leaf.cc", "arm/url.h", false},
      {"arm/url.cc", "openssl/x509.h", false},
      {"rules/plan.cc", "boost/url.hpp", false},
      {"rules/rule_file.cc", "fstream", false},
      {"proxy/stages/guard.cc", "boost/asio/steady_timer.hpp", false},
      {"proxy/net/session.cc", "boost/asio/ip/tcp.hpp", true},
      {"proxy/net/session.cc", "boost/beast/http.hpp", false},
      {"tests/wire/oracle_test.cc", "boost/beast/http.hpp", true},
      {"arm/content.cc", "nlohmann/json.hpp", true},
      {"arm/content.h", "nlohmann/json.hpp", false},
      {"arm/content.h", "nlohmann/json_fwd.hpp", true},
      {"sim/armsim_main.cc", "proxy/gateway.h", false},
      {"proxy/gateway.cc", "tests/support/world.h", false},
      {"tests/arm/url_test.cc", "tests/support/world.h", true},
  };
  for (const auto& c : cases) EXPECT_EQ(fault_of_include(c.path, c.header).empty(), c.allowed) << c.path << " includes " << c.header;
}

TEST(TidyReader, EachBanCatchesItsBadExampleAndLeavesTheGoodOne) {
  for (const Ban& ban : kBans) {
    EXPECT_TRUE(uses(code_of(ban.bad), ban.word)) << ban.word;
    EXPECT_FALSE(uses(code_of(ban.good), ban.word)) << ban.word;
  }
  EXPECT_TRUE(has_capturing_coroutine("auto f = [&]() -> Task<void> { co_return; };"));
  EXPECT_TRUE(has_capturing_coroutine("auto f = [self, n](int a) mutable -> Task<int> {"));
  EXPECT_FALSE(has_capturing_coroutine("auto f = [](int a) -> Task<int> {"));
  EXPECT_FALSE(has_capturing_coroutine("int n = table[i]; Task<int> f(int a); auto g() -> Task<int>;"));
  EXPECT_TRUE(has_unfinished_mark("// TO" "DO: later"));
  EXPECT_FALSE(has_unfinished_mark("// nothing is left to do"));
}

// ---- the rules on the tree ------------------------------------------------------------------------------------------

TEST(Tidy, EveryIncludePointsDown) {
  for (const File& file : tree()) {
    if (!file.is_cpp()) continue;
    ASSERT_FALSE(layer_of(file.path).empty()) << file.path << ": its folder is in no layer of this test";
    for (const string& header : includes_of(file.code)) {
      EXPECT_EQ(fault_of_include(file.path, header), "") << file.path << " includes " << header;
    }
  }
}

TEST(Tidy, NothingBannedIsUsed) {
  for (const File& file : tree()) {
    EXPECT_FALSE(has_unfinished_mark(file.text)) << file.path << ": finish it, or open an issue";
    if (!file.is_cpp()) continue;
    EXPECT_FALSE(has_capturing_coroutine(file.code)) << file.path << ": a coroutine takes parameters, it does not capture";
    for (const Ban& ban : kBans) {
      if (starts_with_any(file.path, ban.allowed)) continue;
      EXPECT_FALSE(uses(file.code, ban.word)) << file.path << ": instead of " << ban.word << " use " << ban.instead;
    }
  }
}

TEST(Tidy, NoFileIsTooLongToRead) {
  for (const File& file : tree()) {
    EXPECT_LE(std::count(file.text.begin(), file.text.end(), '\n'), kLinesMax) << file.path << ": split it by purpose";
  }
}

TEST(Tidy, EveryHeaderIsGuardedAndUsed) {
  std::set<string> included;
  for (const File& file : tree()) {
    for (string& header : includes_of(file.code)) included.insert(std::move(header));
  }
  for (const File& file : tree()) {
    if (!file.path.ends_with(".h")) continue;
    EXPECT_TRUE(uses(file.code, "#pragma once")) << file.path;
    EXPECT_TRUE(included.contains(file.path)) << file.path << ": nobody includes it";
  }
}

TEST(Tidy, EveryPieceOfLogicHasATestOfItsName) {
  std::set<string> tests;
  for (const File& file : tree()) {
    if (file.path.starts_with("tests/")) tests.insert(fs::path(file.path).filename().string());
  }
  const Views tested = {"base/", "arm/", "rules/", "certs/", "proxy/policy/", "proxy/async/", "proxy/state/", "proxy/http/"};
  for (const File& file : tree()) {
    if (!file.path.ends_with(".cc") || !starts_with_any(file.path, tested) || kTwinExemptions.contains(file.path)) continue;
    const string twin = fs::path(file.path).stem().string() + "_test.cc";
    EXPECT_TRUE(tests.contains(twin)) << file.path << ": there is no " << twin << " anywhere under tests/";
  }
}

TEST(Tidy, EveryExemptionIsStillNeeded) {
  std::set<string> paths;
  for (const File& file : tree()) paths.insert(file.path);
  for (const auto& [path, why] : kTwinExemptions) EXPECT_TRUE(paths.contains(string(path))) << path << " is gone";
}

}  // namespace
