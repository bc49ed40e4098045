// trust_store.h – the system's store of trusted certificates, as far as armgate's roots are in it.
//
// Each family of Linux has a directory where an administrator puts certificates, and a tool that makes of them, and of those
// that came with the system, the one file that programs read. Which family it is shows in what is there, not in a name.
//
// Invariants
//   1. Nothing but armgate-*.crt is ever written to or removed from that directory.
//   2. A root whose tool failed is not left there: the next run of the tool, by anybody, would trust it.
// Threads   one; the command line's.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "certs/authority_facts.h"
#include "cli/process/child_command.h"

namespace armgate {

// Where the store is looked for, and what may be done there; main.cc has the real one.
struct SystemTrust {
  std::filesystem::path top;                                          // "/"
  std::function<int(const std::filesystem::path& directory)> denial;  // the errno of writing there; 0: it can be written
  std::function<Finished(const std::vector<std::string>& words)> run;
  std::vector<uid_t> believed{};  // whose authorities root takes in; empty: it is not root who asks, or nobody looks
};
SystemTrust real_system_trust(const Environment& environment);

struct TrustStore {
  std::filesystem::path anchors;   // what an administrator adds
  std::filesystem::path bundle;    // what programs read
  std::filesystem::path tool;      // makes one of the other
  std::filesystem::path settings;  // of update-ca-certificates, which names what is left out
};
// The store of this system; nothing if it is none that armgate knows.
std::optional<TrustStore> find_store(const SystemTrust& system);

// "armgate-" and the first eight digits of the fingerprint.
std::string anchor_name(std::string_view fingerprint);

struct Anchor {
  std::filesystem::path file;
  certs::CertificateFacts facts;
};
// The roots of armgate that are in a store's directory, this one's and those of other authorities.
std::vector<Anchor> anchors_in(const TrustStore& store);

// Whether what programs read has the certificate; nothing if that cannot be read.
std::optional<bool> is_held(const TrustStore& store, std::string_view fingerprint);

// Writes the file and has the tool read it. Internal: the tool failed, or the certificate did not arrive; nothing is left then.
Result<void> put_anchor(const SystemTrust& system, const TrustStore& store, const Anchor& anchor, std::string_view pem);

// Removes the files, those that are there, and has the tool forget them. Internal: the tool failed, or one is trusted still.
Result<void> take_anchors(const SystemTrust& system, const TrustStore& store, const std::vector<Anchor>& anchors);

}  // namespace armgate
