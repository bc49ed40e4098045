// tidy_references.h – do the citations in comments and documents lead somewhere? For tests/tidy_test.cc.
//
// Why: "see the design" is worth nothing if the reader cannot find it, and a section that is renamed leaves its citations behind.
//
// What counts as a citation
//   a document    docs/rules.md, its name alone from beside it, a link; with #anchor or , "Section" and "Another" it must have these headings
//   a number      P1 and L1: a promise or a law, which docs/design.md has a heading for; decision 0001, docs/decisions/0001
//   a section     the sign for it, only of an RFC that is named before it in the same comment or paragraph
#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "tests/tidy_rules.h"

namespace armgate::tidy {

// What can be cited.
struct References {
  struct Headings {
    std::set<string> titles;
    std::set<string> anchors;
  };
  std::map<string, Headings> documents;       // by path from the root of the tree
  std::set<string> numbers;                   // "P1", "L4"
  std::set<string> decisions;                 // "0001"
  std::function<bool(const string&)> exists;  // whether a path from the root is a file or a folder
};

// Notes that were never in the tree, cited by name alone.
inline const Views kNeverInTheTree = {"DESIGN", "arm-facts", "lock-scopes", "core-review", "base-model"};

// ---- what is written in prose ---------------------------------------------------------------------------------------

// Without the marks of a comment, on one line.
inline string one_line(string_view text, string_view marks) {
  std::istringstream lines{string(text)};
  string joined;
  for (string line; std::getline(lines, line);) {
    size_t at = line.find_first_not_of(" \t");
    if (at == line.npos) continue;
    while (at < line.size() && marks.find(line[at]) != marks.npos) ++at;
    joined += " " + line.substr(std::min(line.find_first_not_of(" \t", at), line.size()));
  }
  return joined;
}

// The comments of C++, JavaScript or JSON; those with nothing but blanks between them are one.
inline Strings comments_in(string_view text) {
  Strings comments;
  bool goes_on = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = end_of_noise(text, at);
    const bool is_comment = end > at && text[at] == '/';
    if (is_comment && goes_on) comments.back() += "\n";
    if (is_comment && !goes_on) comments.emplace_back();
    if (is_comment) comments.back() += text.substr(at, end - at - (text[at + 1] == '*' ? 2 : 0));
    goes_on = is_comment || (goes_on && end == at && std::isspace(static_cast<unsigned char>(text[at])) != 0);
    at = std::max(end, at + 1);
  }
  for (string& comment : comments) comment = one_line(comment, "/*");
  return comments;
}

// The paragraphs of a text; with `mark` only of the lines that begin with it.
inline Strings paragraphs_in(string_view text, string_view mark) {
  std::istringstream lines{string(text)};
  Strings paragraphs = {""};
  for (string line; std::getline(lines, line);) {
    const size_t at = line.find_first_not_of(" \t");
    const bool counts = at != line.npos && string_view(line).substr(at).starts_with(mark);
    if (counts) paragraphs.back() += " " + line.substr(at + mark.size());
    if (!counts && !paragraphs.back().empty()) paragraphs.emplace_back();
  }
  return paragraphs;
}

inline Strings prose_of(string_view path, string_view text) {
  if (path.ends_with(".md")) return paragraphs_in(text, "");
  const Views commented = {".cc", ".h", ".mjs", ".json"};
  const bool has_slashes =
      std::any_of(commented.begin(), commented.end(), [&](string_view end) { return path.ends_with(end); });
  return has_slashes ? comments_in(text) : paragraphs_in(text, "#");
}

// ---- what can be cited ----------------------------------------------------------------------------------------------

// As GitHub makes it from a heading.
inline string anchor_of(string_view title) {
  string anchor;
  for (const char c : title) {
    if (is_word(c) || c == '-') anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

inline References::Headings headings_of(const string& document) {
  References::Headings headings;
  std::istringstream lines(document);
  bool in_code = false;
  for (string line; std::getline(lines, line);) {
    in_code ^= line.starts_with("```");
    const size_t title_at = line.find_first_not_of('#');
    if (in_code || title_at == 0 || title_at == line.npos || line[title_at] != ' ') continue;
    string title = line.substr(title_at + 1);
    std::erase(title, '`');
    const string anchor = anchor_of(title);
    for (int twin = 0; !headings.anchors.insert(twin == 0 ? anchor : anchor + "-" + std::to_string(twin)).second;) ++twin;
    headings.titles.insert(std::move(title));
  }
  return headings;
}

// Of the documents of a tree, by path.
inline References references_to(const std::map<string, string>& documents, std::function<bool(const string&)> exists) {
  References known;
  known.exists = std::move(exists);
  for (const auto& [path, text] : documents) {
    const auto& headings = known.documents[path] = headings_of(text);
    static const std::regex kDecision(R"(docs/decisions/(\d{4})-.*)");
    std::smatch number;
    if (std::regex_match(path, number, kDecision)) known.decisions.insert(number[1]);
    if (path != "docs/design.md") continue;
    static const std::regex kNumbered(R"(([PL]\d+): .*)");
    for (const string& title : headings.titles) {
      if (std::regex_match(title, number, kNumbered)) known.numbers.insert(number[1]);
    }
  }
  return known;
}

// ---- what is cited --------------------------------------------------------------------------------------------------

// `named` from the root of the tree or from the folder of the file that names it; empty if it is nowhere.
inline string resolved(const string& named, string_view from, const References& known) {
  string beside = (std::filesystem::path(from).parent_path() / named).lexically_normal().string();
  if (known.exists(beside)) return beside;
  return known.exists(named) ? named : "";
}

// What is wrong with a document that is named, perhaps with an anchor and sections.
inline Strings faults_of_document(const std::smatch& cited, string_view from, const References& known) {
  const string named = cited[1];
  const string anchor = cited[2];
  const string document = named.empty() ? string(from) : resolved(named, from, known);
  if (document.empty()) return {named};
  const auto headings = known.documents.find(document);
  Strings faults;
  const auto is_among = [&](const string& wanted, auto which) {
    return headings != known.documents.end() && (headings->second.*which).contains(wanted);
  };
  if (!anchor.empty() && !is_among(anchor.substr(1), &References::Headings::anchors)) faults.push_back(named + anchor);
  const string sections = cited.size() > 3 ? cited[3].str() : "";
  static const std::regex kQuoted("\"([^\"]+)\"");
  for (std::sregex_iterator at(sections.begin(), sections.end(), kQuoted), end; at != end; ++at) {
    if (!is_among((*at)[1], &References::Headings::titles)) faults.push_back(named + ", \"" + (*at)[1].str() + "\"");
  }
  return faults;
}

// Every citation in the file that leads nowhere.
inline Strings dangling_in(string_view path, string_view text, const References& known) {
  static const std::regex kUrl(R"([a-z]+://[^\s)]*)");
  static const std::regex kLink(R"(\]\(([^)#\s]*)(#[^)\s]*)?\))");
  static const std::regex kLinkAndText(R"(\[[^\[\]]*\]\([^)\s]*\))");
  static const std::regex kDocument(
      R"re(([A-Za-z0-9_][A-Za-z0-9_./-]*\.md)\b(#[A-Za-z0-9_-]+)?((?:,?(?: and| or)? "[^"]+")*))re");
  static const std::regex kNumber(R"(\b[PL]\d+\b)");
  static const std::regex kDecision(R"(\b(?:[Dd]ecisions? |decisions/)(\d{4})\b)");
  static const std::regex kOtherDecision(R"(\b(00\d\d)\b)");
  Strings dangling;
  const auto each = [](const string& prose, const std::regex& pattern, auto what) {
    for (std::sregex_iterator at(prose.begin(), prose.end(), pattern), end; at != end; ++at) what(*at);
  };
  for (string prose : prose_of(path, text)) {
    const auto add_faults = [&](const std::smatch& cited) {
      const Strings faults = faults_of_document(cited, path, known);
      dangling.insert(dangling.end(), faults.begin(), faults.end());
    };
    prose = std::regex_replace(prose, kUrl, "");
    if (path.ends_with(".md")) each(prose, kLink, add_faults);
    each(path.ends_with(".md") ? std::regex_replace(prose, kLinkAndText, "") : prose, kDocument, add_faults);
    each(prose, kNumber, [&](const std::smatch& cited) {
      if (!known.numbers.contains(cited.str())) dangling.push_back(cited.str());
    });
    const auto add_decision = [&](const std::smatch& cited) {
      if (!known.decisions.contains(cited[1])) dangling.push_back("decision " + cited[1].str());
    };
    each(prose, path.starts_with("docs/decisions/") ? kOtherDecision : kDecision, add_decision);
    const size_t section = prose.find("§");
    if (section != prose.npos && prose.find("RFC ") > section) dangling.push_back(prose.substr(section, 8));
    for (const string_view name : kNeverInTheTree) {
      if (uses(prose, name)) dangling.emplace_back(name);
    }
  }
  return dangling;
}

}  // namespace armgate::tidy
