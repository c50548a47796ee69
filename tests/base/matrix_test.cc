#include "vit/base/matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace vit {
namespace {

TEST(Matrix, OfAnySizeIsZeroedAndBeginsOnACacheLine) {
  // Beyond 2 MB the memory comes another way.
  for (const size_t rows : {size_t{1}, size_t{100}, size_t{524288}, size_t{1500000}}) {
    Matrix matrix(rows, 1);
    const size_t huge_page = 2 << 20, bytes = rows * sizeof(float);
    const size_t alignment = bytes < huge_page ? Matrix::kAlignment : huge_page;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(matrix.data()) % alignment, 0u);
    EXPECT_TRUE(std::all_of(matrix.data(), matrix.data() + matrix.size(),
                            [](float number) { return number == 0.0f; }));
    std::fill_n(matrix.data(), matrix.size(), 1.0f);  // dirties the memory for the next allocation
  }
  EXPECT_TRUE(Matrix(0, 5).empty());
}

}  // namespace
}  // namespace vit
