#include "tests/gate_sim/seed_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace armgate::world {
namespace {

// A word off the front of `rest`.
std::string_view take_word(std::string_view& rest) {
  rest = trim(rest);
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
  rest.remove_prefix(word.size());
  return word;
}

template <class List>
Result<std::string> parse_name(const List& all, std::string_view kind, std::string_view name) {
  std::string known;
  for (const auto& one : all) {
    if (one.name == name) return std::string(name);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", one.name);
  }
  return client_error(ErrorKind::BadInput, fmt::format("there is no {} \"{}\"; known are {}", kind, name, known));
}

Result<SeedLine> parse_line(std::string_view text) {
  SeedLine line;
  const size_t mark = std::min(text.find('#'), text.size());
  line.sentence = trim(text.substr(std::min(mark + 1, text.size())));
  text = text.substr(0, mark);
  const std::string_view seed = take_word(text);
  const auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), line.scenario.seed);
  if (error != std::errc() || end != seed.data() + seed.size()) {
    return client_error(ErrorKind::BadInput, fmt::format("\"{}\" is no seed; it must be a number", seed));
  }
  auto workload = parse_workload(take_word(text));
  if (!workload) return workload.error();
  line.scenario.workload = *std::move(workload);
  auto with = parse_disturbances(take_word(text));
  if (!with) return with.error();
  line.scenario.disturbances = *std::move(with);
  if (!trim(text).empty()) {
    return client_error(ErrorKind::BadInput, fmt::format("\"{}\" is too much; the sentence begins with #", trim(text)));
  }
  if (line.sentence.empty()) return client_error(ErrorKind::BadInput, "a sentence is missing: # what went wrong");
  return line;
}

}  // namespace

Result<std::string> parse_workload(std::string_view text) { return parse_name(workloads(), "workload", text); }

Result<std::vector<std::string>> parse_disturbances(std::string_view text) {
  if (text == "none") return std::vector<std::string>{"none"};
  std::vector<std::string> names;
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    auto name = parse_name(disturbances(), "disturbance", text.substr(0, comma));
    if (!name) return name.error();
    names.push_back(*std::move(name));
    if (comma == text.size()) return names;
    text.remove_prefix(comma + 1);
  }
}

Result<std::vector<SeedLine>> parse_seed_file(const std::string& file, std::string_view text) {
  std::vector<SeedLine> lines;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view one = trim(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), text.find('\n') == text.npos ? text.size() : text.find('\n') + 1));
    if (one.empty() || one.front() == '#') continue;
    auto line = parse_line(one);
    if (!line) return client_error(ErrorKind::BadInput, fmt::format("{}:{}: {}", file, number, line.error().context));
    line->line = number;
    lines.push_back(*std::move(line));
  }
  return lines;
}

}  // namespace armgate::world
