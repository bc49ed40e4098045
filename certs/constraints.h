// constraints.h – for what an authority's certificate may sign, as it says itself (RFC 5280 §4.2.1.9 and §4.2.1.10).
//
// Threads   any; no state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "certs/ssl_handles.h"

namespace armgate::certs {

struct Constraints {
  bool is_authority = false;
  std::optional<long> authorities_below;  // nothing: any number
  std::vector<std::string> names;         // that it may sign for, each with all names below it; empty: any
  bool names_bind = false;                // there are some, every program must heed them, and addresses are excluded
};
Constraints constraints_of(const X509* certificate);

// The name of a pattern ("*.name").
std::string_view without_wildcard(std::string_view host);

// Whether a host, or all hosts of a pattern, are at or below one of the names.
bool is_within(const std::vector<std::string>& names, std::string_view host);

// The extension's value in OpenSSL's configuration syntax. BadInput if a host is no host name or the list is empty.
Result<std::string> name_constraints(const std::vector<std::string>& hosts);

}  // namespace armgate::certs
