#include "arm/operation.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "json/scan.h"

namespace armgate::arm {
namespace {

// Names of actions that only read. Everything else that is posted may change something (export of a cache or a database does).
constexpr std::array<std::string_view, 6> kReadActionPrefixes{"list", "get", "check", "validate", "exporttemplate", "whatif"};

OperationKind kind_of_action(std::string_view action) {
  for (const auto prefix : kReadActionPrefixes) {
    if (starts_with_ignoring_case(action, prefix)) return OperationKind::ReadAction;
  }
  return OperationKind::Action;
}

OperationKind kind_on_resource(Method method) {
  switch (method) {
    case Method::Get:
    case Method::Head: return OperationKind::Read;
    case Method::Put: return OperationKind::Put;
    case Method::Patch: return OperationKind::Patch;
    case Method::Delete: return OperationKind::Delete;
    default: return OperationKind::Other;
  }
}

}  // namespace

OperationKind operation_kind(Method method, const Target& target) {
  switch (target.kind) {
    case TargetKind::Resource: return kind_on_resource(method);
    case TargetKind::Collection: return method == Method::Get ? OperationKind::List : OperationKind::Other;
    case TargetKind::Action: return method == Method::Post ? kind_of_action(target.action) : OperationKind::Other;
    case TargetKind::Other: break;
  }
  return OperationKind::Other;
}

bool is_write(OperationKind kind) {
  return kind == OperationKind::Put || kind == OperationKind::Patch || kind == OperationKind::Delete ||
         kind == OperationKind::Action;
}

bool may_list_itself(const Target& target) { return target.kind == TargetKind::Action && target.action == "list"; }

bool is_body_of(std::string_view json, const ResourceId& resource) {
  const auto id = scan_string_member(json, "id").own;
  const auto named = id ? parse_resource_id(*id) : std::nullopt;
  return named && named->id == resource.id;
}

std::string list_target_of(std::string_view target) {
  const size_t path = std::min(target.find('?'), target.size());
  return std::string(target.substr(0, path)).append("/list").append(target.substr(path));
}

std::string target_of_listed(std::string_view target) {
  const size_t query = std::min(target.find('?'), target.size());
  std::string_view path = target.substr(0, query);
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path.substr(0, path.rfind('/'))).append(target.substr(query));
}

std::string_view to_text(OperationKind kind) {
  switch (kind) {
    case OperationKind::Read: return "read";
    case OperationKind::List: return "list";
    case OperationKind::Put: return "put";
    case OperationKind::Patch: return "patch";
    case OperationKind::Delete: return "delete";
    case OperationKind::Action: return "action";
    case OperationKind::ReadAction: return "read action";
    case OperationKind::Other: break;
  }
  return "other";
}

}  // namespace armgate::arm
