// leaf.h – mints the short-lived certificate that stands for one intercepted host.
//
// Why one shared key for all leaves: it never leaves this process, and a mint is then one signature.
// Threads   immutable after construction; mint() from any thread.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "certs/authority.h"

namespace armgate::certs {

inline constexpr auto kLeafLifetime = std::chrono::days(7);

class LeafMinter {
 public:
  // Makes the shared key.
  static Result<LeafMinter> make(Authority authority);

  // A leaf for exactly `host` (SAN dNSName), valid from an hour ago (clients' clocks differ) for seven days, or until the
  // authority ends.
  // BadInput if `host` is no host name or the authority may not sign for it.
  Result<CertificateHandle> mint(std::string_view host, WallTime now) const;

  const KeyHandle& key() const { return key_; }
  const Authority& authority() const { return authority_; }

 private:
  LeafMinter(Authority authority, KeyHandle key) : authority_(std::move(authority)), key_(std::move(key)) {}

  Authority authority_;
  KeyHandle key_;
};

}  // namespace armgate::certs
