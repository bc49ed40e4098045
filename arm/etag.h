// etag.h – where ARM's resource providers put their ETags (docs/arm.md, "Where ETags stand").
//
// ETags are opaque bytes here: "3", W/"guid" and a bare guid are all in use, so nothing that is sent is ever normalised; what
// is injected is what was seen.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "arm/http.h"

namespace armgate::arm {

// The ETag inside a resource's body: top-level "etag" or "eTag" (any case), else "properties.eTag" (agent pools).
// Nothing for an absent, empty or non-string member, for one that could not stand in a header line, for two that
// differ, or for what is not a JSON object. Builds no tree, whatever the body's size.
std::optional<std::string> etag_in_body(std::string_view json);

// What the answer to a write says about the resource in its body, read once.
struct ResourceWords {
  std::optional<std::string> etag;                // as etag_in_body()
  std::optional<std::string> provisioning_state;  // as provisioning_state()
};
ResourceWords words_in_body(std::string_view json);

// The ETag header of an answer, empty if there is none. An asterisk is none, in quotes or not: as a precondition it would match
// whatever is there (RFC 9110 §13.1.1). A body with such a one has none either.
std::string_view etag_in_head(const Headers& fields);

// The ETag of a complete 2xx answer: the ETag header if it is there and not empty, else the body's.
std::optional<std::string> etag_of(const ResponseHead& head, std::string_view json);

// Whether two ETags are one, as a provider may spell it in the header and in the body: "1", W/"1" and 1 (docs/arm.md, "ETags";
// RFC 9110 §8.8.3.2 calls the first two alike). To know a state by; what is sent is what was seen.
bool is_same_etag(std::string_view a, std::string_view b);

// True if the request carries a precondition of its own that must be left alone: a non-empty If-Match, If-None-Match,
// If-Modified-Since or If-Unmodified-Since (RFC 9110 §13.1). An empty If-Match counts as absent
// (docs/arm.md, "ETags").
bool has_own_precondition(const Headers& fields);

// True if all that the request demands is that something is there: "If-Match: *", and no other precondition.
bool asks_for_any_state(const Headers& fields);

}  // namespace armgate::arm
