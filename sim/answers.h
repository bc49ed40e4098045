// answers.h – the bodies and errors that the simulated ARM answers with.
#pragma once

#include <string>
#include <string_view>

#include "arm/http.h"
#include "base/time.h"
#include "json/tree_fwd.h"
#include "sim/machine/address.h"

namespace armgate::sim {

// The author of an error: ARM itself marks its own with x-ms-failure-cause: gateway, a provider's carries nothing.
enum class FailureCause { Provider, Gateway };

arm::Response plain_answer(int status);
arm::Response json_answer(int status, const nlohmann::json& body);
arm::Response error_answer(int status, std::string_view code, std::string_view message,
                           FailureCause cause = FailureCause::Provider);

// ARM's own 404 for a resource that its provider need not even be asked about.
arm::Response missing_resource(const Address& address);

arm::Response missing_group(std::string_view name);

// The same for what a child is to be written below.
arm::Response missing_parent(std::string_view method, std::string_view parent_type, std::string_view child_type,
                             std::string_view parent_id);

// Retry-After in whole seconds; nothing for zero.
void say_retry_after(Duration delay, arm::Headers& fields);

// 412 as Compute, AKS and Network phrase it (observed, but AKS's for a stale ETag); `current` is empty for a resource that does
// not exist.
arm::Response compute_412(std::string_view given, std::string_view current);
arm::Response cluster_412(std::string_view given, std::string_view current);
arm::Response network_412(std::string_view given, std::string_view current, std::string_view id);

}  // namespace armgate::sim
