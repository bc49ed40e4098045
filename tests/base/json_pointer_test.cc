#include "base/json_pointer.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

// RFC 6901 §3 and §5: "~" is written first, so that "~1" in a name does not become "/".
TEST(JsonPointer, NamesAreWrittenSoThatTheyCanBeToldApart) {
  const std::pair<const char*, const char*> rows[] = {
      {"", ""}, {"tags", "tags"}, {"a/b", "a~1b"}, {"m~n", "m~0n"}, {"~1", "~01"}, {"/~", "~1~0"}, {" ", " "}, {"c%d", "c%d"},
  };
  for (const auto& [name, token] : rows) EXPECT_EQ(pointer_token(name), token) << name;
}

}  // namespace
}  // namespace armgate
