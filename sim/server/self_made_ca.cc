#include "sim/server/self_made_ca.h"

#include <openssl/obj_mac.h>

#include "certs/certificate.h"

namespace armgate::sim {

Result<ServerIdentity> make_server_identity(WallTime now, const std::string& name) {
  const certs::Validity validity{now - std::chrono::hours(1), now + std::chrono::days(30)};
  const certs::CertificateRequest authority{
      "Simulated ARM authority",
      validity,
      {{NID_basic_constraints, "critical,CA:TRUE"}, {NID_key_usage, "critical,keyCertSign,cRLSign"}}};
  const certs::CertificateRequest server{name,
                                         validity,
                                         {{NID_basic_constraints, "critical,CA:FALSE"},
                                          {NID_key_usage, "critical,digitalSignature"},
                                          {NID_ext_key_usage, "serverAuth"},
                                          {NID_subject_alt_name, "DNS:" + name + ",DNS:localhost,IP:127.0.0.1"}}};
  Result<certs::KeyHandle> authority_key = certs::make_key();
  if (!authority_key) return authority_key.error();
  Result<certs::KeyHandle> server_key = certs::make_key();
  if (!server_key) return server_key.error();
  Result<certs::CertificateHandle> root =
      certs::make_certificate(authority, authority_key->get(), {nullptr, authority_key->get()});
  if (!root) return root.error();
  Result<certs::CertificateHandle> leaf =
      certs::make_certificate(server, server_key->get(), {root->get(), authority_key->get()});
  if (!leaf) return leaf.error();
  Result<std::string> ca_pem = certs::to_pem(root->get());
  Result<std::string> chain_pem = certs::to_pem(leaf->get());
  Result<std::string> key_pem = certs::to_pem(server_key->get());
  if (!ca_pem) return ca_pem.error();
  if (!chain_pem) return chain_pem.error();
  if (!key_pem) return key_pem.error();
  return ServerIdentity{std::move(*ca_pem), std::move(*chain_pem), std::move(*key_pem)};
}

}  // namespace armgate::sim
