// inflate.h – undoes Content-Encoding gzip and deflate for bodies that armgate must read.
//
// Why: versions are compared by content, and clients may ask ARM for gzip. The bytes that pass through stay as they are.
//
// Limits    bytes_max of output: a small body that inflates beyond it (a bomb) is refused while it inflates.
// Threads   any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace armgate::http {

// One or more gzip members (RFC 1952 §2.2) or one zlib stream (what HTTP calls deflate, RFC 9110 §8.4.1.2), told apart
// by their first bytes. BadInput if it is neither, damaged, cut or followed by anything else; TooLarge beyond bytes_max.
Result<std::string> inflate_gzip(std::string_view bytes, size_t bytes_max);

}  // namespace armgate::http
