// authority_facts.h – what a person wants to know about certificates: whose, how to tell them apart, how long they last.
//
// Threads   any; no state.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "certs/authority.h"

namespace armgate::certs {

struct CertificateFacts {
  std::string subject;      // "O = armgate, CN = ..."
  std::string fingerprint;  // SHA-256, as `openssl x509 -fingerprint -sha256` prints it: "AB:01:..."
  WallTime from;
  WallTime until;
  bool is_armgate_root = false;  // by what it says of itself; nobody vouches for a root
};
CertificateFacts facts_of(const X509* certificate);

// All certificates of a file in PEM, in its order; what cannot be read is left out.
std::vector<CertificateFacts> facts_in(std::string_view pem);

enum class KeyState {
  Good,           // private, and the intermediate's
  OfAnotherUser,  // private to its owner, so not looked into
  Refused,        // the fault says why
};

// What armgate would run with, but nobody should for long.
struct AuthorityWarning {
  std::string text;
  std::string remedy;
};

// Nothing as long as it is valid for 30 more days. `until`: when the authority in the directory ends.
std::optional<AuthorityWarning> warning_of_end(const std::filesystem::path& directory, WallTime until, WallTime now,
                                               std::string_view init_command);

// As much of the authority in a directory as could be read.
struct AuthorityFacts {
  std::optional<CertificateFacts> root;
  std::optional<CertificateFacts> intermediate;
  std::vector<std::string> hosts;  // that the intermediate may sign for, each with all names below it
  KeyState key = KeyState::Refused;
  std::string fault;  // why armgate would not run with it; empty if it would
  std::vector<AuthorityWarning> warnings;
};
// `hosts`, `now` and `init_command` as for load_authority().
AuthorityFacts look_at_authority(const std::filesystem::path& directory, const std::vector<std::string>& hosts, WallTime now,
                                 std::string_view init_command);

}  // namespace armgate::certs
