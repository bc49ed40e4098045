// client_link.h – the seam to the client that waits for one answer. Real: its connection. Simulation: a simulated client.
//
// The pipeline answers through it exactly once per request: write_head, then write_body any number of times, then
// finish; or nothing at all if the connection is lost.
// Threads   all calls on the connection's event loop.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "arm/http.h"
#include "base/result.h"
#include "proxy/async/task.h"
#include "proxy/async/waiter.h"
#include "proxy/seams/upstream.h"

namespace armgate {

// Whether a client is still there to hear its answer, for whoever asks, on any thread.
struct Presence {
  std::atomic<bool> gone{false};
};

class ClientLink {
 public:
  virtual ~ClientLink() = default;

  virtual Task<Result<void>> write_head(const arm::ResponseHead& head, BodyLength length) = 0;
  virtual Task<Result<void>> write_body(std::string_view piece) = 0;  // suspends while the client is slow
  virtual Task<Result<void>> finish() = 0;

  // True once the client has closed, half-closed or reset the connection. Only kept up to date while watched.
  virtual bool gone() const = 0;

  // The same for others, also after the link is gone.
  virtual std::shared_ptr<const Presence> presence() const = 0;

  // True once armgate is about to cut the connection, because it ends: who has only waited yet should be told to come again.
  virtual bool closing() const = 0;

  // While a watch is set, the link notices the client's leaving and signals `bits` on `waiter`, and so it does when it begins
  // to close. Clear it (nullptr) before the waiter dies. One at a time.
  virtual void watch(Waiter* waiter, uint32_t bits) = 0;
};

}  // namespace armgate
