#include "certs/authority_facts.h"

#include <fmt/format.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "certs/certificate.h"
#include "certs/secret_file.h"

namespace armgate::certs {
namespace {

constexpr auto kDaysMin = std::chrono::days(30);  // to replace it, and to let all tools trust the new one

std::string subject_of(const X509* certificate) {
  const BioHandle memory(BIO_new(BIO_s_mem()));
  // What is not printable comes out escaped: it may stand on a terminal.
  if (!memory || X509_NAME_print_ex(memory.get(), X509_get_subject_name(certificate), 0, XN_FLAG_ONELINE) < 0) return {};
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return {data, static_cast<size_t>(size)};
}

std::string fingerprint_of(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) return {};
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{}{:02X}", i == 0 ? "" : ":", digest[i]);
  return text;
}

// The subject's only value of a kind; empty if there is none.
std::string name_part(const X509* certificate, int nid) {
  const X509_NAME* name = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(name, nid, -1);
  if (at < 0) return {};
  unsigned char* text = nullptr;
  const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
  if (size < 0) return {};
  std::string part(reinterpret_cast<const char*>(text), static_cast<size_t>(size));
  OPENSSL_free(text);
  return part;
}

bool is_armgate_root(const X509* certificate) {
  return name_part(certificate, NID_organizationName) == "armgate" &&
         name_part(certificate, NID_commonName).starts_with(kRootName) &&
         X509_NAME_cmp(X509_get_subject_name(certificate), X509_get_issuer_name(certificate)) == 0;
}

CertificateHandle try_certificate(const std::filesystem::path& file) {
  auto text = read_file(file);
  auto certificate = text ? certificate_from_pem(*text) : Result<CertificateHandle>(std::move(text).error());
  return certificate ? *std::move(certificate) : nullptr;
}

// Seen by root, or by somebody else than the directory's owner, for whom it is a fault (fault_of_owner()).
std::optional<AuthorityWarning> warning_of_owner(const std::filesystem::path& directory, const struct stat& folder) {
  const auto file = files_in(directory).key;
  struct stat key {};
  const bool is_roots_alone = ::stat(file.c_str(), &key) == 0 && key.st_uid == 0 && (key.st_mode & 0077) == 0;
  if (!is_roots_alone || folder.st_uid == 0) return std::nullopt;
  return AuthorityWarning{fmt::format("{} is root's, and its directory user {}'s: a service of that user cannot read it",
                                      file.string(), folder.st_uid),
                          fmt::format("`chown --reference={} {}`", directory.string(), file.string())};
}

std::vector<AuthorityWarning> warnings_about(const AuthorityFacts& facts, const std::filesystem::path& directory, WallTime now,
                                             std::string_view init_command) {
  std::vector<AuthorityWarning> warnings;
  if (facts.root && facts.intermediate) {
    const WallTime until = std::min(facts.root->until, facts.intermediate->until);
    if (auto warning = warning_of_end(directory, until, now, init_command)) warnings.push_back(*std::move(warning));
  }
  struct stat status {};
  const bool is_others_too = ::stat(directory.c_str(), &status) == 0 && (status.st_mode & 0022) != 0 &&
                             (status.st_mode & S_ISVTX) == 0;  // others cannot replace what is there (Secrets in a pod)
  if (is_others_too) {
    warnings.push_back({fmt::format("others may write to {}, and put an authority of their own there", directory.string()),
                        fmt::format("`chmod go-w {}`", directory.string())});
  }
  if (auto warning = warning_of_owner(directory, status)) warnings.push_back(*std::move(warning));
  return warnings;
}

}  // namespace

CertificateFacts facts_of(const X509* certificate) {
  return {subject_of(certificate), fingerprint_of(certificate), not_before(certificate), not_after(certificate),
          is_armgate_root(certificate)};
}

std::vector<CertificateFacts> facts_in(std::string_view pem) {
  std::vector<CertificateFacts> found;
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  // One by one: OpenSSL's reader stops at the first that it cannot read, and a root behind it would be overlooked.
  for (size_t at = pem.find(kBegin); at != pem.npos; at = pem.find(kBegin, at + 1)) {
    const size_t end = pem.find(kEnd, at);
    if (end == pem.npos) break;
    if (const auto certificate = certificate_from_pem(pem.substr(at, end + kEnd.size() - at))) {
      found.push_back(facts_of(certificate->get()));
    }
  }
  return found;
}

std::optional<AuthorityWarning> warning_of_end(const std::filesystem::path& directory, WallTime until, WallTime now,
                                               std::string_view init_command) {
  const auto left = until - now;
  if (left >= kDaysMin) return std::nullopt;
  const std::string root = files_in(directory).root.string();
  if (left <= Duration::zero()) {
    return AuthorityWarning{fmt::format("{} has expired", root),
                            fmt::format("`{} --force`, start the service anew, and let tools trust the new one", init_command)};
  }
  return AuthorityWarning{
      fmt::format("{} is valid for {} more days", root, std::chrono::floor<std::chrono::days>(left).count()),
      fmt::format("replace it without a gap: make another one beside it (`{} --directory ANOTHER`), let all tools trust both, "
                  "then name that one in ca.directory (docs/install.md, \"Backups, and a new authority\")",
                  init_command)};
}

AuthorityFacts look_at_authority(const std::filesystem::path& directory, const std::vector<std::string>& hosts, WallTime now,
                                 std::string_view init_command) {
  AuthorityFacts facts;
  const AuthorityFiles files = files_in(directory);
  if (const auto certificates = load_certificates(directory, hosts, now, init_command); !certificates) {
    facts.fault = certificates.error().context;
  }
  if (const auto root = try_certificate(files.root)) facts.root = facts_of(root.get());
  const auto intermediate = try_certificate(files.intermediate);
  if (!intermediate) return facts;
  facts.intermediate = facts_of(intermediate.get());
  facts.warnings = warnings_about(facts, directory, now, init_command);
  facts.hosts = permitted_names(intermediate.get());
  const std::string taken_away = fault_of_owner(directory);
  if (taken_away.empty() && is_secret_of_another(files.key)) {
    facts.key = KeyState::OfAnotherUser;
  } else if (const auto key = load_key(directory, intermediate.get(), init_command)) {
    facts.key = KeyState::Good;
  } else if (facts.fault.empty()) {
    facts.fault = key.error().context;
  }
  return facts;
}

}  // namespace armgate::certs
