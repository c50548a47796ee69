#include "vit/index/vectors.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "weights/numbers.h"

namespace vit::index {

Vectors vectors_of(ConstMatrixView rows) {
  assert(rows.stride == rows.cols || rows.rows <= 1);
  return {.type = NumberType::kF32,
          .width = rows.cols,
          .rows = rows.rows,
          .blocks = {{reinterpret_cast<const std::byte*>(rows.data), 0, rows.rows}}};
}

std::vector<size_t> live_rows(const Vectors& vectors) {
  std::vector<size_t> rows;
  for (size_t row = 0; row < vectors.rows; ++row)
    if (vectors.is_live(row)) rows.push_back(row);
  return rows;
}

void read_rows(const Vectors& vectors, std::span<const size_t> rows, MatrixView out) {
  assert(out.rows == rows.size() && out.cols == vectors.width);
  for (size_t i = 0; i < rows.size(); ++i) {
    assert(rows[i] < vectors.rows);
    const auto after = std::ranges::upper_bound(vectors.blocks, rows[i], {}, &Block::first);
    const Block& block = *(after - 1);
    const std::byte* numbers = block.numbers + (rows[i] - block.first) * vectors.row_bytes();
    if (vectors.type == NumberType::kF32) {
      std::memcpy(out.row(i), numbers, vectors.row_bytes());
    } else {
      const auto* halves = reinterpret_cast<const std::uint16_t*>(numbers);
      std::transform(halves, halves + vectors.width, out.row(i), weights::float_of_f16);
    }
  }
}

bool normalize(std::span<float> vector) {
  double squares = 0.0;
  for (const float x : vector) squares += double{x} * double{x};
  if (!(squares > 0.0) || !std::isfinite(squares)) return false;
  const double scale = 1.0 / std::sqrt(squares);
  for (float& x : vector) x = static_cast<float>(x * scale);
  return true;
}

}  // namespace vit::index
