// remember.h – turns answers that reach a client into versions (DESIGN §3), and compares states.
//
// Everything here is called before the answer's last byte is written, so that a client that answers at once finds its own
// read remembered; what is remembered stays pending until the connection confirms it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/content.h"
#include "proxy/stages/exchange.h"
#include "proxy/stages/identify.h"
#include "proxy/stages/parts.h"
#include "proxy/stages/read_again.h"

namespace armgate {

// A delivery that its connection must confirm.
struct PendingDelivery {
  Hash128 resource{};
  uint64_t order = 0;
  enum class What { Nothing, Version, Page } what = What::Nothing;
};

// An answer to a read of a type whose rule keeps versions. `body` is null if it was too long to keep.
PendingDelivery remember_read(const Pipeline::Parts& parts, const Client& client, const Exchange& exchange,
                              const KeyedPlan& plan, const arm::ResponseHead& head,
                              std::shared_ptr<const policy::KeptBody> body);

// ARM's 2xx answer to the client's own full or partial write.
struct OwnAnswer {
  const arm::Response& answer;
  const std::optional<std::string>& body_etag;  // see Outcome
  uint64_t built_on = 0;                        // the version; 0: not known
};
// Without a body, a full PUT's own body stands in.
PendingDelivery remember_own_answer(const Pipeline::Parts& parts, const Client& client, const Exchange& exchange,
                                    const KeyedPlan& plan, const OwnAnswer& own);

// Brings the items of kept list pages that show this resource into its view, before a base is chosen.
void take_list_items(const Pipeline::Parts& parts, const Client& client, const KeyedPlan& plan);

// How a state that was just read compares with the base of a write.
struct Comparison {
  bool same = false;                 // nothing that a client could have written differs
  std::vector<std::string> changed;  // JSON pointers of what differs, a few of them
};
Comparison compare_with_base(const SeenState& now, const policy::Base& base, const rules::Plan& plan, size_t bytes_max);

// What is known about the bodies of the plan's type; valid as long as the plan.
const arm::BodyFacts& body_facts(const rules::Plan& plan);

// The client's name for its request, in a bounded length; empty if it gave none. Different ones stay different.
std::string request_id_of(const Hasher& hasher, const Exchange& exchange);

}  // namespace armgate
