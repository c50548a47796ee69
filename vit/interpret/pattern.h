/// Recognises the pattern of a head's attention matrix.
#pragma once

#include <string>

#include "vit/base/enum_names.h"
#include "vit/interpret/attention_maps.h"

namespace vit::interpret {

enum class PatternKind {
  kDiagonal,  ///< patches attend to themselves
  kOffset,    ///< to the neighbour at a fixed offset
  kVertical,  ///< all to one token
  kBlock,     ///< to their own row, column or quadrant
  kMixed,     ///< none of these
};

constexpr auto enum_names(PatternKind) {
  using enum PatternKind;
  return std::to_array<EnumName<PatternKind>>({{kDiagonal, "diagonal"},
                                               {kOffset, "offset"},
                                               {kVertical, "vertical"},
                                               {kBlock, "block"},
                                               {kMixed, "mixed"}});
}

enum class BlockShape { kRow, kColumn, kQuadrant };

constexpr auto enum_names(BlockShape) {
  using enum BlockShape;
  return std::to_array<EnumName<BlockShape>>(
      {{kRow, "row"}, {kColumn, "column"}, {kQuadrant, "quadrant"}});
}

struct Pattern {
  PatternKind kind = PatternKind::kMixed;
  /// √(fit · share): the correlation of the matrix with the ideal one, and the share of attention
  /// on the pattern beyond chance. For a mixed head, the best score.
  double score = 0.0;
  int row_offset = 0;  ///< kOffset: down
  int col_offset = 0;  ///< kOffset: to the right
  size_t token = 0;    ///< kVertical
  BlockShape block = BlockShape::kRow;
};

/// Below this score a head is mixed. A random head scores about 0.1, one that follows a pattern
/// with a third of its attention 0.55.
constexpr double kPatternScore = 0.4;

/// head: [T, T], preferably the mean over several images.
Pattern recognize(ConstMatrixView head, const TokenLayout& layout);

/// "diagonal", "offset +1,0" (down, right), "vertical cls", "block row", "mixed".
std::string describe(const Pattern& pattern, const TokenLayout& layout);

}  // namespace vit::interpret
