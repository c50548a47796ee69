#include "weights/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "weights/layouts/views.h"
#include "weights/numbers.h"

namespace vit::weights {
namespace {

using testing::ElementsAre;

template <typename T>
Tensor tensor_of(DType dtype, Shape shape, const std::vector<T>& values) {
  auto strides = contiguous_strides(shape);
  return {dtype, std::move(shape), std::move(strides),
          reinterpret_cast<const std::byte*>(values.data())};
}

std::vector<float> all(const Weight& weight) {
  std::vector<float> out(weight.size());
  weight.read_rows(0, weight.rows(), out.data());
  return out;
}

/// From the definition: sign, exponent, mantissa.
float half_by_definition(std::uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  const float sign = (half & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return mantissa == 0 ? sign * std::numeric_limits<float>::infinity() : NAN;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
}

TEST(Numbers, EveryF16IsExact) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float expected = half_by_definition(half), got = float_of_f16(half);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(expected)) << bits;
    }
  }
}

TEST(Numbers, EveryBf16IsTheUpperHalfOfItsFloat) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(float_of_bf16(static_cast<std::uint16_t>(bits))),
              bits << 16);
}

TEST(Weight, ConvertsEveryPlainFormat) {
  const std::vector<double> f64{1.5, -2.25};
  const std::vector<std::int64_t> i64{-3, 1000000};
  const std::vector<std::int32_t> i32{-4, 5};
  const std::vector<std::int16_t> i16{-32768, 6};
  const std::vector<std::int8_t> i8{-128, 127};
  const std::vector<std::uint8_t> u8{0, 255};
  EXPECT_THAT(all(tensor_of(DType::kF64, {2}, f64)), ElementsAre(1.5f, -2.25f));
  EXPECT_THAT(all(tensor_of(DType::kI64, {2}, i64)), ElementsAre(-3.0f, 1e6f));
  EXPECT_THAT(all(tensor_of(DType::kI32, {2}, i32)), ElementsAre(-4.0f, 5.0f));
  EXPECT_THAT(all(tensor_of(DType::kI16, {2}, i16)), ElementsAre(-32768.0f, 6.0f));
  EXPECT_THAT(all(tensor_of(DType::kI8, {2}, i8)), ElementsAre(-128.0f, 127.0f));
  EXPECT_THAT(all(tensor_of(DType::kU8, {2}, u8)), ElementsAre(0.0f, 255.0f));
}

TEST(Weight, ReadsNumbersThatLieOnOddAddresses) {
  std::vector<char> bytes(1 + 2 * sizeof(float));
  const float values[] = {3.5f, -7.0f};
  std::memcpy(bytes.data() + 1, values, sizeof values);
  const Tensor tensor{DType::kF32, {2}, {1}, reinterpret_cast<const std::byte*>(bytes.data() + 1)};
  EXPECT_THAT(all(tensor), ElementsAre(3.5f, -7.0f));
}

TEST(Weight, AsAMatrixHasTheFirstAxisAsRows) {
  const std::vector<float> values(2 * 3 * 4);
  const Weight weight = tensor_of(DType::kF32, {2, 3, 4}, values);
  EXPECT_EQ(weight.rows(), 2u);
  EXPECT_EQ(weight.cols(), 12u);
  EXPECT_EQ(weight.size(), 24u);
  const Weight number = tensor_of(DType::kF32, {}, values);
  EXPECT_EQ(number.rows(), 1u);
  EXPECT_EQ(number.cols(), 1u);
}

TEST(Weight, ReadsATransposedTensorRowByRow) {
  const std::vector<float> values{0, 1, 2, 3, 4, 5};
  const Weight weight = permuted(tensor_of(DType::kF32, {2, 3}, values), {1, 0});
  EXPECT_THAT(all(weight), ElementsAre(0, 3, 1, 4, 2, 5));
  std::vector<float> row(2);
  weight.read_rows(1, 1, row.data());
  EXPECT_THAT(row, ElementsAre(1, 4));
}

TEST(Weight, ReadsAPermutedTensorOfFourAxes) {
  std::vector<float> values(2 * 3 * 4 * 5);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Weight weight = permuted(tensor_of(DType::kF32, {2, 3, 4, 5}, values), {3, 2, 0, 1});
  ASSERT_EQ(weight.shape(), (Shape{5, 4, 2, 3}));
  const std::vector<float> read = all(weight);
  size_t at = 0;
  for (size_t d = 0; d < 5; ++d)
    for (size_t c = 0; c < 4; ++c)
      for (size_t a = 0; a < 2; ++a)
        for (size_t b = 0; b < 3; ++b)
          EXPECT_EQ(read[at++], static_cast<float>(((a * 3 + b) * 4 + c) * 5 + d));
}

TEST(Weight, StacksPartsOfDifferentFormats) {
  const std::vector<float> first{1, 2, 3, 4};
  const std::vector<std::uint16_t> second{0x3f80, 0x4000};  // 1 and 2 in bf16
  const Weight weight(
      {tensor_of(DType::kF32, {2, 2}, first), tensor_of(DType::kBf16, {1, 2}, second)});
  EXPECT_EQ(weight.shape(), (Shape{3, 2}));
  std::vector<float> rows(4);
  weight.read_rows(1, 2, rows.data());
  EXPECT_THAT(rows, ElementsAre(3, 4, 1, 2));
}

TEST(Weight, ReadsSlicesOfRowsAndColumns) {
  const std::vector<float> values{0, 1, 2, 3, 4, 5, 6, 7, 8};
  const Tensor tensor = tensor_of(DType::kF32, {3, 3}, values);
  EXPECT_THAT(all(sliced(tensor, 0, 1, 2)), ElementsAre(3, 4, 5, 6, 7, 8));
  EXPECT_THAT(all(sliced(tensor, 1, 1, 2)), ElementsAre(1, 2, 4, 5, 7, 8));
  EXPECT_THAT(all(selected(tensor, 2)), ElementsAre(6, 7, 8));
}

TEST(Weight, ZerosTakeNoMemoryHoweverLarge) {
  const Weight weight = zeros({1000, 1000, 1000});
  std::vector<float> out(10, 1.0f);
  read_elements(weight.parts().front(), 123456789, 10, out.data());
  EXPECT_THAT(out, testing::Each(0.0f));
}

TEST(Weight, RowsMayCrossThePartsTheyAreMadeOf) {
  const std::vector<float> values{0, 1, 2, 3, 4, 5};
  const Tensor tensor = tensor_of(DType::kF32, {6}, values);
  const Weight weight({sliced(tensor, 0, 0, 1), zeros({2}), sliced(tensor, 0, 1, 3)}, {3, 2});
  EXPECT_THAT(all(weight), ElementsAre(0, 0, 0, 1, 2, 3));
}

TEST(Weight, DequantisesQ8AndQ4Blocks) {
  std::vector<std::uint8_t> q8(2 * kQ8_0Bytes), q4(2 * kQ4_0Bytes);
  for (size_t block = 0; block < 2; ++block) {
    const std::uint16_t scale = block == 0 ? 0x3800 : 0x4000;  // 0.5 and 2
    std::memcpy(&q8[block * kQ8_0Bytes], &scale, 2);
    std::memcpy(&q4[block * kQ4_0Bytes], &scale, 2);
    for (size_t i = 0; i < 32; ++i)
      q8[block * kQ8_0Bytes + 2 + i] = static_cast<std::uint8_t>(i - 16);
    for (size_t i = 0; i < 16; ++i)
      q4[block * kQ4_0Bytes + 2 + i] = static_cast<std::uint8_t>(i | (15 - i) << 4);
  }
  const auto eight = all(tensor_of(DType::kQ8_0, {2, 32}, q8));
  const auto four = all(tensor_of(DType::kQ4_0, {2, 32}, q4));
  for (size_t block = 0; block < 2; ++block) {
    const float scale = block == 0 ? 0.5f : 2.0f;
    for (size_t i = 0; i < 32; ++i) {
      EXPECT_EQ(eight[block * 32 + i], scale * (static_cast<float>(i) - 16));
      EXPECT_EQ(four[block * 32 + i],
                scale * (i < 16 ? static_cast<float>(i) - 8 : 23 - static_cast<float>(i)));
    }
  }
}

TEST(Shape, PrintsForPeople) {
  EXPECT_EQ(to_string(Shape{3, 16, 16}), "[3, 16, 16]");
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(DType::kBf16), "bf16");
}

}  // namespace
}  // namespace vit::weights
