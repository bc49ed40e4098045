// read_again.h – armgate's own look at a resource or an operation, with the client's token.
//
// Why: after a 412, a busy 409 or a lost answer, only the state itself tells what to do. These reads are answered to nobody
// and are never what the client was shown: it has not seen them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arm/http.h"
#include "base/result.h"
#include "proxy/policy/verdict.h"
#include "proxy/request/parts.h"

namespace armgate {

// Nor will it be otherwise at the next try: what is not implemented, and a way that leads back to armgate.
inline bool is_settled(int status) { return status == 501 || status == 508; }

struct SeenState {
  arm::ResponseHead head;
  std::string body;  // content coding removed
  std::string etag;
  std::string api_version{};                            // at which it was read, where that matters
  std::vector<policy::ThereBody::Elsewhere> elsewhere;  // the same state at other api-versions, where that is asked for
  bool is_hidden = false;  // ARM does not show this reader the resource: its answer says nothing about that
  bool exists() const { return head.status == 200; }
  bool absent() const { return head.status == 404 && !is_hidden; }
  // 408, 429 or 5xx: it says nothing about the resource, nor about its reader.
  bool is_refused_for_now() const { return !is_settled(head.status) && arm::asks_for_another_try(head.status); }
};

// How armgate reads: by GET, or by POST where only that shows the state.
struct OwnRead {
  std::string target;
  arm::Method method = arm::Method::Get;
};
// Of the resource with that key, whose URL has this request target.
OwnRead own_read(const Parts& parts, const Hash128& resource_key, std::string_view target);

// Both wait for as long as what ARM lets the token's bearer read is scarce (budget.h), and fail if that takes longer than
// read_again_timeout.

// Once. An answer of any status is a result.
Task<Result<SeenState>> read_once(const Parts& parts, std::string host, OwnRead read, std::string authorization);

// The same, patiently: while the connection breaks or ARM refuses it for now it is tried again, up to read_again_timeout, and
// not at all if ARM asks for a longer pause, nor beyond `until`. The last try's result.
Task<Result<SeenState>> read_again(const Parts& parts, std::string host, OwnRead read, std::string authorization,
                                   TimePoint until = TimePoint::max());

}  // namespace armgate
