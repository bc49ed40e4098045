#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  armgate::fuzz::fuzz_one(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
