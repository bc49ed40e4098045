#include "cli/ca/trust_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "certs/secret_file.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kReadableByAll = 0644;
constexpr size_t kBundleBytesMax = 16 << 20;  // a system's has some 200 KB
constexpr size_t kScriptBytesMax = 1 << 16;
constexpr size_t kDigitsInName = 8;

struct Family {
  const char* anchors;
  const char* bundle;
  const char* tool;
  const char* settings;
};
// update-ca-certificates(8) of Debian and of Alpine; update-ca-trust(8) of Fedora; update-ca-certificates(8) of SUSE; Arch.
constexpr Family kFamilies[] = {
    {"usr/local/share/ca-certificates", "etc/ssl/certs/ca-certificates.crt", "update-ca-certificates",
     "etc/ca-certificates.conf"},
    {"etc/pki/ca-trust/source/anchors", "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "update-ca-trust", ""},
    {"etc/pki/trust/anchors", "var/lib/ca-certificates/ca-bundle.pem", "update-ca-certificates", ""},
    {"etc/ca-certificates/trust-source/anchors", "etc/ca-certificates/extracted/tls-ca-bundle.pem", "update-ca-trust", ""},
};
// Not PATH: a user's often has no sbin, and what root runs should not depend on it.
constexpr const char* kToolDirectories[] = {"usr/sbin", "usr/bin", "sbin", "bin"};

fs::path find_tool(const fs::path& top, const char* name) {
  std::error_code error;
  for (const char* directory : kToolDirectories) {
    fs::path tool = top / directory / name;
    if (fs::is_regular_file(tool, error)) return tool;
  }
  return {};
}

Error tool_failed(const TrustStore& store, const Finished& finished, std::string_view then) {
  std::string_view printed = finished.printed;
  while (printed.ends_with('\n')) printed.remove_suffix(1);
  return gateway_error(
      ErrorKind::Internal,
      fmt::format("{} failed with exit code {}; {}. {}", store.tool.string(), finished.exit_code, then,
                  printed.empty() ? "The tool printed nothing" : fmt::format("The tool printed:\n{}", printed)));
}

// A copy of the settings that leaves the files out; gone with its object.
class Exclusion {
 public:
  Exclusion(const TrustStore& store, const std::vector<Anchor>& anchors) : copy_(store.anchors / "armgate-untrust.conf") {
    auto text = certs::read_file(store.settings);
    if (!text) return;
    if (!text->ends_with('\n')) *text += '\n';
    for (const Anchor& anchor : anchors) *text += "!" + anchor.file.filename().string() + "\n";
    made_ = certs::write_file(copy_, *text, kReadableByAll).ok();
  }
  ~Exclusion() {
    std::error_code ignored;
    fs::remove(copy_, ignored);
  }
  Exclusion(const Exclusion&) = delete;
  Exclusion& operator=(const Exclusion&) = delete;
  bool made() const { return made_; }
  const fs::path& file() const { return copy_; }

 private:
  const fs::path copy_;
  bool made_ = false;
};

// Has the tool make the store anew without files that are gone. By itself Debian's leaves their links behind. With --fresh it
// drops the links, but tells its hooks only what was added, so that Java's store, which a hook keeps, would go on trusting what
// is gone. A line that excludes them does both (update-ca-certificates of ca-certificates 20230311, jks-keystore of
// ca-certificates-java 20230710). Alpine's and SUSE's know no such option.
Finished run_without(const SystemTrust& system, const TrustStore& store, const std::vector<Anchor>& anchors) {
  if (store.tool.filename() != "update-ca-certificates") return system.run({store.tool.string()});
  const auto script =
      store.settings.empty() ? Result<std::string>(std::string()) : certs::read_file(store.tool, kScriptBytesMax);
  if (script && script->find("--certsconf") != std::string::npos) {
    if (const Exclusion exclusion(store, anchors); exclusion.made()) {
      return system.run({store.tool.string(), "--certsconf", exclusion.file().string()});
    }
  }
  return system.run({store.tool.string(), "--fresh"});
}

// Takes away what was put; what became of it.
std::string undo(const SystemTrust& system, const TrustStore& store, const Anchor& anchor) {
  std::error_code ignored;
  fs::remove(anchor.file, ignored);
  run_without(system, store, {anchor});  // it may have got halfway
  if (!is_held(store, anchor.facts.fingerprint).value_or(false))
    return fmt::format("{} was taken away again", anchor.file.string());
  return fmt::format("{} was taken away again, but {} still has it: run {} by hand", anchor.file.string(),
                     store.bundle.string(), store.tool.string());
}

// Root itself, the user of the service that the package installs, and who has sudo run this. Empty unless this is root.
std::vector<uid_t> believed_users(const Environment& environment) {
  if (::geteuid() != 0) return {};
  std::vector<uid_t> believed{0};
  if (const passwd* const service = ::getpwnam("armgate")) believed.push_back(service->pw_uid);
  const auto caller = environment.find("SUDO_UID");
  if (caller == environment.end()) return believed;
  uid_t user = 0;
  const std::string& text = caller->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), user);
  if (error == std::errc{} && end == text.data() + text.size()) believed.push_back(user);
  return believed;
}

}  // namespace

SystemTrust real_system_trust(const Environment& environment) {
  return {
      .top = "/",
      .denial =
          [](const fs::path& directory) {
            return ::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
          },
      .run = [environment](
                 const std::vector<std::string>& words) { return CommandRunner().run_quietly(words, environment, kTailBytes); },
      .believed = believed_users(environment)};
}

std::optional<TrustStore> find_store(const SystemTrust& system) {
  for (const Family& family : kFamilies) {
    TrustStore store{system.top / family.anchors, system.top / family.bundle, find_tool(system.top, family.tool), {}};
    if (*family.settings != '\0') store.settings = system.top / family.settings;
    std::error_code error;
    if (fs::is_directory(store.anchors, error) && !store.tool.empty()) return store;
  }
  return std::nullopt;
}

std::string anchor_name(std::string_view fingerprint) {
  std::string digits = lower_text(fingerprint);
  std::erase(digits, ':');
  return "armgate-" + digits.substr(0, kDigitsInName) + ".crt";
}

std::vector<Anchor> anchors_in(const TrustStore& store) {
  std::vector<Anchor> found;
  std::error_code error;
  for (fs::directory_iterator entry(store.anchors, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with("armgate-") || !name.ends_with(".crt")) continue;
    const auto text = certs::read_file(entry->path());
    if (!text) continue;
    const auto facts = certs::facts_in(*text);
    if (facts.size() == 1 && facts.front().is_armgate_root) found.push_back({entry->path(), facts.front()});
  }
  std::sort(found.begin(), found.end(), [](const Anchor& a, const Anchor& b) { return a.file < b.file; });
  return found;
}

std::optional<bool> is_held(const TrustStore& store, std::string_view fingerprint) {
  const auto text = certs::read_file(store.bundle, kBundleBytesMax);
  if (!text) return std::nullopt;
  const auto held = certs::facts_in(*text);
  return std::any_of(held.begin(), held.end(), [&](const auto& facts) { return facts.fingerprint == fingerprint; });
}

Result<void> put_anchor(const SystemTrust& system, const TrustStore& store, const Anchor& anchor, std::string_view pem) {
  if (auto written = certs::write_file(anchor.file, pem, kReadableByAll); !written) return written;
  const Finished finished = system.run({store.tool.string()});
  if (finished.exit_code != 0) return tool_failed(store, finished, undo(system, store, anchor));
  if (is_held(store, anchor.facts.fingerprint).value_or(true)) return {};  // what cannot be read is taken at the tool's word
  return gateway_error(ErrorKind::Internal,
                       fmt::format("{} ran, but {} does not have the certificate; does the system distrust it elsewhere? {}",
                                   store.tool.string(), store.bundle.string(), undo(system, store, anchor)));
}

Result<void> take_anchors(const SystemTrust& system, const TrustStore& store, const std::vector<Anchor>& anchors) {
  for (const Anchor& anchor : anchors) {
    std::error_code failure;
    fs::remove(anchor.file, failure);
    if (failure) {
      return gateway_error(ErrorKind::BadInput, fmt::format("cannot remove {}: {}", anchor.file.string(), failure.message()));
    }
  }
  const Finished finished = run_without(system, store, anchors);
  if (finished.exit_code != 0) {
    return tool_failed(store, finished,
                       "the files are gone, but programs may go on trusting them until it has run; run it by hand");
  }
  for (const Anchor& anchor : anchors) {
    if (!is_held(store, anchor.facts.fingerprint).value_or(false)) continue;
    return gateway_error(ErrorKind::Internal,
                         fmt::format("{} still has the certificate with the fingerprint {}: a file that armgate "
                                     "did not write brings it there; look for it in {}",
                                     store.bundle.string(), anchor.facts.fingerprint, store.anchors.string()));
  }
  return {};
}

}  // namespace armgate
