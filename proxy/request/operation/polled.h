// polled.h – clients' own polls of operations pass by, and what ARM tells them is learnt from (costs ARM nothing).
//
// In a cluster a poll may come to another replica than the write came to. The replica that relays the poll tells the others how
// the operation ended, and the one that follows the operation takes that as an answer to its own poll.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/long_running.h"
#include "proxy/request/parts.h"
#include "proxy/state/lock/operation_leases.h"

namespace armgate::cluster {
struct EndTold;
struct OwnedPolled;
}  // namespace armgate::cluster

namespace armgate {

// The operations whose end the answer to a GET can tell.
struct PolledOperations {
  struct Elsewhere {
    std::string host;
    std::string target;
    arm::TrackedBy by = arm::TrackedBy::Nothing;
  };
  std::vector<OperationLeases::Match> here{};
  std::optional<Elsewhere> elsewhere{};  // another replica follows it

  bool empty() const { return here.empty() && !elsewhere; }
};

// `resource` is the key of the resource that the URL names; zero: it names none.
PolledOperations operations_at(const Parts& parts, std::string_view host, std::string_view target, const Hash128& resource);

// The answer to a client's own poll, which went to ARM at `asked`. `body`: without its content coding.
void learn_from_poll(const Parts& parts, const PolledOperations& operations, TimePoint asked, const arm::ResponseHead& head,
                     std::string_view body);

// What a client was told through another replica.
void learn_from_another(const Parts& parts, const cluster::EndTold& told);
// Through another replica somebody has polled an operation of armgate's own that this one follows.
void note_poll_elsewhere(const Parts& parts, const cluster::OwnedPolled& polled);

}  // namespace armgate
