/// A tokenizer's file decides how much longer a text gets: several steps that each replace a letter
/// by many would take all memory.
#pragma once

#include <cstddef>
#include <string_view>

#include "vit/base/error.h"

namespace vit::text {

/// Throws an Error if a step makes a text of more than a million characters out of a shorter one.
inline void check_growth(size_t before, size_t after, std::string_view where) {
  constexpr size_t kMostCharacters = 1'000'000;
  if (after > kMostCharacters && after > before)
    fail_at(where, "makes more than ", kMostCharacters, " characters of a text; the file is ",
            "damaged or malicious");
}

}  // namespace vit::text
