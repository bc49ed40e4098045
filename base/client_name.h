// client_name.h – which names a user may give to a client.
#pragma once

#include <cstddef>
#include <string_view>

namespace armgate {

inline constexpr size_t kClientNameBytesMax = 64;

// A name that stands for itself in a URL, in the log and in a header: letters, digits and "._~-", 1 to 64 of them.
bool is_client_name(std::string_view name);

}  // namespace armgate
