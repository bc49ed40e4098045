#include "proxy/request/client_gate.h"

#include <algorithm>
#include <utility>

#include "proxy/request/cluster/recorded.h"

namespace armgate {
namespace {

constexpr Duration kConnectionLeast = std::chrono::seconds(5);  // also if its client has waited for as long as it does

}  // namespace

TimePoint connection_due(const Parts& parts, TimePoint until) { return std::max(until, parts.clock.now() + kConnectionLeast); }

void ClientGate::watch(ClientWait& client_wait, ClientWait::AtClosing at_closing) {
  client_wait_ = &client_wait;
  at_closing_ = at_closing;
}

bool ClientGate::may_wait() {
  if (!in_line_since_) in_line_since_ = parts_.clock.now();
  return is_wanted() && !is_closing();
}

// What nothing has kept waiting is sent also when armgate is about to end.
bool ClientGate::may_begin() {
  if (!is_wanted() || (in_line_since_ && is_closing())) return false;
  note_waited();
  return true;
}

bool ClientGate::is_closing() const {
  return client_wait_ != nullptr && at_closing_ == ClientWait::AtClosing::Stop && client_wait_->closing();
}

bool ClientGate::is_wanted() const {
  const bool is_there = client_wait_ == nullptr || client_wait_->may_begin();
  return is_there && (sender_ == Sender::Any || may_send(parts_));
}

void ClientGate::note_waited() {
  if (in_line_since_) report_.waited += parts_.clock.now() - *std::exchange(in_line_since_, std::nullopt);
}

}  // namespace armgate
