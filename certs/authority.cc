#include "certs/authority.h"

#include <fmt/format.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "certs/certificate.h"
#include "certs/constraints.h"
#include "certs/secret_file.h"

namespace armgate::certs {
namespace {

constexpr auto kLifetime = std::chrono::days(3650);

Error bad_input(std::string context) { return gateway_error(ErrorKind::BadInput, std::move(context)); }

Result<std::string> random_suffix() {
  std::array<unsigned char, 4> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return openssl_failure("making a random name");
  return fmt::format("{:02x}{:02x}{:02x}{:02x}", bytes[0], bytes[1], bytes[2], bytes[3]);
}

// Tools trust the authority that is there, and a running armgate has it in memory.
std::string remedy(std::string_view init_command) {
  return fmt::format("replace it with `{} --force`, start armgate anew, and let tools trust the new ca.pem", init_command);
}

// Of files that do not belong together, or are damaged: where there is a backup, tools go on trusting what they trust.
std::string remedy_of_damage(std::string_view init_command) {
  return "restore all files of the authority from a backup, or " + remedy(init_command);
}

Result<void> check_validity(const X509* certificate, const std::filesystem::path& file, WallTime now,
                            std::string_view init_command) {
  if (now < not_before(certificate)) {
    return bad_input(fmt::format("{} is not valid yet; check this machine's clock", file.string()));
  }
  if (now >= not_after(certificate)) return bad_input(fmt::format("{} has expired; {}", file.string(), remedy(init_command)));
  return {};
}

// Of a file that cannot be read although the root is there.
Error unreadable(Error error, const std::filesystem::path& file, std::string_view init_command) {
  std::error_code failure;
  const bool is_there = std::filesystem::exists(file, failure) || failure;
  if (is_there) return error;
  return bad_input(fmt::format("{} is not there; {}", file.string(), remedy_of_damage(init_command)));
}

Result<CertificateHandle> load_certificate(const std::filesystem::path& file, std::string_view init_command) {
  auto text = read_file(file);
  if (!text) return unreadable(std::move(text).error(), file, init_command);
  auto certificate = certificate_from_pem(*text);
  if (!certificate)
    return bad_input(fmt::format("{} holds no PEM certificate; {}", file.string(), remedy_of_damage(init_command)));
  return certificate;
}

struct Keeper {
  std::optional<FileOwner> owner;  // nothing: whose process this is
  mode_t key_mode = 0600;
};

// The owner of what root writes: that of the key that is replaced, else of the directory. A service of that user could not
// start with a key of root's.
Keeper keeper_of(const std::filesystem::path& directory) {
  if (::geteuid() != 0) return {};
  struct stat status {};
  const bool is_replaced = ::stat(files_in(directory).key.c_str(), &status) == 0;
  if (!is_replaced && ::stat(directory.c_str(), &status) != 0) return {};
  const bool is_one_groups = is_replaced && (status.st_mode & 0077) == 0040;  // a Secret's way; see whose_secret()
  if (status.st_uid == 0) return is_one_groups ? Keeper{FileOwner{0, status.st_gid}, 0640} : Keeper{};
  return {FileOwner{status.st_uid, status.st_gid}, 0600};
}

// Whether the directory, or what it would be made in, lies on a read-only file system, as in a container.
bool is_read_only(std::filesystem::path directory) {
  struct statvfs facts {};
  while (::statvfs(directory.c_str(), &facts) != 0) {
    if (errno != ENOENT || directory == directory.parent_path()) return false;
    directory = directory.parent_path();
  }
  return (facts.f_flag & ST_RDONLY) != 0;
}

}  // namespace

Result<void> check_presence(const std::filesystem::path& root, std::string_view init_command) {
  std::error_code failure;
  if (std::filesystem::exists(root, failure)) return {};
  if (!failure && is_read_only(root.parent_path())) {
    return bad_input(
        fmt::format("{} is not there, and can only be mounted there: make an authority elsewhere "
                    "(`armgate ca init --directory DIR`) and mount DIR, or a Secret with its three files, at {}",
                    root.string(), root.parent_path().string()));
  }
  if (!failure && std::filesystem::exists(files_in(root.parent_path()).intermediate, failure)) {
    return bad_input(
        fmt::format("{} is not there, though the rest of its authority is: restore it from a tool that trusts it, or {}",
                    root.string(), remedy(init_command)));
  }
  if (!failure) return bad_input(fmt::format("{} is not there; make it with `{}`", root.string(), init_command));
  return bad_input(
      fmt::format("{} cannot be reached: {}; run as the user who made it, or let others into its directory "
                  "(chmod 711: the key in it stays readable by its owner alone)",
                  root.string(), failure.message()));
}

Result<Authority> make_authority(const std::vector<std::string>& hosts, WallTime now) {
  auto constraints = name_constraints(hosts);
  if (!constraints) return std::move(constraints).error();
  auto suffix = random_suffix();
  if (!suffix) return std::move(suffix).error();
  auto root_key = make_key();
  if (!root_key) return std::move(root_key).error();
  auto key = make_key();
  if (!key) return std::move(key).error();

  const Validity validity{now - kClockSkew, now + kLifetime};
  auto root = make_certificate({std::string(kRootName) + *suffix,
                                validity,
                                {{NID_basic_constraints, "critical,CA:TRUE,pathlen:1"},
                                 {NID_key_usage, "critical,keyCertSign,cRLSign"},
                                 {NID_name_constraints, *constraints}}},
                               root_key->get(), {nullptr, root_key->get()});
  if (!root) return std::move(root).error();
  auto intermediate = make_certificate({"armgate intermediate CA " + *suffix,
                                        validity,
                                        {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                                         {NID_key_usage, "critical,keyCertSign,cRLSign"},
                                         {NID_ext_key_usage, "serverAuth"},
                                         {NID_name_constraints, *constraints}}},
                                       key->get(), {root->get(), root_key->get()});
  if (!intermediate) return std::move(intermediate).error();
  return Authority{*std::move(root), *std::move(intermediate), *std::move(key)};
}

Result<void> save_authority(const Authority& authority, const std::filesystem::path& directory, Overwrite overwrite) {
  const AuthorityFiles files = files_in(directory);
  if (overwrite == Overwrite::Refuse) {
    for (const auto& file : {files.root, files.intermediate, files.key}) {
      std::error_code ignored;
      if (std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) {
        return bad_input(fmt::format(
            "{} exists already, and can be used as it is: `armgate ca path` prints what tools must trust. Replace it "
            "only on purpose, with --force: they trust the old one",
            file.string()));
      }
    }
  }
  auto root = to_pem(authority.root.get());
  auto intermediate = to_pem(authority.intermediate.get());
  auto key = to_pem(authority.key.get());
  if (!root) return std::move(root).error();
  if (!intermediate) return std::move(intermediate).error();
  if (!key) return std::move(key).error();
  if (auto made = make_private_directory(directory); !made) return made;
  const Keeper keeper = keeper_of(directory);
  // The root last: a directory with a root is complete.
  if (auto written = write_file(files.key, *key, keeper.key_mode, keeper.owner); !written) return written;
  if (auto written = write_file(files.intermediate, *intermediate, 0644, keeper.owner); !written) return written;
  return write_file(files.root, *root, 0644, keeper.owner);
}

Result<AuthorityCertificates> load_certificates(const std::filesystem::path& directory, const std::vector<std::string>& hosts,
                                                WallTime now, std::string_view init_command) {
  const AuthorityFiles files = files_in(directory);
  if (auto there = check_presence(files.root, init_command); !there) return std::move(there).error();
  auto root = load_certificate(files.root, init_command);
  if (!root) return std::move(root).error();
  auto intermediate = load_certificate(files.intermediate, init_command);
  if (!intermediate) return std::move(intermediate).error();
  const bool signed_by_root = X509_check_issued(root->get(), intermediate->get()) == X509_V_OK &&
                              X509_verify(intermediate->get(), X509_get0_pubkey(root->get())) == 1;
  if (!signed_by_root) {
    take_openssl_errors();
    return bad_input(fmt::format("{} was not signed by {}; {}", files.intermediate.string(), files.root.string(),
                                 remedy_of_damage(init_command)));
  }
  if (auto valid = check_validity(root->get(), files.root, now, init_command); !valid) return std::move(valid).error();
  if (auto valid = check_validity(intermediate->get(), files.intermediate, now, init_command); !valid)
    return std::move(valid).error();
  const auto permitted = permitted_names(intermediate->get());
  for (const auto& host : hosts) {
    if (!is_within(permitted, host)) {
      return bad_input(fmt::format("{} may not sign for \"{}\": the host was not configured when it was made; {}",
                                   files.intermediate.string(), host, remedy(init_command)));
    }
  }
  return AuthorityCertificates{*std::move(root), *std::move(intermediate)};
}

std::string fault_of_owner(const std::filesystem::path& directory) {
  const AuthorityFiles files = files_in(directory);
  struct stat key {};
  struct stat folder {};
  const uid_t user = ::geteuid();
  const bool is_taken_away = user != 0 && ::stat(directory.c_str(), &folder) == 0 && folder.st_uid == user &&
                             ::stat(files.key.c_str(), &key) == 0 && key.st_uid != user &&
                             whose_secret(key, this_process()) == SecretOf::Another;
  if (!is_taken_away) return {};
  return fmt::format(
      "{0} belongs to user {1}, and its directory to user {2}, as whom armgate runs and who cannot read it: somebody else made "
      "it there; hand it over (`sudo chown {2}:{3} {0}`), and make the next one as that user (`sudo -u '#{2}' armgate ca init`)",
      files.key.string(), key.st_uid, user, folder.st_gid);
}

Result<KeyHandle> load_key(const std::filesystem::path& directory, const X509* intermediate, std::string_view init_command) {
  const AuthorityFiles files = files_in(directory);
  if (auto fault = fault_of_owner(directory); !fault.empty()) return bad_input(std::move(fault));
  auto text = read_secret_file(files.key);
  if (!text) return unreadable(std::move(text).error(), files.key, init_command);
  auto key = key_from_pem(*text);
  if (!key)
    return bad_input(fmt::format("{} holds no PEM private key; {}", files.key.string(), remedy_of_damage(init_command)));
  if (X509_check_private_key(intermediate, key->get()) != 1) {
    take_openssl_errors();
    return bad_input(fmt::format("{} is not the key of {}; {}", files.key.string(), files.intermediate.string(),
                                 remedy_of_damage(init_command)));
  }
  return key;
}

Result<Authority> load_authority(const std::filesystem::path& directory, const std::vector<std::string>& hosts, WallTime now,
                                 std::string_view init_command) {
  auto certificates = load_certificates(directory, hosts, now, init_command);
  if (!certificates) return std::move(certificates).error();
  auto key = load_key(directory, certificates->intermediate.get(), init_command);
  if (!key) return std::move(key).error();
  return Authority{std::move(certificates->root), std::move(certificates->intermediate), *std::move(key)};
}

WallTime end_of(const Authority& authority) {
  return std::min(not_after(authority.root.get()), not_after(authority.intermediate.get()));
}

std::vector<std::string> permitted_names(const X509* intermediate) { return constraints_of(intermediate).names; }

bool covers(const Authority& authority, std::string_view host) {
  return is_within(permitted_names(authority.intermediate.get()), host);
}

}  // namespace armgate::certs
