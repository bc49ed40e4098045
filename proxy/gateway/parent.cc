#include "proxy/gateway/parent.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "certs/secret_file.h"
#include "proxy/config/proxy_url.h"
#include "proxy/gateway/records.h"

namespace armgate {
namespace {

constexpr std::string_view kOption = "upstream.proxy";

std::string value_of(const Environment& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

struct Found {
  std::string variable;
  std::string value;
};

// As curl, Go and Python look: the lower case first, then for all protocols.
Found find_in(const Environment& environment) {
  for (const char* name : {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
    if (auto value = value_of(environment, name); !value.empty()) return {name, std::move(value)};
  }
  return {};
}

std::vector<std::string> exceptions_in(const Environment& environment) {
  std::string list = value_of(environment, "no_proxy");
  if (list.empty()) list = value_of(environment, "NO_PROXY");
  std::vector<std::string> entries;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find_first_of(", ", at), list.size());
    if (end > at) entries.push_back(lower_text(std::string_view(list).substr(at, end - at)));
    at = end + 1;
  }
  return entries;
}

std::string password_in(const std::string& text) {
  std::string_view line = std::string_view(text).substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return std::string(line);
}

net::ParentProxy made_of(const ProxyLocation& location, std::string_view named_by, const std::vector<std::string>& exceptions) {
  net::ParentProxy parent;
  parent.host = location.host;
  parent.port = location.port;
  if (!location.user.empty()) parent.credentials = location.user + ":" + location.password;
  parent.named_by = named_by;
  parent.exceptions = net::NoProxy(exceptions);
  parent.mark = fresh_mark();
  return parent;
}

}  // namespace

std::string adopt_environment_proxy(Config& config, const Environment& environment) {
  const Found found = find_in(environment);
  if (found.variable.empty()) return {};
  const auto location = parse_proxy_url(found.value);
  if (location && location->place() == active_gateway(environment)) return {};
  const auto say = [&found](std::string_view what) { return fmt::format("armgate: {} was set; {}\n", found.variable, what); };
  if (location && is_own_listener(config, location->place()))
    return say("that is where armgate itself listens, so it connects directly");
  if (config.upstream.proxy == kDirect) return say("armgate connects directly all the same (upstream.proxy)");
  if (!config.upstream.proxy.empty()) return say("the proxy of upstream.proxy is used instead");
  if (!location) return fmt::format("armgate: {} {}; armgate connects directly\n", found.variable, location.error().context);
  config.environment_proxy = {found.variable, found.value, exceptions_in(environment)};
  return say(fmt::format("armgate connects through that proxy, {}", location->address()));
}

std::string fresh_mark() {
  const HashKey random = random_hash_key();
  return fmt::format("armgate-{:016x}{:016x}", random.first, random.second);
}

std::string fault_of_proxy(const Config& config, const Environment& environment) {
  const auto location = parse_proxy_url(config.upstream.proxy);
  const std::string active = active_gateway(environment);
  if (!location || active.empty() || location->place() != active) return {};
  return fmt::format("is the armgate that {} names; name the proxy through which this network is left", kActiveVariable);
}

Result<std::optional<net::ParentProxy>> parent_proxy(const Config& config) {
  const auto& upstream = config.upstream;
  if (upstream.proxy == kDirect) return std::optional<net::ParentProxy>();
  if (upstream.proxy.empty()) {
    const auto& given = config.environment_proxy;
    const auto location = parse_proxy_url(given.url);
    if (!location) return std::optional<net::ParentProxy>();
    std::vector<std::string> exceptions = upstream.no_proxy;
    exceptions.insert(exceptions.end(), given.no_proxy.begin(), given.no_proxy.end());
    return std::optional(made_of(*location, given.variable, exceptions));
  }
  auto location = parse_proxy_url(upstream.proxy);
  if (!location) return gateway_error(ErrorKind::BadInput, fmt::format("{} {}", kOption, location.error().context));
  if (!upstream.proxy_password_file.empty()) {
    const auto text = certs::read_secret_file(upstream.proxy_password_file);
    if (!text) return text.error();
    location->password = password_in(*text);
  }
  return std::optional(made_of(*location, kOption, upstream.no_proxy));
}

}  // namespace armgate
