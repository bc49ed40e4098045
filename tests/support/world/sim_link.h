// sim_link.h – the ClientLink seam to a simulated client: it reads, slowly or not, leaves while it waits, or loses the
// connection just when the answer was on its way.
//
// Why: what a client has really received is the base of everything that armgate remembers about it, so every way of not
// receiving must come up.
// Threads   the simulation's one loop.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "proxy/async/waiter.h"
#include "proxy/request/exchange.h"
#include "proxy/seams/client_link.h"
#include "tests/support/world/gate_clock.h"

namespace armgate::world {

// How a client ends its side of a connection before it has its answer.
enum class Leaving { Stays, HalfClosed, Reset };

class SimLink final : public ClientLink, public std::enable_shared_from_this<SimLink> {
 public:
  static constexpr uint32_t kEnded = 1;

  SimLink(SimClock& clock, const Executor& executor) : clock_(clock), client_(executor) {}

  Task<Result<void>> write_head(const arm::ResponseHead& head, BodyLength length) override;
  Task<Result<void>> write_body(std::string_view piece) override;
  Task<Result<void>> finish() override;
  bool gone() const override { return leaving_ != Leaving::Stays; }
  std::shared_ptr<const Presence> presence() const override { return presence_; }
  bool closing() const override { return closing_; }
  void watch(Waiter* waiter, uint32_t bits) override;

  // ---- the client's side ----

  // Signalled with kEnded when the whole answer is in, or when the connection broke.
  Waiter& client() { return client_; }
  bool complete() const { return complete_; }
  bool answer_lost() const { return loses_answer_ && ends_ > 0; }
  bool broken() const { return leaving_ == Leaving::Reset; }
  const arm::Response& answer() const { return answer_; }

  void leave(Leaving how);
  void close();  // armgate's side is about to end
  // By a process that may stand still: it notices what its client does when it runs.
  void served_by(GateClock& server) { server_ = &server; }
  void read_slowly(Duration per_write) { slowness_ = per_write; }
  void lose_answer() { loses_answer_ = true; }  // the connection breaks when the answer is on its way

  // What the gateway wrote, for the checkers.
  int heads_written() const { return heads_; }
  int ends_written() const { return ends_; }
  TimePoint begun() const { return begun_; }  // the first byte of the head
  bool body_fits() const;                     // as many bytes as the head promised
  BodyLength promised() const { return promised_; }

  Exchange exchange;
  std::string known_as;  // the name that armgate knows its client by, in the proxy's URL or in its token

 private:
  Result<void> state() const;
  Task<void> take_time();  // for one write
  void notice();           // its server does, that the client has left

  SimClock& clock_;
  GateClock* server_ = nullptr;
  Waiter client_;
  Waiter* watcher_ = nullptr;
  uint32_t watcher_bits_ = 0;
  Leaving leaving_ = Leaving::Stays;
  const std::shared_ptr<Presence> presence_ = std::make_shared<Presence>();
  Duration slowness_{};
  bool loses_answer_ = false;
  bool closing_ = false;
  bool complete_ = false;
  int heads_ = 0;
  int ends_ = 0;
  TimePoint begun_{};
  BodyLength promised_;
  arm::Response answer_;
};

}  // namespace armgate::world
