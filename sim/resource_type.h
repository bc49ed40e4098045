// resource_type.h – how the simulated providers differ, as a table (arm-facts: ETag per resource provider, poll URLs
// seen).
#pragma once

#include <string_view>

namespace armgate::sim {

enum class EtagForm {
  None,      // resource groups, storage accounts and everything that is not in the table
  Number,    // Compute: "3", in header and body of PUT and GET
  WeakGuid,  // Network: W/"guid", in the body of the resource and of every sub-resource; in the header on GET only
};

// Which writes exclude each other while an operation runs.
enum class ChildLock {
  Shared,  // a VNet and its subnets are one entity
  Own,     // security rules and their group do not exclude each other
};

// What a PUT answers.
enum class PutAnswer {
  Resource,  // 201 or 200 and the resource
  Accepted,  // 202, an empty body and a Location (storage accounts)
};

struct ResourceType {
  std::string_view type;  // lower case; empty: any other type
  std::string_view shown;
  EtagForm etags = EtagForm::None;
  std::string_view conflict_code;   // of the 409 during an operation
  std::string_view child_type{};    // lower case; empty: it has none
  std::string_view child_member{};  // of "properties" in the parent's body, and the spelling of the child's type
  ChildLock child_lock = ChildLock::Shared;
  PutAnswer put_answer = PutAnswer::Resource;
  bool long_running = false;  // takes SimOptions::operation unless its own length is given
};

const ResourceType& resource_type(std::string_view lower_case_type);
const ResourceType& group_type();

}  // namespace armgate::sim
