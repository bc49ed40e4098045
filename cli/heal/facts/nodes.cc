#include "cli/heal/facts/nodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "base/text.h"
#include "json/tree.h"

namespace armgate::heal {
namespace {

constexpr std::string_view kNothing = "<none>";  // what kubectl prints for a member that is not there

Words kubectl(const std::string& kubeconfig, std::initializer_list<std::string> rest) {
  Words words{"kubectl", "--kubeconfig", kubeconfig};
  words.insert(words.end(), rest.begin(), rest.end());
  return words;
}

std::string selector(const std::string& pool) { return "agentpool=" + pool; }

}  // namespace

Words nodes_command(const std::string& kubeconfig, const std::string& pool) {
  return kubectl(kubeconfig,
                 {"--request-timeout", "20s", "get", "nodes", "--selector", selector(pool), "--no-headers",
                  "--ignore-not-found", "--output",
                  "custom-columns=NAME:.metadata.name,CORDONED:.spec.unschedulable,GOES:.metadata.deletionTimestamp,"
                  "READY:.status.conditions[?(@.type==\"Ready\")].status"});
}

Words cordon_command(const std::string& kubeconfig, const std::string& pool) {
  return kubectl(kubeconfig, {"--request-timeout", "20s", "cordon", "--selector", selector(pool)});
}

// As the source system drains (docs/heal.md): also pods that nobody will make anew, and what they keep on the node.
Words drain_command(const std::string& kubeconfig, const std::string& pool) {
  return kubectl(kubeconfig, {"drain", "--selector", selector(pool), "--ignore-daemonsets", "--delete-emptydir-data", "--force",
                              "--timeout", "10m"});
}

Result<NodeCount> read_nodes(std::string_view printed) {
  NodeCount count;
  std::istringstream lines{std::string(printed)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream columns(line);
    Words words;
    for (std::string word; columns >> word;) words.push_back(word);
    if (words.empty()) continue;
    if (words.size() != 4) {
      return gateway_error(ErrorKind::BadInput, fmt::format("kubectl printed \"{}\", which is no node", printable(line)));
    }
    const bool cordoned = words[1] != kNothing && words[1] != "false";
    ++count.all;
    if (!cordoned && words[2] == kNothing && words[3] == "True")
      ++count.ready;
    else
      count.others.push_back(printable(words[0]));
  }
  return count;
}

std::string text_of(const NodeCount& count, std::string_view pool, size_t wanted) {
  constexpr size_t kNamesMax = 5;
  std::string text = fmt::format("{} of {} nodes of pool {} are ready, {} are wanted", count.ready, count.all, pool, wanted);
  if (count.others.empty()) return text;
  const size_t named = std::min(count.others.size(), kNamesMax);
  text += fmt::format("; not ready: {}",
                      fmt::join(count.others.begin(), count.others.begin() + static_cast<ptrdiff_t>(named), ", "));
  if (named < count.others.size()) text += fmt::format(" and {} more", count.others.size() - named);
  return text;
}

int64_t wanted_nodes(std::string_view pool) {
  const auto read = nlohmann::json::parse(pool, nullptr, false);
  const auto properties = read.is_object() ? read.find("properties") : read.end();
  if (!read.is_object() || properties == read.end() || !properties->is_object()) return 1;
  for (const char* name : {"minCount", "count"}) {
    const auto value = properties->find(name);
    if (value != properties->end() && value->is_number_integer() && value->get<int64_t>() > 0) return value->get<int64_t>();
  }
  return 1;
}

}  // namespace armgate::heal
