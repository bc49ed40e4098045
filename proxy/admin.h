// admin.h – the pages of the admin listener: is it alive, is it ready, what has it counted, what is it doing.
//
// Why: whoever runs armgate must see from outside whether it works, who runs and who waits. Nothing can be changed here, and no
// token, header or body is shown.
// Threads   one event loop; everything it looks at is shared and guards itself.
#pragma once

#include <functional>
#include <string>

#include "arm/http.h"
#include "proxy/gateway_tally.h"
#include "proxy/seams/client_link.h"
#include "proxy/seams/clock.h"
#include "proxy/service_state.h"
#include "proxy/stages/pipeline.h"

namespace armgate {

// What the pages show.
struct AdminSources {
  Clock& clock;
  const LockTable& locks;
  std::function<ServiceState()> state;
  std::function<GatewayTally::Counts()> tally;
  std::function<std::string()> metrics;  // /metrics
};

class Admin {
 public:
  // Of the writes that hold or want locks the status page shows the oldest so many.
  static constexpr size_t kWritesShownMax = 500;

  explicit Admin(AdminSources sources) : sources_(std::move(sources)) {}

  // GET and HEAD of /healthz, /readyz, /metrics, /status; other paths get 404, other methods 405. /status is given only under an
  // address or "localhost" as the host: a page in a browser could otherwise read it by letting its own name lead here.
  arm::Response answer(const arm::RequestHead& request) const;

  Task<Receipt> serve(Exchange& exchange, ClientLink& client) const;

 private:
  std::string status_page() const;

  const AdminSources sources_;
};

}  // namespace armgate
