#include "cli/ca/trust_origin.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "certs/authority.h"
#include "certs/authority_facts.h"
#include "certs/certificate.h"
#include "certs/constraints.h"
#include "certs/secret_file.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;

Error not_taken(std::string context) { return gateway_error(ErrorKind::BadInput, std::move(context)); }

std::string digits_of(std::string_view fingerprint) {
  std::string digits = lower_text(fingerprint);
  std::erase(digits, ':');
  return digits;
}

std::string name_of(uid_t user) {
  const passwd* const entry = ::getpwuid(user);
  return entry != nullptr ? std::string(entry->pw_name) : fmt::format("user {}", user);
}

std::string how_to_vouch(const TrustRequest& request) {
  return fmt::format(
      "if it is meant all the same, compare its fingerprint with what its maker sees (`armgate ca show`), and run "
      "`armgate ca trust --directory {} --fingerprint SHA256`",
      request.directory.string());
}

// That the intermediate signs leaves for its hosts, and makes no more authorities.
Result<void> check_intermediate(const certs::AuthorityFiles& files, const certs::AuthorityCertificates& certificates) {
  const auto made = certs::constraints_of(certificates.intermediate.get());
  if (!made.names_bind) {
    return not_taken(
        fmt::format("{} is not limited to hosts of its own, as those that armgate makes are; make an authority "
                    "anew with `armgate ca init`",
                    files.intermediate.string()));
  }
  const auto root = certs::constraints_of(certificates.root.get());
  const bool root_fits = root.is_authority && root.authorities_below.value_or(1) == 1;  // without a number: of an older armgate
  if (!root_fits || !made.is_authority || made.authorities_below != 0) {
    return not_taken(
        fmt::format("{} could make further authorities, or none, which those that armgate makes cannot; make an "
                    "authority anew with `armgate ca init`",
                    root_fits ? files.intermediate.string() : files.root.string()));
  }
  return {};
}

struct Writer {
  fs::path place;
  std::string who;
};

// An account that is not believed and could have put something else there; nothing if there is none.
std::optional<Writer> stranger_at(const fs::path& place, mode_t others, const std::vector<uid_t>& believed) {
  struct stat status {};
  if (::stat(place.c_str(), &status) != 0) return Writer{place, fmt::format("nobody knows who ({})", std::strerror(errno))};
  if (std::find(believed.begin(), believed.end(), status.st_uid) == believed.end())
    return Writer{place, name_of(status.st_uid)};
  const bool keeps_files = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & others) != 0 && !keeps_files) return Writer{place, "users besides its owner"};
  return std::nullopt;
}

// An account that can write to a directory above can put another one in its place.
std::optional<Writer> find_stranger(const certs::AuthorityFiles& files, const std::vector<uid_t>& believed) {
  std::error_code failure;
  const fs::path root = fs::canonical(files.root, failure);
  if (failure) return Writer{files.root, failure.message()};
  for (const fs::path& place : {root, root.parent_path()}) {
    if (auto stranger = stranger_at(place, S_IWGRP | S_IWOTH, believed)) return stranger;
  }
  for (fs::path above = root.parent_path(); above != above.parent_path();) {
    above = above.parent_path();
    if (auto stranger = stranger_at(above, S_IWOTH, believed)) return stranger;
  }
  return std::nullopt;
}

// Its key may have been kept, whatever it says: what is signed with it may reach no farther than armgate does.
Result<void> check_reach(const TrustRequest& request, const fs::path& file, const X509* root) {
  const auto may = certs::constraints_of(root);
  if (!may.names_bind) {
    return not_taken(
        fmt::format("{} may sign for any host, as older ones may: make an authority anew with "
                    "`armgate ca init --force --directory {}`; {}",
                    file.string(), request.directory.string(), how_to_vouch(request)));
  }
  std::vector<std::string> ours;
  for (const std::string& host : request.hosts) ours.emplace_back(certs::without_wildcard(host));
  for (const std::string& name : may.names) {
    if (certs::is_within(ours, name)) continue;
    return not_taken(
        fmt::format("{} may sign for {}, which the option intercept does not name: name the configuration that it "
                    "was made for with --config; {}",
                    file.string(), name, how_to_vouch(request)));
  }
  return {};
}

}  // namespace

Result<void> check_origin(const SystemTrust& system, const TrustRequest& request, std::string_view pem, WallTime now) {
  const auto files = certs::files_in(request.directory);
  const auto root = certs::certificate_from_pem(pem);
  if (!root) return not_taken(fmt::format("{} holds no PEM certificate", files.root.string()));
  const std::string fingerprint = certs::facts_of(root->get()).fingerprint;
  const bool is_named = !request.fingerprint.empty();
  if (is_named && digits_of(request.fingerprint) != digits_of(fingerprint)) {
    return not_taken(
        fmt::format("{} has the fingerprint {}, which is not the one that --fingerprint names; look where that one is",
                    files.root.string(), fingerprint));
  }
  std::error_code failure;
  if (is_named && !fs::exists(files.intermediate, failure)) return {};  // a copy of the root alone
  const auto certificates = certs::load_certificates(request.directory, {}, now);
  if (!certificates) return certificates.error();
  if (X509_cmp(certificates->root.get(), root->get()) != 0) {
    return not_taken(fmt::format("{} is being replaced; try again, and look who does it", files.root.string()));
  }
  if (auto fits = check_intermediate(files, *certificates); !fits) return fits;
  if (is_named) return {};
  if (auto near = check_reach(request, files.root, certificates->root.get()); !near) return near;
  if (system.believed.empty()) return {};
  if (const auto stranger = find_stranger(files, system.believed)) {
    return not_taken(
        fmt::format("{} can be written to by {}, so {} may be anybody's, and all programs of this system would "
                    "believe it; {}",
                    stranger->place.string(), stranger->who, files.root.filename().string(), how_to_vouch(request)));
  }
  return {};
}

}  // namespace armgate
