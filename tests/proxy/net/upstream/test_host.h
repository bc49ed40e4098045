// test_host.h – an UpstreamHost whose connections lead to a scripted origin.
#pragma once

#include <memory>

#include "certs/tls_context.h"
#include "proxy/net/upstream/upstream_host.h"
#include "tests/proxy/net/socket/stream_tasks.h"
#include "tests/proxy/net/upstream/test_origin.h"

namespace armgate::net {

using Acquired = Result<std::unique_ptr<UpstreamConnection>>;

class HostTest : public NetTest {
 protected:
  HostTest() { make_host({}); }
  ~HostTest() override {
    origin_.stop();
    settle();
    host_.reset();
  }
  void make_host(const UpstreamHostOptions& options) {
    host_ = std::make_shared<UpstreamHost>("arm.example.test", clock_, executor(), connector_, context_.get(), options);
  }
  Task<Acquired> acquire(TimePoint deadline) { return host_->acquire(deadline); }

  TestAuthority authority_;
  TestOrigin origin_{clock_, executor(), authority_.cache()};
  certs::ContextHandle context_ = *certs::make_client_context(authority_.root_file());
  Connector connector_{clock_,
                       executor(),
                       {std::chrono::seconds(4), {{"arm.example.test", {"127.0.0.1", origin_.port(), {}}}}, {}},
                       names_.as_resolve()};
  std::shared_ptr<UpstreamHost> host_;
};

}  // namespace armgate::net
