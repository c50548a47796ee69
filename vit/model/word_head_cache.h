/// Rows of labels in words, kept in files. 1,000 labels in 80 sentences each take a minute to
/// compute and a few milliseconds to read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "vit/base/matrix.h"
#include "vit/text/prompts.h"
#include "weights/text.h"

namespace vit {

struct WordRows {
  Matrix rows;                           ///< [C, E]
  std::vector<std::uint64_t> truncated;  ///< numbers of the prompts that were cut, rising
};

/// Two hashes of the same content: one names the file, both must agree.
struct WordHeadKey {
  std::uint64_t name = 0;
  std::uint64_t check = 0;

  bool operator==(const WordHeadKey&) const = default;
};

/// Of all that the rows depend on: the tower's weights, the configuration and tokenizer files
/// beside them, and the prompts.
WordHeadKey key_of(const weights::TextCheckpoint& text, std::span<const text::WordLabel> labels,
                   std::span<const std::filesystem::path> clip_vocabularies);

/// None where there is no such file, or one that is damaged.
std::optional<WordRows> read_word_rows(const std::filesystem::path& folder, const WordHeadKey& key,
                                       size_t labels, size_t features);

/// Makes the folder where there is none. What cannot be written is computed again the next time.
void write_word_rows(const std::filesystem::path& folder, const WordHeadKey& key,
                     const WordRows& rows);

}  // namespace vit
