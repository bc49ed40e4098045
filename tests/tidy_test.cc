// The house rules on the whole tree. Goal: each rule of tidy_rules.h is first tried on a small bad and a small good
// example, then on every file, together with the rules about files: their length, their users and their tests.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/source_tree.h"
#include "tests/tidy_references.h"
#include "tests/tidy_rules.h"
#include "tests/tidy_tree.h"
#include "tests/tidy_units.h"
#include "tests/tidy_uses.h"

namespace armgate::tidy {
namespace {

// ---- the tree -------------------------------------------------------------------------------------------------------

constexpr int kLinesMax = 400;
constexpr size_t kKnotMax = 3;       // units that need each other
constexpr size_t kFilesMax = 25;     // of C++ in a folder, without those below it
constexpr size_t kHeadersMax = 116;  // of the tree that one source reaches
constexpr size_t kIncludeDepthMax = 18;

const std::vector<File>& tree() {
  static const std::vector<File> files = read_tree();
  return files;
}

// Logic that is tested elsewhere than in a test of its own name.
const std::map<string_view, string_view> kTwinExemptions = {
    {"proxy/async/asio_impl.cc", "holds Asio's compiled half, no code of ours"},
    {"proxy/observability/admin_files.cc", "the files of the live page: tests/e2e/page_suite.mjs"},
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
  const struct {
    const char* path;
    const char* header;
    bool allowed;
  } cases[] = {
      {"arm/url.cc", "base/text.h", true},
      {"base/text.h", "arm/url.h", false},
      {"proxy/policy/retry.cc", "proxy/state/lock/lock_table.h", false},
      {"proxy/request/guard/guard.cc", "proxy/state/lock/lock_table.h", true},
      {"proxy/state/lock/lock_table.cc", "proxy/request/exchange.h", false},
      {"proxy/gateway/gateway.cc", "proxy/net/client/listener.h", true},
      {"proxy/net/client/listener.cc", "proxy/gateway/gateway.h", false},
      {"proxy/net/client/listener.cc", "proxy/config/config.h", false},
      {"proxy/gateway/gateway.cc", "proxy/config/config.h", true},
      {"certs/leaf.cc", "openssl/x509.h", true},
      {"certs/leaf.cc", "arm/url.h", false},
      {"arm/url.cc", "openssl/x509.h", false},
      {"rules/plan.cc", "boost/url.hpp", false},
      {"rules/file/rule_file.cc", "fstream", false},
      {"proxy/request/guard/guard.cc", "boost/asio/steady_timer.hpp", false},
      {"proxy/net/client/session.cc", "boost/asio/ip/tcp.hpp", true},
      {"proxy/net/client/session.cc", "boost/beast/http.hpp", false},
      {"tests/wire/oracle_test.cc", "boost/beast/http.hpp", true},
      {"arm/arm_error.cc", "nlohmann/json.hpp", false},
      {"arm/arm_error.cc", "simdjson.h", false},
      {"json/tree.h", "nlohmann/json.hpp", true},
      {"arm/arm_error.cc", "json/tree.h", true},
      {"arm/arm_error.h", "json/tree.h", false},
      {"arm/arm_error.h", "json/tree_fwd.h", true},
      {"arm/arm_error.h", "json/document.h", false},
      {"arm/body/array_keys.h", "json/document.h", true},
      {"arm/arm_error.cc", "json/document.h", true},
      {"json/scan.cc", "arm/http.h", false},
      {"proxy/policy/base.cc", "arm/body/difference_table.h", false},
      {"rules/plan.cc", "arm/body/array_keys.h", false},
      {"sim/server/armsim_main.cc", "proxy/gateway/gateway.h", false},
      {"proxy/gateway/gateway.cc", "tests/support/world.h", false},
      {"tests/arm/url_test.cc", "tests/support/world.h", true},
  };
  for (const auto& c : cases)
    EXPECT_EQ(fault_of_include(c.path, c.header).empty(), c.allowed) << c.path << " includes " << c.header;
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
  EXPECT_TRUE(has_conditional_await("auto next = ok ? co_await f() : g();"));
  EXPECT_TRUE(has_conditional_await("auto next = ok ? g(1)\n : co_await f();"));
  EXPECT_TRUE(has_conditional_await("if (n > 0 &&\n    !co_await f()) g();"));
  EXPECT_FALSE(has_conditional_await("if (!co_await f()) g(a && b);"));
  EXPECT_FALSE(has_conditional_await("int n = ok ? 1 : 2; switch (n) { case Kind::A: co_await f(); }"));
  for (const string& mark : kUnfinishedMarks) EXPECT_TRUE(has_unfinished_mark("// " + mark + ": later"));
  EXPECT_FALSE(has_unfinished_mark("// nothing is left to do"));
}

TEST(TidyReader, ACommentIsNarrowAndBeginsWithItsSubject) {
  EXPECT_EQ(twin_of("proxy/request/guard/guard.cc"), "tests/proxy/request/guard/guard_test.cc");
  EXPECT_EQ(faults_of_comments("// A client that reads is shown \"Who decides\".\nint who;  // whoever reads; Whole\n"),
            Strings{});
  EXPECT_EQ(faults_of_comments("int i;\n// Who reads is sent.\n").size(), 1u);
  EXPECT_EQ(faults_of_comments("  // It goes. Whoever reads is sent.\n").size(), 1u);
  EXPECT_EQ(faults_of_comments("int i;  // Whose it is\n/// Whom it tells\n").size(), 2u);
  EXPECT_EQ(faults_of_comments("f(\"// Who\");\n" + string(200, 'x') + "\n// \u2013" + string(124, 'x')), Strings{});
  EXPECT_EQ(faults_of_comments("// \u2013" + string(125, 'x')).size(), 1u);
}

TEST(TidyReader, WhatIsUsedIsIncludedDirectlyOrThroughOurHeaders) {
  const std::map<string, Strings> tree = {
      {"a/x.cc", {"a/x.h", "vector"}}, {"a/x.h", {"b/y.h"}}, {"b/y.h", {"map", "z.h"}}, {"b/z.h", {"boost/asio/post.hpp"}}};
  const std::set<string> reached = reached_from("a/x.cc", tree);
  EXPECT_EQ(reached, (std::set<string>{"a/x.h", "vector", "b/y.h", "map", "b/z.h", "boost/asio/post.hpp"}));
  EXPECT_EQ(missing_includes("std::vector<int> v; std::map<int, int> m; namespace asio = boost::asio;", reached), Strings{});
  EXPECT_EQ(missing_includes("auto d = std::chrono::seconds(1); my::optional o; std::optionally p;", reached),
            Strings{"std::chrono, which <chrono> gives"});
  EXPECT_EQ(missing_includes("return fmt::format();", reached), Strings{"fmt::format, which <fmt/> gives"});
}

TEST(TidyReader, ProseIsWhatCommentsAndParagraphsSay) {
  EXPECT_EQ(prose_of("a.cc", "// one,\n// \"two\"\n  // three\nf(\"// no\");  /* four\n * five */ int i;"),
            (Strings{" one, \"two\" three", " four five "}));
  EXPECT_EQ(prose_of("a.md", "one,\ntwo\n\nthree"), (Strings{" one, two", " three"}));
  EXPECT_EQ(prose_of("a.sh", "#!/bin/sh\n# one\nmake two"), (Strings{" !/bin/sh  one", ""}));
}

TEST(TidyReader, ACitationLeadsSomewhereOrIsFound) {
  const std::map<string, string> documents = {
      {"docs/design.md", "# The design\n## Promises\n### P1: Safe\n### L1: Alone\n## Locks\n```\n# no heading\n```\n"},
      {"docs/rules.md", "## `guard.kind`\n## Twin\n## Twin\n"},
      {"docs/decisions/0001-core.md", "# 0001: A core\n"},
  };
  const References known =
      references_to(documents, [&](const string& path) { return documents.contains(path) || path == "docs"; });
  const struct {
    const char* path;
    const char* text;
    Strings dangling;
  } cases[] = {
      {"a.cc",
       "// why: docs/design.md, \"Locks\" and\n// \"Promises\"; promises P1 and L1; docs/decisions/0001, RFC 9110 §5",
       {}},
      {"a.cc", "f(\"docs/gone.md, P99\");", {}},
      {"a.cc", "// docs/design.md, \"Locks\" and\n// \"Keys\"", {"docs/design.md, \"Keys\""}},
      {"a.cc", "// docs/design.md, \"no heading\"", {"docs/design.md, \"no heading\""}},
      {"a.cc", "// docs/gone.md", {"docs/gone.md"}},
      {"a.cc", "// see promises P1 and P12, law L5", {"P12", "L5"}},
      {"a.cc", "// decision 0002, docs/decisions/0003", {"decision 0002", "decision 0003"}},
      {"a.cc", "// RFC 9110 §5\nint i;  // and §6", {"§6"}},
      {"a.cc", "// as DESIGN says", {"DESIGN"}},
      {"a.json", "{\"a\": \"gone.md\" // docs/gone.md\n}", {"docs/gone.md"}},
      {"a.sh", "cat gone.md\n# docs/gone.md", {"docs/gone.md"}},
      {"docs/a.md",
       "[a](rules.md#guardkind) [b](rules.md#twin-1) [c](../docs) [else.md](rules.md) [d](https://x.example/y.md) rules.md, \"Twin\"",
       {}},
      {"docs/a.md", "[a](rules.md#guard) [b](gone.md) [c](../gone)", {"rules.md#guard", "gone.md", "../gone"}},
      {"docs/design.md", "[here](#locks) [nowhere](#keys)", {"#keys"}},
      {"docs/decisions/0001-core.md", "with mode 0600, and after 0007", {"decision 0007"}},
  };
  for (const auto& c : cases) EXPECT_EQ(dangling_in(c.path, c.text, known), c.dangling) << c.path << ": " << c.text;
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

TEST(Tidy, EveryFileIncludesWhatItUses) {
  std::map<string, Strings> includes;
  for (const File& file : tree()) {
    if (file.is_cpp()) includes.emplace(file.path, includes_of(file.code));
  }
  for (const File& file : tree()) {
    if (!file.is_cpp()) continue;
    for (const string& missing : missing_includes(file.code, reached_from(file.path, includes))) {
      ADD_FAILURE() << file.path << " uses " << missing;
    }
  }
}

TEST(Tidy, NothingBannedIsUsed) {
  for (const File& file : tree()) {
    EXPECT_FALSE(has_unfinished_mark(file.text)) << file.path << ": finish it, or open an issue";
    if (!file.is_cpp()) continue;
    EXPECT_FALSE(has_capturing_coroutine(file.code)) << file.path << ": a coroutine takes parameters, it does not capture";
    EXPECT_FALSE(has_conditional_await(file.code)) << file.path << ": await in statements of their own, with if and else";
    for (const Ban& ban : kBans) {
      if (starts_with_any(file.path, ban.allowed)) continue;
      EXPECT_FALSE(uses(file.code, ban.word)) << file.path << ": instead of " << ban.word << " use " << ban.instead;
    }
  }
}

TEST(Tidy, CommentsReadWell) {
  for (const File& file : tree()) {
    if (!file.is_cpp() || starts_with_any(file.path, {"tests/", "bench/"})) continue;
    EXPECT_EQ(faults_of_comments(file.text), Strings{}) << file.path << ": wrap it, or say \"a client that ...\"";
  }
}

TEST(Tidy, NoFileIsTooLongToRead) {
  for (const File& file : tree()) {
    EXPECT_LE(std::count(file.text.begin(), file.text.end(), '\n'), kLinesMax) << file.path << ": split it by purpose";
  }
}

TEST(TidyReader, AKnotIsWhatNeedsEachOther) {
  const IncludeGraph files = {
      {"a.h", {}}, {"a.cc", {"a.h", "b.h"}}, {"b.h", {"vector"}}, {"b.cc", {"b.h", "c.h"}}, {"c.h", {"a.h"}}, {"d.cc", {"c.h"}},
  };
  EXPECT_EQ(knots_of(units_of(files)), (std::vector<Strings>{{"a", "b", "c"}}));
  EXPECT_EQ(reach_of("d.cc", files).headers, 2u);
  EXPECT_EQ(reach_of("d.cc", files).depth, 2u);
}

IncludeGraph include_graph() {
  IncludeGraph graph;
  for (const File& file : tree()) {
    if (file.is_cpp()) graph.emplace(file.path, includes_of(file.code));
  }
  return graph;
}

TEST(Tidy, NoKnotIsLargerThanOneCanRead) {
  const auto knots = knots_of(units_of(include_graph()));
  for (const Strings& knot : knots) EXPECT_LE(knot.size(), kKnotMax) << testing::PrintToString(knot) << " need each other";
  std::cout << knots.size() << " knots of at most " << kKnotMax << " units\n";
}

TEST(Tidy, NoFileReachesTooMuch) {
  const IncludeGraph graph = include_graph();
  std::vector<size_t> headers;
  size_t depth = 0;
  for (const auto& [path, included] : graph) {
    if (!path.ends_with(".cc")) continue;
    const Reach reach = reach_of(path, graph);
    headers.push_back(reach.headers);
    depth = std::max(depth, reach.depth);
    EXPECT_LE(reach.headers, kHeadersMax) << path << ": declare forward what is only named";
    EXPECT_LE(reach.depth, kIncludeDepthMax) << path;
  }
  std::sort(headers.begin(), headers.end());
  std::cout << "own headers of a source: median " << headers[headers.size() / 2] << ", most " << headers.back()
            << "; longest chain of includes " << depth << "\n";
}

TEST(Tidy, NoFolderHoldsMoreThanOneCanSee) {
  std::map<string, size_t> folders;
  for (const File& file : tree()) folders[fs::path(file.path).parent_path().string()] += file.is_cpp() ? 1 : 0;
  for (const auto& [folder, count] : folders) EXPECT_LE(count, kFilesMax) << folder << ": divide it by subject";
}

TEST(Tidy, EveryHeaderIsGuardedAndUsed) {
  std::set<string> included;
  for (const File& file : tree()) {
    for (const string& header : includes_of(file.code)) {
      included.insert(header);
      included.insert((fs::path(file.path).parent_path() / header).string());  // named from its own folder
    }
  }
  for (const File& file : tree()) {
    if (!file.path.ends_with(".h")) continue;
    EXPECT_TRUE(uses(file.code, "#pragma once")) << file.path;
    EXPECT_TRUE(included.contains(file.path)) << file.path << ": nobody includes it";
  }
}

TEST(Tidy, EveryPieceOfLogicHasATestOfItsName) {
  const Views tested = {"base/",         "json/",          "arm/",         "rules/",        "certs/",
                        "proxy/policy/", "proxy/async/",   "proxy/seams/", "proxy/state/",  "proxy/journal/",
                        "proxy/http/",   "proxy/request/", "proxy/net/",   "proxy/config/", "proxy/observability/"};
  for (const File& file : tree()) {
    if (!file.path.ends_with(".cc") || !starts_with_any(file.path, tested) || kTwinExemptions.contains(file.path)) continue;
    EXPECT_TRUE(fs::exists(source_path(twin_of(file.path)))) << file.path << ": there is no " << twin_of(file.path);
  }
}

// What users look up: codes of errors, reasons, events of the log.
TEST(Tidy, EverythingThatIsToldIsInTheReference) {
  std::ostringstream reference;
  reference << std::ifstream(source_path("docs/answers.md")).rdbuf();
  const std::regex told(R"re("(Armgate[A-Z][A-Za-z]+)"|reason = "([a-z-]+)"|LogLevel::[A-Z][a-z]+,\s*"([a-z-]+)")re");
  size_t count = 0;
  for (const File& file : tree()) {
    if (!file.path.starts_with("proxy/")) continue;
    for (std::sregex_iterator found(file.text.begin(), file.text.end(), told), end; found != end; ++found) {
      for (size_t group = 1; group < found->size(); ++group) {
        if (!(*found)[group].matched) continue;
        ++count;
        EXPECT_NE(reference.str().find("`" + (*found)[group].str() + "`"), string::npos)
            << file.path << " tells \"" << (*found)[group].str() << "\", docs/answers.md does not explain it";
      }
    }
  }
  EXPECT_GT(count, 50u) << "the literals are written otherwise now";
}

TEST(Tidy, EveryCitationLeadsSomewhere) {
  const auto documents = read_documents();
  const References known = references_to(documents, [](const string& path) { return fs::exists(source_path(path)); });
  EXPECT_EQ(known.numbers.size(), 15u) << "docs/design.md has the promises P1 to P11 and the laws L1 to L4";
  const auto check = [&](const string& path, const string& text) {
    for (const string& dangling : dangling_in(path, text, known))
      ADD_FAILURE() << path << " cites what is not there: " << dangling;
  };
  for (const auto& [path, text] : documents) check(path, text);
  for (const File& file : tree()) check(file.path, file.text);
}

TEST(Tidy, EveryExemptionIsStillNeeded) {
  for (const auto& [path, why] : kTwinExemptions) {
    EXPECT_TRUE(fs::exists(source_path(path))) << path << " is gone";
    EXPECT_FALSE(fs::exists(source_path(twin_of(path)))) << path << " has " << twin_of(path);
  }
}

}  // namespace
}  // namespace armgate::tidy
