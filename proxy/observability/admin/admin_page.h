// admin_page.h – the answers of the admin listener, and who may change something there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "arm/http.h"
#include "json/tree_fwd.h"

namespace armgate {

arm::Response admin_page(int status, std::string_view reason, std::string_view type, std::string body);
arm::Response admin_text(int status, std::string_view reason, std::string line);
arm::Response admin_json(int status, std::string_view reason, const nlohmann::ordered_json& value);

// An address or "localhost": no page in a browser can be reached under it by letting its own name lead here.
bool is_no_name(const std::string& host);

// Nothing: it comes from this machine (`peer` is a loopback address, the host no name) and says in x-armgate-operator who asks,
// which no page of another origin can. Else why it is refused.
std::optional<arm::Response> refuse_as_operator(const arm::RequestHead& request, const std::string& peer);

}  // namespace armgate
