// same_fields.h – the fields of a head as a list of texts, for comparing what came with what is passed on.
#pragma once

#include <string>
#include <vector>

#include "arm/http.h"
#include "base/text.h"

namespace armgate::fuzz {

// Names and values in order. Without Content-Length, which is made anew.
inline std::vector<std::string> listed(const arm::Headers& fields) {
  std::vector<std::string> list;
  for (const arm::Field& field : fields) {
    if (equal_ignoring_case(field.name, "content-length")) continue;
    list.push_back(std::string(field.name) + '\n' + std::string(field.value));
  }
  return list;
}

}  // namespace armgate::fuzz
