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

Words context_command(const std::string& kubeconfig) { return kubectl(kubeconfig, {"config", "current-context"}); }

Words cordon_command(const std::string& kubeconfig, const std::string& pool) {
  return kubectl(kubeconfig, {"--request-timeout", "20s", "cordon", "--selector", selector(pool)});
}

// As the source system drains (docs/heal.md): also pods that nobody will make anew, and what they keep on the node.
Words drain_command(const std::string& kubeconfig, const std::string& pool, Duration timeout) {
  return kubectl(kubeconfig, {"drain", "--selector", selector(pool), "--ignore-daemonsets", "--delete-emptydir-data", "--force",
                              "--timeout", fmt::format("{}ms", whole_milliseconds(timeout))});
}

// error when evicting pods/"shop-1" -n "default": global timeout reached: 10m0s
Words pods_left(std::string_view printed, Drain how) {
  constexpr std::string_view kBefore = "error when evicting pods/\"", kBetween = "\" -n \"";
  Words pods;
  for (size_t at = printed.find(kBefore); at != printed.npos; at = printed.find(kBefore, at)) {
    at += kBefore.size();
    const std::string_view rest = printed.substr(at, printed.find('\n', at) - at);
    const size_t name = rest.find(kBetween);
    if (name == rest.npos) continue;
    const std::string_view behind = rest.substr(name + kBetween.size());
    const std::string_view space = behind.substr(0, behind.find('"'));
    const bool is_tried_again = behind.substr(space.size()).starts_with("\" (will retry");
    std::string pod = printable(fmt::format("{}/{}", space, rest.substr(0, name)));
    const std::string went = fmt::format("pod/{} evicted", rest.substr(0, name));
    const bool counts = !is_tried_again || (how == Drain::CutOff && printed.find(went) == printed.npos);
    if (counts && std::find(pods.begin(), pods.end(), pod) == pods.end()) pods.push_back(std::move(pod));
  }
  return pods;
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

std::string first_of(const Words& names) {
  constexpr size_t kNamesMax = 5;
  const size_t named = std::min(names.size(), kNamesMax);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(named), ", "));
  if (named < names.size()) text += fmt::format(" and {} more", names.size() - named);
  return text;
}

std::string text_of(const NodeCount& count, std::string_view pool, size_t wanted) {
  std::string text = fmt::format("{} of {} nodes of pool {} are ready, {} are wanted", count.ready, count.all, pool, wanted);
  if (!count.others.empty()) text += "; not ready: " + first_of(count.others);
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
