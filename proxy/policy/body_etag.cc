#include "proxy/policy/body_etag.h"

#include "arm/etag.h"

namespace armgate::policy {

std::string body_etag(const rules::Plan& plan, std::string_view body) {
  if (!plan.guarded || plan.rule->guard.kind != rules::GuardKind::Etag) return {};
  return arm::etag_in_body(body).value_or("");
}

}  // namespace armgate::policy
