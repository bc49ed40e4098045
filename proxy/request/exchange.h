// exchange.h – one request and everything that is learnt about it on its way, for its answer's headers and its log line.
//
// The steps talk to each other through return values; an Exchange only carries what the request is, and collects what
// happened to it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/body/merge.h"
#include "arm/http.h"
#include "base/fingerprint.h"
#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/task.h"
#include "proxy/state/planned.h"

namespace armgate::policy {
struct KeptBody;
}  // namespace armgate::policy

namespace armgate {

// The sender of the request, as far as its connection tells (docs/design.md, "Clients and actors").
struct ConnectionIdentity {
  uint64_t connection = 0;  // unique within the process
  std::string proxy_user;   // user name in the proxy URL; empty if none
  std::string peer;         // the peer's address without its port
};

// The sender of a request, worked out from its connection and its credential (identify.h). A connection nearly always sends the
// same credential again, so its owner keeps what the last one came to, and of the credential itself nothing but keyed sums.
struct Sender {
  Fingerprint shown{};   // of the whole Authorization value
  Hash128 credential{};  // its keyed hash
  Hash128 client{};      // the client's key; zero: nothing was worked out yet
  Hash128 principal{};   // who the credential says it is; zero: there is none
  std::string label;
};

// What was done, for x-armgate-* headers and the log.
struct Report {
  Duration waited{};                 // in the lock queue and in retries' waits
  int attempts = 0;                  // sendings of this request
  std::vector<std::string> locks;    // canonical ids of the keys taken
  std::string guard;                 // how the base was chosen and used ("newest", "request-id, verified", ...)
  std::string reason;                // why it was altered, delayed, repeated or refused; empty if it was not
  std::string upstream_code;         // ARM's error code of the last attempt that met an error, if any
  std::string upstream_message;      // what it said, if something was done about it; fit for the log
  std::string upstream_error;        // why no whole answer of ARM's came, the last time; fit for the log
  std::string_view repeatability;    // "accepted" or "rejected", of a request with a repeatability id; empty: not told
  arm::MergePlaces merged{};         // others' changes that were merged into it
  bool claimed_reservation = false;  // it came back to the position in the queue that was kept for it
  bool replayed = false;             // the answer is that of an earlier sending of the same request
  bool by_right = false;             // it goes because its client has read again since it was refused
  bool in_turn = false;              // it came in its client's turn (proxy/state/lock/turns)
  bool altered = false;              // a header was added, or the answer is not ARM's answer to these bytes
};

// A request that its client has named, so that its repetition is known (arm/repeatability.h).
struct NamedRequest {
  Hash128 key{};          // keyed hash of the name and of who gave it
  WallTime first_sent{};  // by its client's clock
};

// What a client asked for in a write whose body was merged with what others had changed.
struct ClientsOwn {
  std::string body;
  std::shared_ptr<const policy::KeptBody> base;  // what it was built from
};

struct Exchange {
  arm::Request request;                     // as it goes to ARM
  std::optional<NamedRequest> named{};      // set by the pipeline, for what may change something
  std::optional<ClientsOwn> clients_own{};  // if its body is a merge; nothing: what goes is what the client sent
  ConnectionIdentity from;
  Sender* last_sender = nullptr;  // of the connection, which must outlive this; null: nobody keeps it
  Moment arrived;                 // the first byte of the request's head
  Moment forwarded;               // a relayed request: before its first byte was sent to ARM
  Executor executor;
  Planned planned;           // set by the pipeline
  Hash128 client{};          // set by the pipeline
  Hash128 principal{};       // as Sender's; set by the pipeline
  std::string client_label;  // for the log: the proxy user or the hash's first digits; never a token
  int status = 0;            // what the client was answered; 0: nothing
  bool delivered = false;    // the answer was written completely
  Report report;

  const std::string& clients_body() const { return clients_own ? clients_own->body : request.body; }
  // The canonical id of what the target names; empty if it names nothing, or is not planned yet.
  std::string_view resource() const {
    return planned.plan ? std::string_view(planned.plan->target.resource.id) : std::string_view();
  }
};

}  // namespace armgate
