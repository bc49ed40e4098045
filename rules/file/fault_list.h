// fault_list.h – everything that is wrong with a configuration, each fault at its place.
//
// Why: whoever mends a configuration wants the whole list at once, not one fault per start (promise P9, docs/design.md).
#pragma once

#include <string>
#include <vector>

namespace armgate::rules {

struct Fault {
  std::string file;
  int line = 0;         // 1 is the first; 0: the file as a whole
  std::string pointer;  // RFC 6901; empty: the whole document
  std::string message;  // one sentence that names the remedy
};

using FaultList = std::vector<Fault>;

// "FILE:LINE: POINTER: MESSAGE", the form that editors jump to. Always one line: names and values come from files, and what
// a terminal would obey in them is shown as "?".
inline std::string to_text(const Fault& fault) {
  std::string text = fault.file;
  if (fault.line > 0) text += ":" + std::to_string(fault.line);
  if (!fault.pointer.empty()) text += ": " + fault.pointer;
  text += ": " + fault.message;
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  return text;
}

}  // namespace armgate::rules
