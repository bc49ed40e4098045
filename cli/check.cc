#include "cli/check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "certs/authority_facts.h"
#include "certs/secret_file.h"
#include "certs/tls_context.h"
#include "proxy/cluster/engine/seal.h"
#include "proxy/gateway/cluster/requirements.h"
#include "proxy/gateway/records.h"
#include "proxy/journal/journal_file.h"
#include "proxy/net/upstream/address_policy.h"
#include "proxy/net/upstream/host_pattern.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunNeedsIt = "`armgate run` needs it";

bool may(const fs::path& path, int what) { return ::faccessat(AT_FDCWD, path.c_str(), what, AT_EACCESS) == 0; }

// Why a file could not be used, and whether that may be otherwise for another user.
struct Obstacle {
  std::string why;
  bool is_of_user = false;
};

Obstacle obstacle_of(const std::string& what) { return {fmt::format("{}: {}", what, std::strerror(errno)), errno == EACCES}; }

// Whether the file's status could be had; errno says why not.
bool stat_of(const fs::path& path, struct stat& status) { return ::stat(path.c_str(), &status) == 0; }
bool is_missing() { return errno == ENOENT || errno == ENOTDIR; }

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

// Whether files could be made beside this one.
std::optional<Obstacle> folder_obstacle(const fs::path& file) {
  const fs::path folder = folder_of(file);
  struct stat status {};
  if (!stat_of(folder, status)) {
    if (is_missing()) return Obstacle{fmt::format("there is no directory {} to make the file in; make it", folder.string())};
    return obstacle_of(fmt::format("{} cannot be looked at", folder.string()));
  }
  if (!S_ISDIR(status.st_mode)) return Obstacle{fmt::format("{} is no directory; name a file in one", folder.string())};
  if (may(folder, W_OK | X_OK)) return std::nullopt;
  return obstacle_of(fmt::format("no file can be made in {}", folder.string()));
}

// Whether lines could be added to it, or it could be made.
std::optional<Obstacle> log_obstacle(const fs::path& file) {
  struct stat status {};
  if (!stat_of(file, status)) return folder_obstacle(file);
  if (S_ISDIR(status.st_mode)) return Obstacle{fmt::format("{} is a directory; name a file", file.string())};
  if (may(file, W_OK)) return std::nullopt;
  return obstacle_of(fmt::format("{} cannot be written", file.string()));
}

// As JournalFile::open() would find it. SQLite makes further files beside it, so the directory counts in any case.
std::optional<Obstacle> journal_obstacle(const fs::path& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) return folder_obstacle(file);
  if (S_ISDIR(status.st_mode)) return Obstacle{fmt::format("{} is a directory; name a file in it", file.string())};
  if (S_ISLNK(status.st_mode)) return Obstacle{fmt::format("{} is a symbolic link; name the file itself", file.string())};
  if (!S_ISREG(status.st_mode)) return Obstacle{journal::JournalFile::no_regular_file(file)};
  // The start makes a file of its own user private.
  if ((status.st_mode & 0077) != 0 && status.st_uid != ::geteuid()) {
    return Obstacle{journal::JournalFile::open_to_others(file, status)};
  }
  if (!may(file, R_OK | W_OK)) return obstacle_of(fmt::format("{} cannot be written", file.string()));
  return folder_obstacle(file);
}

bool is_pipe(const fs::path& file) {
  struct stat status {};
  return stat_of(file, status) && S_ISFIFO(status.st_mode);
}

bool is_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// What stands before the colon in front of a fault.
std::string place_of(const Config& config) { return config.source.empty() ? "built-in defaults" : config.source; }

class Findings {
 public:
  explicit Findings(const Config& config) : source_(place_of(config)) {}

  void fault(std::string pointer, std::string message) { add(found_.faults, std::move(pointer), std::move(message)); }
  void warning(std::string pointer, std::string message) { add(found_.warnings, std::move(pointer), std::move(message)); }
  void not_looked_at(std::string pointer, const std::string& why) {
    add(found_.notices, std::move(pointer), fmt::format("not looked at: {}; {}", why, kRunNeedsIt));
  }
  void not_for_this_user(std::string pointer, const std::string& why) {
    found_.is_partial = true;
    not_looked_at(std::move(pointer), why);
  }
  void obstacle(std::string pointer, const Obstacle& obstacle) {
    if (obstacle.is_of_user)
      not_for_this_user(std::move(pointer), obstacle.why + " for this user");
    else
      fault(std::move(pointer), obstacle.why);
  }
  FileFindings take() { return std::move(found_); }

 private:
  void add(rules::FaultList& list, std::string pointer, std::string message) const {
    list.push_back({source_, 0, std::move(pointer), std::move(message)});
  }

  const std::string source_;
  FileFindings found_;
};

// Whether nothing is there at all, so that `armgate ca init` is still to come. A part of an authority is another matter.
bool is_to_be_made(const Config& config) {
  const auto files = certs::files_in(config.ca.directory);
  struct stat status {};
  const auto missing = [&](const fs::path& file) { return !stat_of(file, status) && errno == ENOENT; };
  return missing(files.root) && missing(files.intermediate) && missing(files.key);
}

void look_at_authority(const Config& config, WallTime now, Findings& findings) {
  constexpr const char* kPointer = "/ca/directory";
  const auto files = certs::files_in(config.ca.directory);
  if (is_to_be_made(config)) {
    return findings.not_looked_at(
        kPointer, fmt::format("there is no authority in {} yet (`{}` makes it)", config.ca.directory, ca_init_command(config)));
  }
  for (const auto& file : {files.root, files.intermediate}) {
    if (may(file, R_OK) || errno != EACCES) continue;
    return findings.not_for_this_user(kPointer, fmt::format("{} cannot be read by this user", file.string()));
  }
  auto facts = certs::look_at_authority(config.ca.directory, config.intercept, now, ca_init_command(config));
  if (!facts.fault.empty()) return findings.fault(kPointer, std::move(facts.fault));
  for (const auto& [text, remedy] : facts.warnings) findings.warning(kPointer, fmt::format("{}; {}", text, remedy));
  if (facts.key == certs::KeyState::OfAnotherUser) {
    findings.not_for_this_user(kPointer, fmt::format("{} is private to another user", files.key.string()));
  }
}

void look_at_journal(const Config& config, Findings& findings) {
  constexpr const char* kPointer = "/journal/file";
  const fs::path file = config.journal.file;
  const auto obstacle = journal_obstacle(file);
  if (!obstacle) {
    struct stat there {};
    if (!stat_of(file, there)) return;
    if (const auto known = check_journal(file); !known) findings.fault(kPointer, known.error().context);
    return;
  }
  // One directory for all that the service keeps: what makes the authority makes it, too.
  struct stat status {};
  const fs::path folder = folder_of(file);
  const bool is_still_to_come = !stat_of(folder, status) && errno == ENOENT && is_to_be_made(config);
  if (is_still_to_come && is_below(config.ca.directory, folder)) {
    return findings.not_looked_at(kPointer, fmt::format("the authority's directory {} is still to be made", folder.string()));
  }
  findings.obstacle(kPointer, *obstacle);
}

// Whether a pipe has a reader only its opening tells, and that reader would meet its end as soon as it is closed again.
void look_at_log_file(const std::string& file, Findings& findings) {
  constexpr const char* kPointer = "/log/file";
  if (const auto obstacle = log_obstacle(file)) return findings.obstacle(kPointer, *obstacle);
  if (is_pipe(file)) findings.not_looked_at(kPointer, fmt::format("whether anybody reads the pipe {}", file));
}

// `load`: as the start reads it.
template <class Load>
void look_at_secret(const char* pointer, const fs::path& file, Load load, Findings& findings) {
  if (certs::is_secret_of_another(file))
    return findings.not_for_this_user(pointer, fmt::format("{} is private to another user", file.string()));
  if (const auto secret = load(file); !secret) findings.fault(pointer, secret.error().context);
}

void look_at_cluster(const Config& config, Findings& findings) {
  for (auto& [pointer, message] : cluster_faults(config)) findings.fault(std::move(pointer), std::move(message));
  if (config.cluster.engine.empty() || config.cluster.key_file.empty()) return;
  look_at_secret("/cluster/key_file", config.cluster.key_file, cluster::ClusterKey::load, findings);
}

}  // namespace

FileFindings look_at_files(const Config& config, WallTime now) {
  Findings findings(config);
  const auto check_trusted = [&](const std::string& file, std::string pointer) {
    if (file.empty()) return;
    if (const auto context = certs::make_client_context(file); !context)
      findings.fault(std::move(pointer), context.error().context);
  };
  check_trusted(config.upstream.ca_file, "/upstream/ca_file");
  check_trusted(config.upstream.proxy_ca_file, "/upstream/proxy_ca_file");
  if (const auto& file = config.upstream.proxy_password_file; !file.empty())
    look_at_secret("/upstream/proxy_password_file", file, certs::read_secret_file, findings);
  for (const auto& [name, host] : config.hosts) check_trusted(host.ca_file, "/hosts/" + name + "/ca_file");
  look_at_authority(config, now, findings);
  if (!config.journal.file.empty()) look_at_journal(config, findings);
  look_at_cluster(config, findings);
  if (!config.log.file.empty()) look_at_log_file(config.log.file, findings);
  return findings.take();
}

rules::FaultList warnings_about_options(const Config& config) {
  rules::FaultList warnings;
  const auto warn = [&](std::string pointer, std::string message) {
    warnings.push_back({place_of(config), 0, std::move(pointer), std::move(message)});
  };
  const auto is_for_rest = [](const rules::Rule& rule) { return is_for_any_type(rule.match); };
  const bool protects = config.mode != rules::Mode::Off;
  if (protects && config.rules.empty()) {
    warn("/rules", "there is no rule, so nothing is protected; name rule files, \"shipped\" for instance");
  } else if (protects && config.unruled != rules::Mode::Off && std::ranges::none_of(config.rules, is_for_rest)) {
    warn("/rules", "no rule is for all types (\"*\"), so what these files do not name passes unprotected; add \"shipped\"");
  }
  for (const auto& [host, given] : config.hosts) {
    if (net::matches_host(host, config.intercept)) continue;
    warn("/hosts/" + host,
         "/intercept does not cover this host, so it is only tunnelled; if it is a Resource Manager, add it there");
  }
  const auto warn_if_open = [&](std::string pointer, const std::string& listener, std::string_view what) {
    const auto address = net::address_of(listener.substr(0, listener.rfind(':')));
    if (!address || net::is_loopback(*address)) return;
    warn(std::move(pointer),
         fmt::format("{} is not on loopback: whoever reaches it {}; let only those reach it who should", listener, what));
  };
  warn_if_open("/listen/proxy", config.listen.proxy, "may use it without a password, under any name");
  warn_if_open("/listen/tls", config.listen.tls, "may use it without a password, under any name");
  warn_if_open("/listen/admin", config.listen.admin, "sees which resources are written, and by whom");
  const Config::Journal defaults;
  const auto warn_if_idle = [&](const char* pointer, bool is_default) {
    if (config.journal.file.empty() && !is_default)
      warn(pointer, "has no effect without journal.file: nothing is recorded on disk");
  };
  warn_if_idle("/journal/durability", config.journal.durability == defaults.durability);
  warn_if_idle("/journal/write_max", config.journal.write_max == defaults.write_max);
  warn_if_idle("/journal/records_max", config.journal.records_max == defaults.records_max);
  if (const auto weak = weak_way_to_engine(config)) warn("/cluster/engine", *weak);
  return warnings;
}

}  // namespace armgate
