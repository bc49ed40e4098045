// content_coding.h – bodies in plain bytes, for scanning only. What goes to the client is never touched (P7).
#pragma once

#include <memory>
#include <string>

#include "arm/http.h"
#include "base/result.h"
#include "proxy/policy/view.h"

namespace armgate {

// The body without its gzip or deflate content coding; unchanged for identity. BadInput for another coding or broken data,
// TooLarge beyond `bytes_max`.
Result<std::string> plain_content(const arm::ResponseHead& head, std::string body, size_t bytes_max);

// Keeps a body as it was received, noting its coding.
std::shared_ptr<const policy::KeptBody> keep_body(const arm::ResponseHead& head, std::string body);

// A kept body in plain bytes; nothing if it cannot be had.
Result<std::string> plain_body(const policy::KeptBody& body, size_t bytes_max);

}  // namespace armgate
