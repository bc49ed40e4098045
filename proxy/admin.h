// admin.h – the admin listener: is it alive, is it ready, what has it counted, what is it doing; and releasing what is held.
//
// Why: whoever runs armgate must see from outside whether it works, who runs and who waits, and must be able to let the others
// go on if an operation will not end. No token, header or body is shown.
// Threads   one event loop; everything it looks at is shared and guards itself.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "arm/http.h"
#include "proxy/gateway_tally.h"
#include "proxy/seams/client_link.h"
#include "proxy/seams/clock.h"
#include "proxy/service_state.h"
#include "proxy/stages/pipeline.h"
#include "proxy/stages/unlock.h"

namespace armgate {

// What the pages show.
struct AdminSources {
  Clock& clock;
  const LockTable& locks;
  std::function<ServiceState()> state;
  std::function<GatewayTally::Counts()> tally;
  std::function<std::string()> metrics;  // /metrics
  std::function<Unlocked(const Hash128& key, std::string_view who)> unlock;
};

class Admin {
 public:
  // Of the writes that hold or want locks the status page shows the oldest so many.
  static constexpr size_t kWritesShownMax = 500;

  explicit Admin(AdminSources sources) : sources_(std::move(sources)) {}

  // GET and HEAD of /healthz, /readyz, /metrics, /status and the live page (admin_files.h), and POST of /unlock with a resource id
  // behind it; other paths get 404, other methods 405. /status, the live page and /unlock are given only under an address or "localhost" as the host: a page in a browser could
  // otherwise use them by letting its own name lead here. /unlock is only for who asks from this machine (`peer` is a loopback
  // address) and says in x-armgate-operator who that is, which no page of another origin can.
  arm::Response answer(const arm::RequestHead& request, const std::string& peer) const;

  Task<Receipt> serve(Exchange& exchange, ClientLink& client) const;

 private:
  arm::Response status_page() const;
  arm::Response unlock(const arm::RequestHead& request, const std::string& peer) const;

  const AdminSources sources_;
};

}  // namespace armgate
