#include "cli/migrate.h"

#include <fmt/ostream.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "certs/secret_file.h"
#include "cli/load.h"
#include "json/tree.h"
#include "proxy/config/option_table.h"
#include "rules/file/json_positions.h"
#include "rules/file/rule_file.h"

namespace armgate {
namespace {

constexpr size_t kFileBytesMax = 64 << 20;

// One file; the exit code. It is replaced as a whole or not at all.
int migrate_file(const std::filesystem::path& named, bool only_tell, const CliContext& context) {
  std::error_code none;
  const auto real = std::filesystem::canonical(named, none);  // a link stays one
  const std::filesystem::path& file = none ? named : real;
  const auto text = certs::read_file(file, kFileBytesMax);
  if (!text) return commands::fail(context, text.error());
  if (nlohmann::json::parse(*text, nullptr, false, true).is_discarded()) {
    fmt::print(context.err, "armgate: {} is no JSON; armgate check says where\n", file.string());
    return kExitBadInput;
  }
  const rules::JsonPositions positions(*text);
  for (const auto& twice : positions.duplicates()) {
    fmt::print(context.err, "{}:{}: {} stands in line {} already; remove one of the two\narmgate: {} was not changed\n",
               file.string(), twice.line, twice.pointer, twice.first_line, file.string());
    return kExitBadInput;
  }
  const auto renames = old_names_in(*text);
  const bool is_undecided = std::any_of(renames.begin(), renames.end(), [](const auto& rename) { return rename.both; });
  for (const rules::Rename& rename : renames) {
    if (rename.both) {
      fmt::print(
          context.err,
          "{}:{}: {} is called \"{}\" now, and \"{}\" stands beside it; put all that is to count into the new one, and remove the old one\n",
          file.string(), rename.line, rename.from, rename.to, rename.to);
      continue;
    }
    fmt::print(context.out, "{}:{}: {} is called \"{}\" now\n", file.string(), rename.line, rename.from, rename.to);
  }
  if (is_undecided) {
    fmt::print(context.err, "armgate: {} was not changed\n", file.string());
    return kExitBadInput;
  }
  if (renames.empty()) {
    fmt::print(context.out, "{}: nothing to rename\n", file.string());
    return kExitDone;
  }
  if (only_tell) return kExitDone;
  struct stat now {};
  if (::stat(file.c_str(), &now) != 0) {
    fmt::print(context.err, "armgate: cannot look at {}: {}\n", file.string(), std::strerror(errno));
    return kExitBadInput;
  }
  const auto written =
      certs::write_file(file, rules::renamed(*text, renames), now.st_mode & 07777, certs::FileOwner{now.st_uid, now.st_gid});
  if (!written) return commands::fail(context, written.error());
  return kExitDone;
}

}  // namespace

std::vector<rules::Rename> old_names_in(std::string_view text) {
  Config config;
  std::string schema;
  rules::RuleDraft draft;
  auto found = rules::renames_in(text, file_settings(config, schema));
  const auto more = rules::renames_in(text, rules::settings_of(draft, ""));
  found.insert(found.end(), more.begin(), more.end());
  return found;
}

int commands::migrate(const Asked& asked, const CliContext& context) {
  int worst = kExitDone;
  for (const std::string& file : asked.files) worst = std::max(worst, migrate_file(file, asked.dry_run, context));
  return worst;
}

}  // namespace armgate
