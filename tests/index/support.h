/// Unit vectors and small files for tests of vit/index.
#pragma once

#include <string>

#include "tests/support/random.h"
#include "vit/index/writer.h"

namespace vit::index::test {

inline Matrix unit_rows(size_t rows, size_t width, unsigned seed) {
  Matrix matrix = vit::test::random_matrix(rows, width, seed);
  for (size_t r = 0; r < rows; ++r) normalize(matrix.view().row_span(r));
  return matrix;
}

/// Appends rows as images "NAME0", "NAME1", …
inline void append_rows(IndexWriter& writer, ConstMatrixView rows, const std::string& name) {
  for (size_t r = 0; r < rows.rows; ++r) {
    const std::string path = name + std::to_string(r);
    writer.append({.path = path, .bytes = 100 + r, .time = -5, .width = 640, .height = 480},
                  rows.row_span(r));
  }
}

}  // namespace vit::index::test
