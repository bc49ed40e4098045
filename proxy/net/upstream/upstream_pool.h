// upstream_pool.h – the real Upstream: verified TLS connections to ARM, kept alive and shared by one event loop.
//
// A request goes out once. Only if a connection that had idled fails before one byte of the request was taken by the
// system does the next connection get it; after that an error says Sent::Maybe and the caller decides.
// Threads   one per event loop; all calls from that loop. Destroy it after the loop ended or its last answer is gone.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "certs/tls_context.h"
#include "proxy/http/limits.h"
#include "proxy/net/upstream/upstream_host.h"
#include "proxy/seams/upstream.h"

namespace armgate::http {
struct ParsedResponseHead;
}

namespace armgate::net {

struct UpstreamOptions {
  UpstreamHostOptions host;
  http::Limits limits;
  Duration stall_max = std::chrono::seconds(60);  // between two pieces of an answer
  size_t hosts_max = 1000;
  std::string via = "1.1 armgate";  // RFC 9110 §7.6.3; empty: none
  certs::CaFile ca_file;            // instead of the system's trust store
  certs::CaFile parent_ca_file;     // besides, for what is reached through the parent proxy
  ConnectorOptions connector;
};

class UpstreamPool final : public Upstream {
 public:
  // BadInput if a CA file cannot be used.
  static Result<std::unique_ptr<UpstreamPool>> make(Clock& clock, Executor executor, UpstreamOptions options, Resolve resolve);

  Task<Result<UpstreamAnswer>> send(const arm::Request& request, SendLimits limits) override;

  size_t connections() const;

 private:
  UpstreamPool(Clock& clock, Executor executor, UpstreamOptions options, Resolve resolve);

  Result<certs::ContextHandle> make_context(const certs::CaFile& ca_file, const ParentProxy* parent) const;
  SSL_CTX* context_for(const std::string& name) const;
  Result<std::shared_ptr<UpstreamHost>> host_for(const std::string& name);
  Task<Result<http::ParsedResponseHead>> ask(UpstreamConnection& connection, const std::string& host,
                                             const arm::Request& request, std::string_view head, SendLimits limits);
  Task<Result<UpstreamAnswer>> exchange(std::shared_ptr<UpstreamHost> host, std::unique_ptr<UpstreamConnection> connection,
                                        const arm::Request& request, std::string_view head, SendLimits limits);

  Clock& clock_;
  const Executor executor_;
  const UpstreamOptions options_;
  Connector connector_;
  certs::ContextHandle context_;
  certs::ContextHandle parent_context_;  // of hosts behind the parent proxy; null: there is none
  std::map<std::string, certs::ContextHandle, std::less<>> own_contexts_;  // of hosts with a CA file of their own
  std::map<std::string, std::shared_ptr<UpstreamHost>, std::less<>> hosts_;
};

}  // namespace armgate::net
