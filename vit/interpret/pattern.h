/// The shape of a head's attention matrix, recognised.
#pragma once

#include <string>
#include <string_view>

#include "vit/interpret/attention_maps.h"

namespace vit::interpret {

enum class PatternKind {
  kDiagonal,  ///< patches look at themselves
  kOffset,    ///< at the neighbour so many rows and columns away
  kVertical,  ///< everybody at one token
  kBlock,     ///< at their own row, column or quadrant
  kMixed,     ///< none of these
};

enum class BlockShape { kRow, kColumn, kQuadrant };

struct Pattern {
  PatternKind kind = PatternKind::kMixed;
  /// √(fit · share): the correlation of the matrix with the ideal one, and the share of attention
  /// on the pattern beyond what chance would put there. Of a mixed head: its best.
  double score = 0.0;
  int row_offset = 0;  ///< kOffset: down
  int col_offset = 0;  ///< kOffset: to the right
  size_t token = 0;    ///< kVertical
  BlockShape block = BlockShape::kRow;
};

/// Below this score a head is mixed. A random head scores about 0.1, one that follows a pattern
/// with a third of its attention 0.55.
constexpr double kPatternScore = 0.4;

/// head: [T, T], best the mean over several images.
Pattern recognize(ConstMatrixView head, const TokenLayout& layout);

std::string_view to_string(PatternKind kind);
/// "diagonal", "offset +1,0" (down, right), "vertical cls", "block row", "mixed".
std::string describe(const Pattern& pattern, const TokenLayout& layout);

}  // namespace vit::interpret
