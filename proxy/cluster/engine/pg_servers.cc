#include "proxy/cluster/engine/pg_servers.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <memory>
#include <string_view>

namespace armgate::cluster {
namespace {

constexpr Duration kLeast = std::chrono::seconds(2);  // for one server; libpq's own for connect_timeout

constexpr const char* kDefaultPort = "5432";

using Options = std::map<std::string, std::string>;
using OptionList = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

Options given_in(const OptionList& list) {
  Options options;
  for (const PQconninfoOption* option = list.get(); option != nullptr && option->keyword != nullptr; ++option) {
    if (option->val != nullptr && *option->val != '\0') options[option->keyword] = option->val;
  }
  return options;
}

// libpq quotes what it does not understand, which may be a part of the password.
std::string without_quotes(std::string_view text) {
  const auto is_harmless = [](std::string_view line) {
    return line.find("query parameter") != line.npos || line.find("invalid connection option") != line.npos;
  };
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  if (is_harmless(text)) return std::string(text);
  return std::string(text.substr(0, std::min(text.find(':'), text.find('"'))));
}

Result<Options> options_of(const std::string& url) {
  char* fault = nullptr;
  const OptionList list(PQconninfoParse(url.c_str(), &fault), &PQconninfoFree);
  if (list == nullptr) {
    const std::string why = fault == nullptr ? "out of memory" : without_quotes(fault);
    PQfreemem(fault);
    return gateway_error(ErrorKind::BadInput, fmt::format("cluster.engine is no URL that PostgreSQL's library takes: {}", why));
  }
  return given_in(list);
}

// Of the environment, where the URL does not say.
std::string value_of(const Options& options, const Options& defaults, const char* name) {
  if (const auto found = options.find(name); found != options.end()) return found->second;
  const auto found = defaults.find(name);
  return found == defaults.end() ? std::string() : found->second;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char c : list) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

struct Address {
  std::string host;
  std::string hostaddr;
  std::string port;

  std::string text() const { return fmt::format("{}:{}", host.empty() ? hostaddr : host, port); }
  bool is_of_this_machine() const {
    const std::string& at = hostaddr.empty() ? host : hostaddr;
    return at.empty() || at.front() == '/' || at.front() == '@' || at == "localhost" || at == "::1" || at.starts_with("127.");
  }
};

Result<std::vector<Address>> addresses_of(const Options& options, const Options& defaults) {
  const bool says_where = options.contains("host") || options.contains("hostaddr");
  const auto hosts = split(says_where && !options.contains("host") ? "" : value_of(options, defaults, "host"));
  const auto hostaddrs = split(says_where && !options.contains("hostaddr") ? "" : value_of(options, defaults, "hostaddr"));
  const auto ports = split(value_of(options, defaults, "port"));
  const size_t count = std::max(hosts.size(), hostaddrs.size());
  const auto fits = [count](const std::vector<std::string>& list) { return list.size() == 1 || list.size() == count; };
  if (!fits(hosts) || !fits(hostaddrs) || !fits(ports)) {
    return gateway_error(ErrorKind::BadInput, fmt::format("cluster.engine names {} hosts and {} ports", count, ports.size()));
  }
  // What stands before it is the rest of a password, which nobody must see.
  if (std::any_of(hosts.begin(), hosts.end(), [](const std::string& host) { return host.find('@', 1) != host.npos; })) {
    return gateway_error(ErrorKind::BadInput, "cluster.engine has an \"@\" in its user or password: write %40 there");
  }
  const auto at = [](const std::vector<std::string>& list, size_t i) { return list.size() == 1 ? list.front() : list[i]; };
  std::vector<Address> addresses;
  for (size_t i = 0; i < count; ++i) {
    const std::string port = at(ports, i);
    addresses.push_back({at(hosts, i), at(hostaddrs, i), port.empty() ? kDefaultPort : port});
  }
  return addresses;
}

Options defaults_of_library() { return given_in(OptionList(PQconndefaults(), &PQconninfoFree)); }

struct Named {
  Options options;
  Options defaults;
  std::vector<Address> addresses;

  std::string value(const char* name) const { return value_of(options, defaults, name); }
};

Result<Named> read_url(const std::string& url) {
  auto options = options_of(url);
  if (!options) return std::move(options).error();
  Options defaults = defaults_of_library();
  auto addresses = addresses_of(*options, defaults);
  if (!addresses) return std::move(addresses).error();
  return Named{*std::move(options), std::move(defaults), *std::move(addresses)};
}

Duration share_of(const std::string& timeout, Duration within, size_t servers) {
  int seconds = 0;
  std::from_chars(timeout.data(), timeout.data() + timeout.size(), seconds);
  if (seconds > 0) return std::max<Duration>(kLeast, std::chrono::seconds(seconds));
  return std::max<Duration>(kLeast, within / static_cast<int64_t>(servers));
}

}  // namespace

Result<std::vector<Server>> servers_of(const std::string& url, Duration within) {
  const auto named = read_url(url);
  if (!named) return named.error();
  const Duration share = share_of(named->value("connect_timeout"), within, named->addresses.size());
  std::vector<Server> servers;
  for (const Address& address : named->addresses) {
    Options one = named->options;
    one["host"] = address.host;
    one["hostaddr"] = address.hostaddr;
    one["port"] = address.port;
    one.erase("connect_timeout");  // `within` is
    Server server{address.text(), {}, share};
    for (const auto& [name, value] : one) {
      if (!value.empty()) server.options.emplace_back(name, value);
    }
    servers.push_back(std::move(server));
  }
  return servers;
}

std::optional<std::string> weak_transport(const std::string& url) {
  if (url.empty()) return std::nullopt;
  const auto named = read_url(url);
  if (!named) return std::nullopt;
  const std::string mode = named->value("sslmode");
  if (mode == "verify-full") return std::nullopt;
  for (const Address& address : named->addresses) {
    if (address.is_of_this_machine()) continue;
    return fmt::format(
        "the way to {} is not safe with sslmode={}: whoever is between may answer in the engine's place; say "
        "sslmode=verify-full (and sslrootcert)",
        address.text(), mode.empty() ? "prefer" : mode);
  }
  return std::nullopt;
}

}  // namespace armgate::cluster
