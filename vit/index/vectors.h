/// Unit vectors of many images, in blocks that lie where they are: in a mapped file or in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vit/base/matrix.h"

namespace vit::index {

enum class NumberType : std::uint32_t { kF32 = 0, kF16 = 1 };

inline size_t size_of(NumberType type) {
  return type == NumberType::kF32 ? sizeof(float) : sizeof(std::uint16_t);
}

/// Consecutive rows, without gaps. The numbers are aligned to their size.
struct Block {
  const std::byte* numbers = nullptr;
  size_t first = 0;  ///< number of its first row among all rows
  size_t rows = 0;
};

/// A view: its maker keeps the numbers alive.
struct Vectors {
  NumberType type = NumberType::kF32;
  size_t width = 0;
  size_t rows = 0;
  std::vector<Block> blocks{};       ///< in order, all rows
  std::vector<std::uint8_t> live{};  ///< one per row; 0: the row does not count. Empty: all count

  bool is_live(size_t row) const { return live.empty() || live[row] != 0; }
  size_t row_bytes() const { return width * size_of(type); }
};

/// All rows of a matrix.
Vectors vectors_of(ConstMatrixView rows);

std::vector<size_t> live_rows(const Vectors& vectors);

/// Copies rows as floats, in the order of `rows`, into `out` [rows, width].
void read_rows(const Vectors& vectors, std::span<const size_t> rows, MatrixView out);

/// Divides by the length. False, and unchanged, where it has none: zeros, NaN or infinity.
bool normalize(std::span<float> vector);

}  // namespace vit::index
