// gateway.h – the composition root: the only place that knows every part and puts them together.
//
// Usage     open() binds; run() serves on the calling thread and others, or start() and join() on threads of its own. drain()
//           ends it in order; abort() at once.
// Threads   open, run, start, join and the destructor: the owner's. drain() and log_line(): any. abort(): the io() loop's.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "proxy/config/config.h"
#include "proxy/gateway/listeners.h"
#include "proxy/observability/log.h"
#include "proxy/observability/tally.h"
#include "proxy/seams/clock.h"
#include "proxy/seams/store.h"
#include "rules/plan.h"

namespace armgate {

enum class WhichWrites : uint8_t;  // proxy/seams/which_writes.h

class Admin;
class EventLoop;
struct Ending;
struct GatewayCommon;

class Gateway {
 public:
  // Reads the authority, opens the log, binds the listeners. BadInput if the configuration does not allow that.
  static Result<std::unique_ptr<Gateway>> open(Config config);
  ~Gateway();  // only if it never ran; see leave()

  const Config& config() const;
  std::string parent() const;  // the proxy through which it reaches the world, for people; empty: none
  const ListenerPorts& ports() const { return ports_; }
  size_t connections_max() const;  // of clients; fewer than are configured if open files do not allow them
  GatewayTally::Counts tally() const;
  Log& log();
  boost::asio::io_context& io();  // the first loop's, for signals
  void log_line(LogLevel level, std::string_view name, Log::Fields fields = {});

  // Its rules and its mode, for the requests that arrive from now on; unfinished writes keep what they were planned with. All
  // other options stay as they are. Gives how many sets of rules of before still count for that reason. Any thread.
  size_t use(const Config& changed);
  void note_refused_reload();  // until the next use(); any thread

  void run();
  void start();
  void join();

  // No new connections; running exchanges finish within `limit`, then run() returns. Shortly before the limit whatever only
  // waits is told to come again. A second call does nothing.
  void drain(Duration limit);
  void abort(std::string_view why);

  // Ends the process, after run() or join(). Watchers of operations, keepers of reservations and exchanges that were aborted
  // are parked in tables and on timers of each other's loops: unwinding them in any order would touch what is gone.
  [[noreturn]] void leave(Ending ending);

 private:
  void close_listeners(Duration limit);
  explicit Gateway(std::unique_ptr<GatewayCommon> common);
  void take_up(const PreviousProcess& former);
  void stop(std::string_view why);
  std::string metrics() const;
  Result<std::string> history(size_t most, const std::string& resource, WhichWrites which) const;
  struct Counted;
  Counted counted() const;
  void sample();         // at the counters, for the timeline; and again after a while
  void remind_of_end();  // of the authority, if it is near; and again after a day

  std::unique_ptr<GatewayCommon> common_;
  const std::unique_ptr<const Admin> admin_;
  std::vector<std::unique_ptr<EventLoop>> loops_;
  ListenerPorts ports_;
  std::thread runner_;
  // The rest belongs to the first loop's thread.
  std::unique_ptr<TimerHandle> delay_;
  std::unique_ptr<TimerHandle> last_call_;
  std::unique_ptr<TimerHandle> limit_;
  std::unique_ptr<TimerHandle> next_sample_;
  std::unique_ptr<TimerHandle> next_reminder_;
  size_t drained_ = 0;
  bool stopped_ = false;
};

}  // namespace armgate
