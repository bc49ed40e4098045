// reason_words.h – the reasons of x-armgate-reason in words, for people: what happened, and what is to be done.
//
// docs/answers.md has the whole of it.
// Threads   any; no state.
#pragma once

#include <string_view>

namespace armgate {

struct ReasonWords {
  std::string_view words;
  std::string_view advice;  // empty: nothing is to be done
};

// Of an unknown reason: none.
ReasonWords words_of(std::string_view reason);

}  // namespace armgate
