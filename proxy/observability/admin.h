// admin.h – the admin listener: is it alive, is it ready, what has it counted, what is it doing; and releasing what is held.
//
// Why: whoever runs armgate must see from outside whether it works, who runs and who waits, and must be able to let the others
// go on if an operation will not end. No token, header or body is shown.
// Threads   one event loop; everything it looks at is shared and guards itself.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "arm/http.h"
#include "proxy/observability/admin/admin_leases.h"
#include "proxy/observability/service_state.h"
#include "proxy/observability/tally.h"
#include "proxy/request/pipeline.h"
#include "proxy/seams/client_link.h"
#include "proxy/seams/clock.h"

namespace armgate {

enum class WhichWrites : uint8_t;  // proxy/seams/which_writes.h

struct BudgetReport;
class OperationResults;
struct Unlocked;

// What the pages show.
struct AdminSources {
  Clock& clock;
  const LockTable& locks;
  const OperationResults& results;
  std::function<bool(const Hash128& key)> is_at_work;  // an operation of the resource is known to run
  std::function<ServiceState()> state;
  std::function<GatewayTally::Counts()> tally;
  std::function<std::string()> metrics;  // /metrics
  std::function<BudgetReport()> budgets;
  std::function<Unlocked(const Hash128& key, std::string_view who)> unlock;
  // /history, JSON (record_view.h), or why the journal cannot be read. It takes time, to read files or to compare bodies: it is
  // asked on a thread of its own.
  std::function<Result<std::string>(size_t most, const std::string& resource, WhichWrites which)> history;
  std::function<std::string()> recent;     // /recent, JSON (timeline.h)
  std::function<std::string()> decisions;  // /decisions, JSON (decision_log.h)
  RunLeaseSources leases;                  // /leases
};

class Admin {
 public:
  // Of the writes that hold or want locks the status page shows the oldest so many.
  static constexpr size_t kWritesShownMax = 500;

  explicit Admin(AdminSources sources) : sources_(std::move(sources)) {}

  // GET and HEAD of /healthz, /readyz, /metrics, /status, /recent, /decisions, /history and the live page (admin_files.h); POST
  // of /unlock with a resource id behind it; /leases (admin_leases.h). Other paths get 404, other methods 405. All but the
  // first three are given only under an address or "localhost" as the host: a page in a browser could otherwise use them by
  // letting its own name lead here. /unlock and /leases are only for operators of this machine (refuse_as_operator).
  arm::Response answer(const arm::Request& whole, const std::string& peer) const;

  // The same, for one caller at a time: what a page takes of memory it takes once. What cannot be done for want of that is a
  // 503.
  arm::Response answer_alone(const arm::Request& whole, const std::string& peer) const;

  Task<Receipt> serve(Exchange& exchange, ClientLink& client) const;

 private:
  // A page whose path is all that it needs.
  struct Page {
    std::string_view path;
    arm::Response (Admin::*give)() const;
    bool names_resources;
  };
  static const Page* find_page(std::string_view path);  // nullptr: none

  arm::Response healthz_page() const;
  arm::Response readyz_page() const;
  arm::Response metrics_page() const;
  arm::Response status_page() const;
  arm::Response recent_page() const;
  arm::Response decisions_page() const;
  arm::Response history_page(const arm::RequestHead& request) const;
  Task<arm::Response> answer_aside(const Exchange& exchange) const;
  arm::Response unlock(const arm::RequestHead& request, const std::string& peer) const;

  const AdminSources sources_;
  mutable std::mutex alone_;
};

}  // namespace armgate
