// client_gate.h – whether what a client asked for may still wait for a connection to ARM, and begin to leave.
//
// Why: where all connections are in use the wait may be long. What its client has left meanwhile is not sent, and what waits
// when armgate is about to end is told to come again; neither is to be learnt only when a connection is free.
// Threads   the connection's event loop.
#pragma once

#include <optional>

#include "base/time.h"
#include "proxy/request/client_wait.h"
#include "proxy/request/exchange.h"
#include "proxy/request/parts.h"
#include "proxy/seams/upstream.h"

namespace armgate {

// The deadline for getting a connection, for a client that waits until `until`; a moment from now if that has passed.
TimePoint connection_due(const Parts& parts, TimePoint until);

class ClientGate : public SendGate {
 public:
  enum class Sender { Any, OneOfSeveral };  // of several processes only one that is not taken for dead may send it

  // The time in line is added to the report's.
  ClientGate(const Parts& parts, Report& report, Sender sender) : parts_(parts), report_(report), sender_(sender) {}
  ~ClientGate() override { note_waited(); }
  ClientGate(const ClientGate&) = delete;
  ClientGate& operator=(const ClientGate&) = delete;

  // What waits for it, and outlives this. Before it is set, no client can have left.
  void watch(ClientWait& client_wait, ClientWait::AtClosing at_closing);

  bool may_wait() override;
  Waiter* waiter() override { return client_wait_ == nullptr ? nullptr : &client_wait_->waiter(); }

  bool client_gone() const { return client_wait_ != nullptr && client_wait_->client_gone(); }
  bool is_closing() const;  // and so it waits no longer
  // It does not wait in line any more, whatever came of it. What has begun does not either.
  void note_waited();

 private:
  bool may_begin() final;
  bool is_wanted() const;

  const Parts& parts_;
  Report& report_;
  const Sender sender_;
  ClientWait* client_wait_ = nullptr;
  ClientWait::AtClosing at_closing_ = ClientWait::AtClosing::Stop;
  std::optional<TimePoint> in_line_since_;
};

}  // namespace armgate
