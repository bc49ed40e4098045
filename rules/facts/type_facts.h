// type_facts.h – what is known about the bodies of one type at one api-version, and how sure that is.
//
// Why: a guess is enough to ignore a difference, but not to merge two writes. The code that decides needs to know where the
// facts come from.
#pragma once

#include <cstdint>
#include <memory>

#include "arm/body/body_facts.h"

namespace armgate::rules {

// The weakest first.
enum class FactStrength : uint8_t {
  Generic,   // only what holds for every type (arm/body/body_facts.h)
  Imported,  // a file of facts drawn from public schemas names the type: what is read-only is, arrays are not known
  Declared,  // "facts" of a rule file name the type, or its rule has a "body"
};

struct TypeFacts {
  std::shared_ptr<const arm::BodyFacts> body = arm::BodyFacts::generic();
  FactStrength strength = FactStrength::Generic;

  // Whether anything is known of this type rather than of all.
  bool known() const { return strength != FactStrength::Generic; }
};

// Of a type that nobody has said anything about.
inline const TypeFacts& generic_type_facts() {
  static const TypeFacts generic;
  return generic;
}

}  // namespace armgate::rules
