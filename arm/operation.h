// operation.h – what a request means to the resource it names.
#pragma once

#include <string>
#include <string_view>

#include "arm/http.h"
#include "arm/resource_id.h"

namespace armgate::arm {

enum class OperationKind {
  Read,   // GET or HEAD of a resource
  List,   // GET of a collection
  Put,    // a full body replaces the resource
  Patch,  // a merge: an intention, not a copy
  Delete,
  Action,      // POST that may change something: start, restart, moveResources, abort
  ReadAction,  // POST that only reads: list*, get*, check*, validate*, whatIf*, exportTemplate; never waits, is never joined
  Other,       // everything armgate has no opinion about; passes unchanged
};

OperationKind operation_kind(Method method, const Target& target);

// True for what may change a resource: Put, Patch, Delete, Action.
bool is_write(OperationKind kind);
std::string_view to_text(OperationKind kind);

// ---- what is read by POST ----
//
// The settings of an App Service (sites/config/appsettings, connectionstrings ...) are shown by POST .../list alone, in the
// form in which PUT takes them (docs/arm.md, "Bodies"). Elsewhere "list" may show something else: the body tells.

// Whether it may show the resource that it names.
bool may_list_itself(const Target& target);
// Whether the body, which has an id, is that of the resource.
bool is_body_of(std::string_view json, const ResourceId& resource);
// The request target of a resource with "/list" put behind its path.
std::string list_target_of(std::string_view target);
// The other way round, of a target that may_list_itself().
std::string target_of_listed(std::string_view target);

}  // namespace armgate::arm
