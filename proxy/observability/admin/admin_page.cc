#include "proxy/observability/admin/admin_page.h"

#include <utility>

#include "base/client_name.h"
#include "json/tree.h"
#include "proxy/net/upstream/address_policy.h"

namespace armgate {
namespace {

bool is_of_this_machine(const std::string& peer) {
  const auto address = net::address_of(peer);
  return address && net::is_loopback(*address);
}

}  // namespace

arm::Response admin_page(int status, std::string_view reason, std::string_view type, std::string body) {
  arm::Response response;
  response.head.status = status;
  response.head.reason = std::string(reason);
  response.head.fields = {{"Content-Type", type}, {"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}};
  response.body = std::move(body);
  return response;
}

arm::Response admin_text(int status, std::string_view reason, std::string line) {
  return admin_page(status, reason, "text/plain; charset=utf-8", std::move(line) + "\n");
}

arm::Response admin_json(int status, std::string_view reason, const nlohmann::ordered_json& value) {
  return admin_page(status, reason, "application/json", dump_json(value, 2) + "\n");
}

bool is_no_name(const std::string& host) { return host == "localhost" || net::address_of(host).has_value(); }

std::optional<arm::Response> refuse_as_operator(const arm::RequestHead& request, const std::string& peer) {
  if (!is_no_name(request.host) || !is_of_this_machine(peer)) {
    return admin_text(403, "Forbidden",
                      "this is only for who asks from this machine: listen.admin must be on loopback, or on all addresses");
  }
  if (!is_client_name(request.fields.get("x-armgate-operator"))) {
    return admin_text(400, "Bad Request", "say in x-armgate-operator who you are: 1 to 64 letters, digits or \"._~-\"");
  }
  return std::nullopt;
}

}  // namespace armgate
