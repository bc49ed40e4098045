// operation.h – what a request means to the resource it names.
#pragma once

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

}  // namespace armgate::arm
