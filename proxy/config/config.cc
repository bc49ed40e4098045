#include "proxy/config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "certs/secret_file.h"
#include "proxy/config/clouds.h"
#include "proxy/config/option_table.h"
#include "proxy/config/proxy_url.h"
#include "proxy/net/upstream/host_pattern.h"
#include "rules/file/rule_file.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;
using rules::FaultList;

constexpr std::string_view kShipped = "shipped";
constexpr std::string_view kBelowShipped = "shipped/";  // "shipped/optional/azurerm-parity.json"

void name_hosts_of_clouds(std::vector<std::string>& intercept) {
  std::vector<std::string> hosts;
  for (const std::string& entry : intercept) {
    for (std::string& host : hosts_of_cloud(entry).value_or(std::vector{entry})) {
      if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(std::move(host));
    }
  }
  intercept = std::move(hosts);
}

// The absolute form of a path that stands in `file`. Empty stays empty: it means "none".
std::string resolve(const std::string& path, const fs::path& file, const Surroundings& surroundings) {
  if (path.empty()) return path;
  const bool at_home = path == "~" || path.starts_with("~/");
  const fs::path base = at_home ? surroundings.home : fs::path(file).parent_path();
  const fs::path below = at_home ? path.substr(std::min<size_t>(2, path.size())) : path;
  return (base / below).lexically_normal().string();
}

void resolve_paths(Config& config, const fs::path& file, const Surroundings& surroundings) {
  const auto in_place = [&](std::string& path) { path = resolve(path, file, surroundings); };
  in_place(config.ca.directory);
  in_place(config.upstream.ca_file);
  in_place(config.upstream.proxy_password_file);
  in_place(config.upstream.proxy_ca_file);
  in_place(config.log.file);
  in_place(config.journal.file);
  in_place(config.cluster.key_file);
  for (auto& [name, host] : config.hosts) in_place(host.ca_file);
  for (std::string& path : config.rule_paths) {
    if (path == kShipped)
      path = surroundings.shipped_rules.string();
    else if (path.starts_with(kBelowShipped))
      path = (surroundings.shipped_rules / path.substr(kBelowShipped.size())).string();
    else
      in_place(path);
  }
}

struct Address {
  std::string host;
  std::string port;
};

Address split(const std::string& text) {
  const size_t colon = text.rfind(':');
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// Whether one of them can be had only without the other. "[::]" takes IPv4 in as well (net.ipv6.bindv6only is 0 unless set).
bool is_same_place(const std::string& one_text, const std::string& other_text) {
  const Address one = split(one_text);
  const Address other = split(other_text);
  if (one.port != other.port || one.port == "0") return false;
  const auto takes_in = [](const Address& all, const Address& single) {
    return all.host == "[::]" || (all.host == "0.0.0.0" && !single.host.starts_with('['));
  };
  return one.host == other.host || takes_in(one, other) || takes_in(other, one);
}

void check_parent(const Config& config, const std::function<void(bool, const char*, const char*)>& require) {
  const auto parent = parse_proxy_url(config.upstream.proxy);
  if (!parent)
    return require(config.upstream.proxy_password_file.empty(), "/upstream/proxy_password_file",
                   "belongs to no proxy: name one in /upstream/proxy");
  require(!is_own_listener(config, parent->place()), "/upstream/proxy",
          "is where armgate itself listens; name the proxy through which this network is left");
  require(!parent->user.empty() || config.upstream.proxy_password_file.empty(), "/upstream/proxy_password_file",
          "belongs to no user: put one into /upstream/proxy (http://USER@HOST:PORT)");
}

// Of the rules for any type; the others do not heed it.
void limit_unruled(rules::Mode most, std::vector<rules::Rule>& all) {
  for (rules::Rule& rule : all) {
    if (!rules::is_for_any_type(rule.match) || rule.mode.value_or(rules::Mode::Protect) >= most) continue;
    rule.mode = most;
    rule.mode_by_option = true;
  }
}

// What no single option's bounds can say.
void check_together(const Config& config, const rules::JsonPositions& positions, FaultList& faults) {
  const auto require = [&](bool good, const char* pointer, const char* message) {
    if (!good) faults.push_back({config.source, positions.line_of(pointer), pointer, message});
  };
  require(config.queue.waiters_per_key <= config.queue.waiters_total, "/queue/waiters_per_key",
          "is more than /queue/waiters_total; lower it or raise the other");
  require(config.history.client_bytes <= config.history.total_bytes, "/history/client_bytes",
          "is more than /history/total_bytes; lower it or raise the other");
  require(config.history.think_max <= config.history.observation_age, "/history/think_max",
          "is longer than /history/observation_age; lower it or raise the other");
  require(config.limits.target_bytes <= config.limits.head_bytes, "/limits/target_bytes",
          "is more than /limits/head_bytes; lower it or raise the other");
  require(config.limits.request_body_bytes <= config.limits.request_bodies_total, "/limits/request_body_bytes",
          "is more than /limits/request_bodies_total; lower it or raise the other");
  const auto require_own_place = [&](const std::string& listener, const char* pointer, const std::string& other,
                                     const char* name) {
    const bool differ = listener.empty() || other.empty() || !is_same_place(listener, other);
    if (!differ)
      faults.push_back({config.source, positions.line_of(pointer), pointer,
                        fmt::format("is the place of {} too; give it a port of its own", name)});
  };
  require_own_place(config.listen.tls, "/listen/tls", config.listen.proxy, "/listen/proxy");
  require_own_place(config.listen.admin, "/listen/admin", config.listen.proxy, "/listen/proxy");
  require_own_place(config.listen.admin, "/listen/admin", config.listen.tls, "/listen/tls");
  for (const auto& [host, given] : config.hosts) {
    if (given.ca_file.empty() || net::matches_host(host, config.intercept)) continue;
    const std::string pointer = fmt::format("/hosts/{}/ca_file", host);
    faults.push_back(
        {config.source, positions.line_of(pointer), pointer,
         "is of no use: /intercept does not cover this host, so its certificate is for its clients to verify; add the "
         "host to /intercept, correct its name, or leave this out"});
  }
  check_parent(config, require);
}

// The rule files that a path names: itself, or those in the directory, by name. Nothing if there is no such thing.
std::optional<std::vector<fs::path>> rule_files_at(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    if (!fs::exists(path, error)) return std::nullopt;
    return std::vector{path};
  }
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".json") files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Facts of all of Azure's types are a megabyte or two.
constexpr size_t kRuleFileBytesMax = 16 << 20;

// Reads the files of one path. Whatever prevents that is a fault of the option that names the path.
void load_rule_path(const std::string& path, bool is_shipped, RuleFiles rule_files, const rules::Fault& place,
                    rules::RuleBook& book, FaultList& faults) {
  const auto cases = is_shipped && rule_files != RuleFiles::Prove ? rules::Cases::AreTried : rules::Cases::Try;
  const auto fault = [&](std::string message) {
    faults.push_back({place.file, place.line, place.pointer, std::move(message)});
  };
  const auto files = rule_files_at(path);
  if (!files)
    return fault(fmt::format("there is no file or directory \"{}\"{}", path,
                             is_shipped ? ", where armgate's own rule files should be: install it with cmake --install" : ""));
  if (files->empty()) return fault(fmt::format("the directory \"{}\" holds no *.json file", path));
  for (const fs::path& file : *files) {
    const auto text = certs::read_file(file, kRuleFileBytesMax);
    if (!text) {
      fault(text.error().context);
      continue;
    }
    book.add(rules::read_rule_book(file.string(), *text, faults, cases));
  }
}

struct Parsed {
  LoadedConfig loaded;
  std::optional<rules::JsonPositions> positions;
};

Parsed parse(const std::string& file, std::string_view text, const Surroundings& surroundings) {
  Parsed parsed;
  Config& config = parsed.loaded.config;
  config.source = file;
  std::string schema;  // for editors; not used here
  parsed.positions = rules::read_json(file, text, file_settings(config, schema), parsed.loaded.faults);
  name_hosts_of_clouds(config.intercept);
  if (parsed.positions && parsed.loaded.faults.empty()) {
    check_together(config, *parsed.positions, parsed.loaded.faults);
  }
  resolve_paths(config, file, surroundings);
  return parsed;
}

}  // namespace

bool is_own_listener(const Config& config, const std::string& address) {
  const auto is_there = [&address](const std::string& listener) {
    return !listener.empty() && is_same_place(listener, address);
  };
  return is_there(config.listen.proxy) || is_there(config.listen.tls) || is_there(config.listen.admin);
}

std::string source_text(const Config& config) { return config.source.empty() ? "the built-in defaults" : config.source; }

std::string ca_init_command(const Config& config) {
  return config.source.empty() ? "armgate ca init" : fmt::format("armgate ca init --config {}", config.source);
}

LoadedConfig parse_config(const std::string& file, std::string_view text, const Surroundings& surroundings) {
  return parse(file, text, surroundings).loaded;
}

LoadedConfig load_config(const std::filesystem::path& file, const Surroundings& surroundings, RuleFiles rule_files) {
  Parsed parsed;
  if (file.empty()) {
    parsed = parse("", "{}", surroundings);
  } else {
    const auto text = certs::read_file(file);
    if (!text) {
      parsed.loaded.faults.push_back({file.string(), 0, "", text.error().context});
      return std::move(parsed.loaded);
    }
    std::error_code error;
    const fs::path absolute = fs::absolute(file, error);
    parsed = parse((error ? file : absolute).lexically_normal().string(), *text, surroundings);
  }
  LoadedConfig& loaded = parsed.loaded;
  if (!parsed.positions || rule_files == RuleFiles::Leave) return std::move(loaded);
  rules::RuleBook book;
  for (size_t i = 0; i < loaded.config.rule_paths.size(); ++i) {
    const std::string pointer = fmt::format("/rules/{}", i);
    const bool is_shipped = loaded.config.rule_paths[i] == surroundings.shipped_rules;
    const rules::Fault place{
        file.empty() ? "built-in defaults" : loaded.config.source, parsed.positions->line_of(pointer), pointer, {}};
    load_rule_path(loaded.config.rule_paths[i], is_shipped, rule_files, place, book, loaded.faults);
  }
  rules::check_names(book.rules, loaded.faults);
  limit_unruled(loaded.config.unruled, book.rules);
  loaded.config.rules = std::move(book.rules);
  loaded.config.facts = rules::share(std::move(book.facts));
  loaded.config.errors = std::move(book.errors);
  loaded.config.queue_timeouts = std::move(book.queue_timeouts);
  return std::move(loaded);
}

}  // namespace armgate
