/// A tokenizer's file decides how texts grow: steps that replace a letter by many, one after the
/// other, would take all memory.
#pragma once

#include <cstddef>
#include <string_view>

#include "vit/base/error.h"

namespace vit::text {

/// Throws an Error if a step makes a text of more than a million characters out of a shorter one.
inline void check_growth(size_t before, size_t after, std::string_view where) {
  constexpr size_t kMostCharacters = 1'000'000;
  if (after > kMostCharacters && after > before)
    fail(where, ": makes more than ", kMostCharacters, " characters of a text; the file is ",
         "damaged, or made to do harm");
}

}  // namespace vit::text
