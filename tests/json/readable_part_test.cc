// What can be told of a text that breaks off, or is spoilt somewhere.
#include "json/readable_part.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

TEST(ReadablePart, AStringBeforeTheFaultIsFoundAndNothingElse) {
  const struct {
    const char* text;
    const char* found;  // null: nothing
  } cases[] = {
      {R"({"a": {"b": "x"}, "c": 1,})", "x"},
      {R"({"a": {"z": [1, "y"], "b": "x"}} trailing)", "x"},
      {"// {\"a\": {\"b\": \"y\"}}\n{\"a\": {\"b\": \"x\" \"c\": 1}}", "x"},
      {R"({"a": {"b": "x"}})", "x"},
      {R"({"d": {"a": {"b": "y"}}, "b": "y", "a": {"b": "x"}, )", "x"},
      {R"({"a": {"b": "x)", nullptr},
      {R"({"a": {"b": 1}, )", nullptr},
      {R"({"a": [{"b": "y"}], )", nullptr},
      {R"({"c": 1,, "a": {"b": "x"}})", nullptr},
      {R"({"a": {"b": "x"}, "a": {"b": "y"}, )", nullptr},
      {R"("b")", nullptr},
      {"", nullptr},
  };
  for (const auto& c : cases) {
    const auto found = string_before_fault(c.text, {"a", "b"});
    ASSERT_EQ(found.has_value(), c.found != nullptr) << c.text;
    if (found) {
      EXPECT_EQ(*found, c.found) << c.text;
    }
  }
}

}  // namespace
}  // namespace armgate
