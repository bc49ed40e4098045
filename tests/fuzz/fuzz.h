// fuzz.h – one parser of outside bytes per target: whatever comes in, it must not crash, hang or contradict itself.
//
// Each target defines fuzz_one(). With libFuzzer (preset "fuzz") it is driven by coverage; in every other build smoke_main.cc
// feeds it its corpus and a fixed number of seeded mutations, as an ordinary test.
#pragma once

#include <string_view>

namespace armgate::fuzz {

void fuzz_one(std::string_view input);

}  // namespace armgate::fuzz
