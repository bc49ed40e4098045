#include "proxy/config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "certs/authority.h"
#include "certs/secret_file.h"
#include "json/readable_part.h"
#include "proxy/config/clouds.h"
#include "proxy/config/option_table.h"
#include "proxy/config/rule_documents.h"
#include "proxy/config/together.h"
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

// By other names too, if both are there.
bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code none;
  return one == other || fs::equivalent(one, other, none);
}

// Another option that names the same file, and what to say of it.
struct Clash {
  std::string option;
  std::string message;
};

// What armgate writes must have a file of its own: a log would be added to a configuration, a journal put in its place.
// `pointer` is the option that names it.
std::vector<Clash> clashes_of(const Config& config, const std::string& file, const std::string& pointer) {
  if (file.empty()) return {};
  const auto authority = certs::files_in(config.ca.directory);
  std::vector<std::pair<std::string, std::string>> others = {
      {"the configuration itself", config.source},
      {"/journal/file", config.journal.file},
      {"/upstream/ca_file", config.upstream.ca_file},
      {"/upstream/proxy_ca_file", config.upstream.proxy_ca_file},
      {"/upstream/proxy_password_file", config.upstream.proxy_password_file},
      {"/cluster/key_file", config.cluster.key_file},
      {"the authority in /ca/directory", authority.root.string()},
      {"the authority in /ca/directory", authority.intermediate.string()},
      {"the authority in /ca/directory", authority.key.string()},
  };
  for (const auto& [name, host] : config.hosts) others.emplace_back(fmt::format("/hosts/{}/ca_file", name), host.ca_file);
  for (const std::string& path : config.rule_paths) others.emplace_back("/rules", path);
  // SQLite's and the lock, beside the journal.
  for (const char* suffix : {"-wal", "-shm", "-lock"}) {
    if (!config.journal.file.empty()) others.emplace_back("/journal/file", config.journal.file + suffix);
  }
  std::vector<Clash> clashes;
  for (const auto& [name, other] : others) {
    if (name == pointer || other.empty() || !is_same_file(file, other)) continue;
    clashes.push_back({name.starts_with('/') ? name : pointer, fmt::format("is the file of {} too; name another", name)});
  }
  for (const std::string& path : config.rule_paths) {
    std::error_code none;
    const bool lies_there = fs::is_directory(path, none) && is_same_file(fs::path(file).parent_path(), path);
    if (lies_there)
      clashes.push_back({"/rules", "lies in a directory of /rules, where it would be read as a rule file; name another"});
  }
  return clashes;
}

void check_own_files(const Config& config, Together& together) {
  const auto require_own_file = [&](const std::string& file, const char* pointer) {
    for (const Clash& clash : clashes_of(config, file, pointer)) together.require(false, pointer, clash.option, clash.message);
  };
  require_own_file(config.log.file, "/log/file");
  require_own_file(config.journal.file, "/journal/file");
}

// The rule files that a path names: itself, or those in the directory, by name. What begins with a dot is an editor's.
Result<std::vector<fs::path>> rule_files_at(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  const auto unreadable = [&](const char* what) {
    return gateway_error(ErrorKind::BadInput, fmt::format("cannot read {}\"{}\": {}", what, path.string(), error.message()));
  };
  if (status.type() == fs::file_type::not_found)
    return gateway_error(
        ErrorKind::BadInput,
        fmt::format("there is no file or directory \"{}\"; relative to this file, or \"shipped\" for armgate's own rules",
                    path.string()));
  if (error) return unreadable("");
  if (!fs::is_directory(status)) return std::vector{path};
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    const bool is_hidden = entry->path().filename().native().starts_with('.');
    if (!is_hidden && entry->path().extension() == ".json") files.push_back(entry->path());
  }
  if (error) return unreadable("the directory ");
  if (files.empty())
    return gateway_error(ErrorKind::BadInput, fmt::format("the directory \"{}\" holds no *.json file", path.string()));
  std::sort(files.begin(), files.end());
  return files;
}

// Facts of all of Azure's types are a megabyte or two.
constexpr size_t kRuleFileBytesMax = 16 << 20;

// The files that were read, and of which option.
using ReadFiles = std::map<fs::path, std::string>;

// Reads the files of one path. Whatever prevents that is a fault of the option that names the path.
void load_rule_path(const std::string& path, bool is_shipped, RuleFiles rule_files, const rules::Fault& place, ReadFiles& read,
                    rules::RuleBook& book, std::vector<std::string>& texts, FaultList& faults) {
  const auto cases = is_shipped && rule_files != RuleFiles::Prove ? rules::Cases::AreTried : rules::Cases::Try;
  const auto fault = [&](std::string message) {
    faults.push_back({place.file, place.line, place.pointer, std::move(message)});
  };
  const auto files = rule_files_at(path);
  if (!files) {
    std::error_code ignored;
    const bool is_missing = is_shipped && !fs::exists(path, ignored);
    return fault(files.error().context +
                 (is_missing ? ", where armgate's own rule files should be: install it with cmake --install" : ""));
  }
  for (const fs::path& file : *files) {
    std::error_code none;
    const auto real = fs::canonical(file, none);
    const auto [before, is_new] = read.try_emplace(none ? file : real, place.pointer);
    if (!is_new) {
      fault(fmt::format("\"{}\" is read already because of {}; name it once", file.string(), before->second));
      continue;
    }
    const auto text = certs::read_file(file, kRuleFileBytesMax);
    if (!text) {
      fault(text.error().context);
      continue;
    }
    book.add(rules::read_rule_book(file.string(), *text, faults, cases));
    texts.push_back(*text);
  }
}

// Why a file cannot be read, for where its name stands before it.
std::string without_name(std::string why, const std::string& name) {
  const size_t at = why.find(name);
  if (at == why.npos) return why;
  const size_t begin = at > 0 ? at - 1 : at;  // with the space before it, or behind it
  return why.erase(begin, name.size() + 1);
}

// Of a text that cannot be read as a whole: where the service is asked that may run with what stood there before.
void find_admin_listener(std::string_view text, Config& config) {
  const auto admin = string_before_fault(text, {"listen", "admin"});
  FaultList ignored;  // it is empty then
  if (admin) set_option(config, "listen/admin", *admin, "", ignored);
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
  resolve_paths(config, file, surroundings);
  if (parsed.positions) {
    Together together(config, *parsed.positions, parsed.loaded.faults);
    check_together(config, together);
    check_own_files(config, together);
  } else {
    find_admin_listener(text, config);
  }
  return parsed;
}

}  // namespace

std::string source_text(const Config& config) { return config.source.empty() ? "the built-in defaults" : config.source; }

std::string ca_init_command(const Config& config) {
  return config.source.empty() ? "armgate ca init" : fmt::format("armgate ca init --config {}", config.source);
}

std::string env_command(const Config& config) {
  const std::string from = config.source.empty() ? "" : " --config " + config.source;
  return fmt::format("eval \"$(armgate env{})\"", from);
}

std::vector<std::string> faults_of_log_file(const Config& config, const std::string& file) {
  std::vector<std::string> faults;
  for (Clash& clash : clashes_of(config, file, "/log/file")) faults.push_back(std::move(clash.message));
  return faults;
}

LoadedConfig parse_config(const std::string& file, std::string_view text, const Surroundings& surroundings) {
  return parse(file, text, surroundings).loaded;
}

LoadedConfig load_config(const std::filesystem::path& file, const Surroundings& surroundings, RuleFiles rule_files) {
  Parsed parsed;
  if (file.empty()) {
    parsed = parse("", "{}", surroundings);
  } else {
    std::error_code error;
    const fs::path absolute = fs::absolute(file, error);
    const std::string source = (error ? file : absolute).lexically_normal().string();
    const auto text = certs::read_file(file);
    if (!text) {
      parsed.loaded.config.source = source;
      parsed.loaded.faults.push_back({source, 0, "", without_name(text.error().context, file.string())});
      return std::move(parsed.loaded);
    }
    parsed = parse(source, *text, surroundings);
  }
  LoadedConfig& loaded = parsed.loaded;
  if (!parsed.positions || rule_files == RuleFiles::Leave) return std::move(loaded);
  rules::RuleBook book;
  ReadFiles read;
  std::vector<std::string> texts;
  for (size_t i = 0; i < loaded.config.rule_paths.size(); ++i) {
    const std::string pointer = fmt::format("/rules/{}", i);
    const bool is_shipped = loaded.config.rule_paths[i] == surroundings.shipped_rules;
    const rules::Fault place{
        file.empty() ? "built-in defaults" : loaded.config.source, parsed.positions->line_of(pointer), pointer, {}};
    load_rule_path(loaded.config.rule_paths[i], is_shipped, rule_files, place, read, book, texts, loaded.faults);
  }
  rules::check_names(book.rules, loaded.faults);
  limit_unruled(loaded.config.unruled, book.rules);
  loaded.config.rule_source = rule_source(texts, loaded.config.unruled);
  loaded.config.rules = std::move(book.rules);
  loaded.config.facts = rules::share(std::move(book.facts));
  loaded.config.errors = std::move(book.errors);
  loaded.config.queue_timeouts = std::move(book.queue_timeouts);
  loaded.config.rule_warnings = std::move(book.warnings);
  return std::move(loaded);
}

}  // namespace armgate
