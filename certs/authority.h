// authority.h – the local certificate authority: made once, trusted by the user's tools, good for ARM hosts only.
//
// Why: whoever holds a signing key that a tool trusts can read that tool's traffic. So the root signs one intermediate
// and its key is thrown away, and the intermediate is constrained to the intercepted hosts. The constraint stands on
// the intermediate because Java ignores constraints on a trust anchor; OpenSSL, Go, .NET, Java, GnuTLS and NSS all
// enforce it there. On the root it stands as well: who must decide whether to trust one can see how much that is.
//
// Invariants
//   1. The root key exists in memory only, while make_authority() runs.
//   2. The intermediate's key file is never readable by group or others, at no moment; but where one of root's is replaced that
//      one group could read (a Secret's way), that group can read the new one.
// Threads   an Authority is immutable after construction.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "certs/ssl_handles.h"

namespace armgate::certs {

struct Authority {
  CertificateHandle root;          // what tools must trust
  CertificateHandle intermediate;  // signs leaves; sent with each leaf
  KeyHandle key;                   // the intermediate's
};

// What the subjects of roots begin with: by it they are known again in a trust store.
inline constexpr std::string_view kRootName = "armgate root CA ";

// The part that everybody may read.
struct AuthorityCertificates {
  CertificateHandle root;
  CertificateHandle intermediate;
};

struct AuthorityFiles {
  std::filesystem::path root;          // ca.pem
  std::filesystem::path intermediate;  // intermediate.pem
  std::filesystem::path key;           // intermediate.key, 0600
};
inline AuthorityFiles files_in(const std::filesystem::path& directory) {
  return {directory / "ca.pem", directory / "intermediate.pem", directory / "intermediate.key"};
}

enum class Overwrite { Refuse, Force };

// A new authority in memory, constrained to `hosts` (exact names or "*.suffix"; a permitted name covers its subdomains,
// RFC 5280 §4.2.1.10). BadInput if a host is no host name or the list is empty.
Result<Authority> make_authority(const std::vector<std::string>& hosts, WallTime now);

// Writes the three files, the directory 0700, each file at once or not at all. BadInput if one is there already. What root
// writes belongs to the owner of the key that was there, else of the directory that was.
Result<void> save_authority(const Authority& authority, const std::filesystem::path& directory, Overwrite overwrite);

// Reads what save_authority wrote. Refuses, naming file and remedy: missing files, a key that group or others can read
// or that belongs to another user, a key of another certificate, a chain that does not verify, certificates outside
// their validity, and hosts that the constraints do not cover. `init_command` makes an authority there; remedies name it.
Result<Authority> load_authority(const std::filesystem::path& directory, const std::vector<std::string>& hosts, WallTime now,
                                 std::string_view init_command = "armgate ca init");

// The same without the key: for whoever may not read it.
Result<AuthorityCertificates> load_certificates(const std::filesystem::path& directory, const std::vector<std::string>& hosts,
                                                WallTime now, std::string_view init_command = "armgate ca init");

// The key of `intermediate`, if that is the one beside it.
Result<KeyHandle> load_key(const std::filesystem::path& directory, const X509* intermediate,
                           std::string_view init_command = "armgate ca init");

// Why the user whose directory it is cannot read the key in it, with the remedy; empty: that is not so.
std::string fault_of_owner(const std::filesystem::path& directory);

// BadInput, with the remedy, unless the file `root` can be seen.
Result<void> check_presence(const std::filesystem::path& root, std::string_view init_command);

// When it ends: the root or the intermediate, whichever is first.
WallTime end_of(const Authority& authority);

// The names that the constraints of an intermediate permit, each with all names below it.
std::vector<std::string> permitted_names(const X509* intermediate);

// Whether the constraints of `authority` permit leaves for `host` (exact or "*.suffix").
bool covers(const Authority& authority, std::string_view host);

}  // namespace armgate::certs
