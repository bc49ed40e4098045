// Goal: docs/merging.md is true. Method: its cases are read and carried out, in both orders.
#include <gtest/gtest.h>

#include <fstream>

#include "base/source_tree.h"
#include "tests/arm/body/merged.h"

namespace armgate::arm {
namespace {

struct DocumentedCase {
  std::string title{};
  DeclaredFacts facts{};
  std::string before{}, a{}, b{}, result{};
};

// "before    {...}": the first word or two, and what comes after.
bool read_line(const std::string& line, DocumentedCase& one) {
  const auto rest = [&](std::string_view label) { return line.substr(line.find_first_not_of(' ', label.size())); };
  if (line.starts_with("before "))
    one.before = rest("before");
  else if (line.starts_with("A writes "))
    one.a = rest("A writes");
  else if (line.starts_with("B writes "))
    one.b = rest("B writes");
  else if (line.starts_with("result "))
    one.result = rest("result");
  else if (line.starts_with("known     write_only "))
    one.facts.write_only.push_back(rest("known     write_only"));
  else if (line.starts_with("known     kept "))
    one.facts.kept.push_back(rest("known     kept"));
  else
    return false;
  return true;
}

std::vector<DocumentedCase> cases_of_document() {
  std::vector<DocumentedCase> cases;
  std::ifstream document(source_path("docs/merging.md"));
  std::string title;
  bool inside = false;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("### ")) title = line.substr(4);
    if (line.starts_with("```")) {
      inside = line == "```merge";
      if (inside) cases.push_back({title});
    } else if (inside) {
      EXPECT_TRUE(read_line(line, cases.back())) << line;
    }
  }
  return cases;
}

TEST(MergingDocument, EachOfItsCasesIsTrue) {
  const auto cases = cases_of_document();
  EXPECT_EQ(cases.size(), 12u);
  for (const DocumentedCase& one : cases) {
    SCOPED_TRACE(one.title);
    const BodyFacts facts(one.facts);
    const Merge merged = merge({{{{one.before}}}, {one.b}, {one.a}}, facts, MergeScope::All);
    EXPECT_EQ(words_for(merged), one.result);
    // In the other order the same is said, or refused.
    const Merge turned = merge({{{{one.before}}}, {one.a}, {one.b}}, facts, MergeScope::All);
    EXPECT_EQ(turned.kind, merged.kind);
    if (merged.kind != Merge::Kind::Merged) continue;
    EXPECT_TRUE(compared({merged.body, turned.body}, facts).same(0, 1)) << turned.body;
  }
}

}  // namespace
}  // namespace armgate::arm
