// Weights stored as the integers they run in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/golden.h"
#include "tests/support/random_checkpoint.h"
#include "tests/support/small_config.h"
#include "tests/weights/support.h"
#include "vit/base/int8.h"
#include "weights/save.h"

namespace vit::weights {
namespace {

using test::error_of;
using test::Folder;
using testing::IsEmpty;

ModelConfig tiny() {
  return vit::test::small_config({.grid = {2, 2}, .patch = 16, .depth = 2});
}

std::vector<float> numbers_of(const Weight& weight) {
  std::vector<float> numbers(weight.size());
  weight.read_rows(0, weight.rows(), numbers.data());
  return numbers;
}

bool runs_in_int8(const std::string& name) {
  return name.starts_with("blocks.") &&
         (name.ends_with("qkv.weight") || name.ends_with("proj.weight") ||
          name.ends_with("fc1.weight") || name.ends_with("fc2.weight"));
}

TEST(SaveInt8, StoresTheBlocksKernelsAsTheIntegersTheyRunInAndNothingElse) {
  const Folder folder;
  const Checkpoint model = vit::test::random_checkpoint(tiny());
  save(folder.path("m"), model, {.dtype = DType::kI8});
  const Checkpoint read = open(folder.path("m"));
  EXPECT_THAT(read.unused, IsEmpty());
  EXPECT_EQ(read.parameters(), model.parameters());
  EXPECT_EQ(lossless_dtype(read), DType::kI8);
  size_t kernels = 0;
  for (const auto& [name, exact] : model.weights()) {
    const Weight& stored = read.at(name);
    ASSERT_EQ(stored.is_int8(), runs_in_int8(name)) << name;
    if (!stored.is_int8()) {
      ASSERT_EQ(numbers_of(stored), numbers_of(exact)) << name;
      continue;
    }
    ++kernels;
    const std::vector<float> floats = numbers_of(exact), as_floats = numbers_of(stored);
    std::vector<std::int8_t> expected(exact.cols()), found(exact.cols());
    for (size_t row = 0; row < exact.rows(); ++row) {
      const std::span<const float> own(floats.data() + row * exact.cols(), exact.cols());
      const float scale = quantize_weights(own, expected.data());
      ASSERT_EQ(stored.read_int8_row(row, found.data()), scale);
      ASSERT_EQ(found, expected) << name;
      for (size_t c = 0; c < own.size(); ++c)
        ASSERT_EQ(as_floats[row * own.size() + c], static_cast<float>(found[c]) * scale);
    }
  }
  EXPECT_EQ(kernels, 8u);
}

TEST(SaveInt8, WritesTheSameBytesEachTimeAndFromItsOwnFile) {
  const Folder folder;
  const Checkpoint model = vit::test::random_checkpoint(tiny());
  save(folder.path("1"), model, {.dtype = DType::kI8});
  save(folder.path("2"), open(folder.path("1")), {.dtype = DType::kI8});
  EXPECT_TRUE(vit::test::read_bytes(folder.path("1")) == vit::test::read_bytes(folder.path("2")));
}

TEST(SaveInt8, RefusesNumbersThatAreNotFiniteAndLeavesNoFile) {
  const Folder folder;
  Checkpoint model = vit::test::random_checkpoint(tiny());
  const auto values = std::make_shared<std::vector<float>>(24 * 24, 1.0f);
  values->at(100) = std::numeric_limits<float>::infinity();
  model.add("blocks.1.attn.proj.weight", Tensor{DType::kF32,
                                                {24, 24},
                                                contiguous_strides({24, 24}),
                                                reinterpret_cast<std::byte*>(values->data())});
  const std::string path = folder.path("m");
  EXPECT_EQ(error_of(folder, [&] { save(path, model, {.dtype = DType::kI8}); }),
            "m: tensor 'blocks.1.attn.proj.weight' holds inf at [4, 4], expected finite numbers; "
            "the training run diverged, or the file is damaged");
  EXPECT_FALSE(std::filesystem::exists(path));
}

/// The saved file with one piece of its header replaced by another of the same length.
void replace_in(const std::filesystem::path& path, const std::string& from, const std::string& to) {
  ASSERT_EQ(from.size(), to.size());
  const auto read = vit::test::read_bytes(path);
  std::string bytes(read.begin(), read.end());
  const size_t at = bytes.find(from);
  ASSERT_NE(at, bytes.npos) << from;
  bytes.replace(at, from.size(), to);
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(SaveInt8, IntegersWithoutTheirScalesAreRefused) {
  const Folder folder;
  const std::string path = folder.path("m");
  const Checkpoint model = vit::test::random_checkpoint(tiny());
  save(path, model, {.dtype = DType::kI8});
  replace_in(path, "blocks.0.attn.qkv.weight_scale", "blocks.0.attn.qkv.weight_scole");
  EXPECT_EQ(error_of(folder, [&] { open(path); }),
            "m: tensor 'blocks.0.attn.qkv.weight' holds integers, but its scales "
            "'blocks.0.attn.qkv.weight_scale' are missing");
  save(path, model, {.dtype = DType::kI8});
  replace_in(path, R"("blocks.0.attn.qkv.weight_scale":{"dtype":"F32","shape":[72])",
             R"("blocks.0.attn.qkv.weight_scale":{"dtype":"I32","shape":[72])");
  EXPECT_EQ(error_of(folder, [&] { open(path); }),
            "m: tensor 'blocks.0.attn.qkv.weight_scale' is i32 [72], expected f32 [72]");
}

}  // namespace
}  // namespace vit::weights
