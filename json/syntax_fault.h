// syntax_fault.h – why a text is no JSON, in words for whoever wrote it by hand.
//
// Why: a parser says which token it expected where. A person wants to know what to change: a comma too many, a quotation mark
// that is missing, a file that is not UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace armgate {

struct SyntaxFault {
  int line = 1;    // 1 is the first
  int column = 1;  // the same, in bytes
  std::string
      message;  // what is wrong and what to do about it; has nothing of the text but single printable characters and numbers
};

// Past the comment, or the string in quotes, that begins at `at`; npos: it has no end. A comment of one line ends with the
// text.
size_t end_of_comment(std::string_view text, size_t at);
size_t end_of_string(std::string_view text, size_t at);

// Of a text that is no JSON with comments; of one that is, nothing in particular.
SyntaxFault syntax_fault_in(std::string_view text);

}  // namespace armgate
