// hostile_json.h – texts that no reader of JSON may trip over.
#pragma once

#include <string>
#include <vector>

namespace armgate {

inline std::string repeated(std::string_view piece, size_t times) {
  std::string text;
  text.reserve(piece.size() * times);
  for (size_t i = 0; i < times; ++i) text += piece;
  return text;
}

// None of them is a JSON object that can be read to its end.
inline std::vector<std::string> hostile_json() {
  return {
      "",
      " ",
      std::string(1, '\0'),
      "\xEF\xBB\xBF",
      "null",
      "[]",
      "17",
      "\"text\"",
      "{",
      "}",
      "{\"a\":",
      "{\"a\":1",
      "{\"a\":1}}",
      "{\"a\":1} {\"a\":1}",
      "{\"a\":1}x",
      "{\"a\" 1}",
      "{a:1}",
      "{\"a\":1,}",
      "{\"value\":[{\"id\":\"x\"}",
      "{\"etag\":\"x\",\"error\":{\"code\":\"x\"},\"status\":\"Failed\",\"properties\":{",
      "{\"etag\":\"\xff\xfe\"}",
      "{\"etag\":\"unterminated",
      "{\"etag\":\"line\nbreak\"}",
      "{\"\\q\":1}",
      "{\"\\ud800\":1}",
      "<html><body>502</body></html>",
      repeated("[", 100'000),
      repeated("{\"a\":", 100'000),
      repeated("{\"properties\":", 100'000) + "1",
      repeated("{\"details\":[", 100'000),
  };
}

// An object that is well formed but nests `depth` levels.
inline std::string nested_json(std::string_view name, size_t depth) {
  return repeated("{\"" + std::string(name) + "\":", depth) + "1" + repeated("}", depth);
}

}  // namespace armgate
