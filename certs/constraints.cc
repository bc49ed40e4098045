#include "certs/constraints.h"

#include <fmt/format.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/text.h"
#include "certs/certificate.h"

namespace armgate::certs {
namespace {

// Every address of the family: address and mask are zero.
bool excludes_all_addresses(const NAME_CONSTRAINTS& constraints, int bytes) {
  for (int i = 0; i < sk_GENERAL_SUBTREE_num(constraints.excludedSubtrees); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_SUBTREE_value(constraints.excludedSubtrees, i)->base;
    if (name->type != GEN_IPADD || ASN1_STRING_length(name->d.iPAddress) != bytes) continue;
    const unsigned char* data = ASN1_STRING_get0_data(name->d.iPAddress);
    if (std::all_of(data, data + bytes, [](unsigned char byte) { return byte == 0; })) return true;
  }
  return false;
}

}  // namespace

Constraints constraints_of(const X509* certificate) {
  Constraints found;
  const std::unique_ptr<BASIC_CONSTRAINTS, Freed<BASIC_CONSTRAINTS_free>> basic(
      static_cast<BASIC_CONSTRAINTS*>(X509_get_ext_d2i(certificate, NID_basic_constraints, nullptr, nullptr)));
  found.is_authority = basic && basic->ca != 0;
  if (basic && basic->pathlen != nullptr) found.authorities_below = ASN1_INTEGER_get(basic->pathlen);
  int critical = 0;
  const std::unique_ptr<NAME_CONSTRAINTS, Freed<NAME_CONSTRAINTS_free>> constraints(
      static_cast<NAME_CONSTRAINTS*>(X509_get_ext_d2i(certificate, NID_name_constraints, &critical, nullptr)));
  if (!constraints) return found;
  for (int i = 0; i < sk_GENERAL_SUBTREE_num(constraints->permittedSubtrees); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_SUBTREE_value(constraints->permittedSubtrees, i)->base;
    if (name->type != GEN_DNS) continue;
    const auto* text = reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
    found.names.emplace_back(text, static_cast<size_t>(ASN1_STRING_length(name->d.dNSName)));
  }
  const bool all_are_names = std::all_of(found.names.begin(), found.names.end(), is_host_name);  // an empty one is any
  found.names_bind = critical == 1 && !found.names.empty() && all_are_names && excludes_all_addresses(*constraints, 8) &&
                     excludes_all_addresses(*constraints, 32);
  return found;
}

std::string_view without_wildcard(std::string_view host) { return host.starts_with("*.") ? host.substr(2) : host; }

bool is_within(const std::vector<std::string>& names, std::string_view host) {
  const std::string_view name = without_wildcard(host);
  return std::any_of(names.begin(), names.end(), [&](std::string_view own) { return is_at_or_below(name, own); });
}

Result<std::string> name_constraints(const std::vector<std::string>& hosts) {
  if (hosts.empty())
    return gateway_error(ErrorKind::BadInput,
                         "no host to intercept is configured, so a certificate authority would be useless");
  std::set<std::string> permitted;
  for (const auto& host : hosts) {
    const std::string_view name = without_wildcard(host);
    if (!is_host_name(name)) {
      return gateway_error(
          ErrorKind::BadInput,
          fmt::format("\"{}\" is not a host name in lower case (or *.name); addresses cannot be intercepted", host));
    }
    permitted.emplace(name);
  }
  std::string value = "critical";
  for (const auto& name : permitted) value += ",permitted;DNS:" + name;
  value += ",excluded;IP:0.0.0.0/0.0.0.0,excluded;IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0";
  return value;
}

}  // namespace armgate::certs
