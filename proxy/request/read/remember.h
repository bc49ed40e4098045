// remember.h – turns answers that reach a client into what it was shown (proxy/policy/history).
//
// Everything here is called before the answer's last byte is written, so that a client that answers at once finds its own read
// remembered. An answer that was written counts as read from its client's next request on, unless its connection was reset.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "arm/body/body_facts.h"
#include "proxy/request/exchange.h"
#include "proxy/request/identify.h"
#include "proxy/request/parts.h"

namespace armgate {

// What an answer has shown, to be taken back if it got lost.
struct Showing {
  Hash128 client{};
  Hash128 resource{};
  uint64_t order = 0;
  enum class What { Nothing, State, Page } what = What::Nothing;
};

// The body that was kept last of a resource's state, in the coding of this answer; null if there is none. An answer that has
// the same bytes shares it: whoever polls is shown the same again and again, and nothing in them is looked for twice.
policy::SharedBody last_read(const Parts& parts, const KeyedPlan& plan, const arm::ResponseHead& head);
// Other bytes are kept. Null if they cannot be read here.
policy::SharedBody keep_read(const Parts& parts, const Exchange& exchange, const KeyedPlan& plan, const arm::ResponseHead& head,
                             std::string bytes);

// An answer to a read of a type whose rule has a guard. `body` is null if it was too long to keep.
Showing remember_read(const Parts& parts, const Client& client, const Exchange& exchange, const KeyedPlan& plan,
                      const arm::ResponseHead& head, policy::SharedBody body);

// ARM's 2xx answer to the client's own full or partial write.
struct OwnAnswer {
  const arm::Response& answer;
  const std::optional<std::string>& body_etag;   // see Outcome
  Hash128 write_key{};                           // see write_key_of()
  std::shared_ptr<policy::KeptBody> stand_in{};  // what its client takes it to show, if it has no body; null: not known
};
Showing remember_own_answer(const Parts& parts, const Client& client, const Exchange& exchange, const KeyedPlan& plan,
                            const OwnAnswer& own);

// The connection that it was written to was reset: nobody knows whether it was read.
void take_back(const Parts& parts, ClientState& client, const Showing& showing);

// Brings the items of kept list pages that show this resource into its history, before bases are looked for.
void take_list_items(const Parts& parts, const Client& client, const KeyedPlan& plan);

const std::shared_ptr<const arm::BodyFacts>& body_facts(const rules::Plan& plan);

// The client's name for its request, in a bounded length; empty if it gave none. Different ones stay different.
std::string request_id_of(const Hasher& hasher, const Exchange& exchange);

}  // namespace armgate
