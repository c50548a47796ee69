/// `vit embed`: the encoder's numbers, a row for each input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "tests/support/golden.h"
#include "tests/tools/batch/batch_call.h"

namespace vit::tools {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Finished embed(const std::string& model, std::vector<std::string> more) {
  std::vector<std::string> arguments{"embed", "-m", golden(model), "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

struct Array {
  std::string shape;
  std::vector<float> numbers;
};

Array read_npy(const std::string& path) {
  const std::string bytes = read_file(path);
  Array array;
  const size_t open = bytes.find('('), close = bytes.find(')');
  array.shape = bytes.substr(open, close - open + 1);
  array.numbers.resize((bytes.size() - 128) / sizeof(float));
  std::memcpy(array.numbers.data(), bytes.data() + 128, array.numbers.size() * sizeof(float));
  return array;
}

/// Not every reference case has the tokens after the final norm, but all have the classifier: the
/// features of the class token times its weights give the logits.
TEST(Embed, GivesTheNumbersThatTheClassifierSees) {
  const Folder folder;
  const std::string model = "hf_vit";
  ASSERT_EQ(embed(model, {golden_image(model), "-o", folder.path("f.npy")}).status, 0);
  const Array features = read_npy(folder.path("f.npy"));
  const auto weights = test::read_golden(golden(model) + "/model.safetensors");
  const auto& kernel = weights.at("classifier.weight");
  const auto& bias = weights.at("classifier.bias");
  const auto expected = test::read_golden(golden(model) + "/expected.safetensors").at("logits");
  const size_t width = kernel.shape[1];
  EXPECT_EQ(features.shape, "(1, " + std::to_string(width) + ", )");
  ASSERT_EQ(features.numbers.size(), width);
  for (size_t c = 0; c < kernel.shape[0]; ++c) {
    double logit = bias.values[c];
    for (size_t i = 0; i < width; ++i)
      logit += double{features.numbers[i]} * double{kernel.values[c * width + i]};
    EXPECT_NEAR(logit, expected.values[c], 1e-4);
  }
}

TEST(Embed, KnowsClassMeanAndPatchTokens) {
  const Folder folder;
  const std::string image = golden_image("hf_vit");
  const auto features = [&](const std::string& which) {
    EXPECT_EQ(
        embed("hf_vit", {image, "-o", folder.path(which + ".npy"), "--features", which}).status, 0);
    return read_npy(folder.path(which + ".npy"));
  };
  const Array patches = features("patches"), mean = features("mean"), cls = features("cls");
  const size_t width = cls.numbers.size(), count = patches.numbers.size() / width;
  EXPECT_EQ(patches.shape, "(1, " + std::to_string(count) + ", " + std::to_string(width) + ", )");
  EXPECT_GT(count, 1u);
  ASSERT_EQ(mean.numbers.size(), width);
  for (size_t i = 0; i < width; ++i) {
    double sum = 0.0;
    for (size_t p = 0; p < count; ++p) sum += double{patches.numbers[p * width + i]};
    EXPECT_NEAR(mean.numbers[i], sum / static_cast<double>(count), 1e-5);
  }
  EXPECT_NE(mean.numbers, cls.numbers);
}

TEST(Embed, MergesTokensWhenAsked) {
  const Folder folder;
  const std::string image = golden_image("timm_vit");
  const auto vector_with = [&](const std::string& tokens) {
    const std::string output = folder.path(tokens + ".npy");
    EXPECT_EQ(embed("timm_vit", {image, "-o", output, "--merge-tokens", tokens}).status, 0);
    return read_npy(output).numbers;
  };
  const auto exact = vector_with("0"), merged = vector_with("3");
  ASSERT_EQ(merged.size(), exact.size());
  EXPECT_NE(merged, exact);
  EXPECT_THAT(embed("timm_vit", {image, "-o", folder.path("x.npy"), "--merge-tokens", "100"}).err,
              testing::HasSubstr("at most 7 can be merged"));
}

TEST(Embed, MakesVectorsOfLengthOne) {
  const Folder folder;
  const std::string image = golden_image("hf_vit");
  for (const auto* which : {"cls", "patches"}) {
    const std::string path = folder.path(which + std::string(".npy"));
    ASSERT_EQ(embed("hf_vit", {image, "-o", path, "--normalize", "--features", which}).status, 0);
    const Array array = read_npy(path);
    double squares = 0.0;
    for (size_t i = 0; i < 48; ++i) squares += std::pow(double{array.numbers[i]}, 2);
    EXPECT_NEAR(squares, 1.0, 1e-5) << which;
  }
}

TEST(Embed, HasARowOfNotANumberForWhatItCannotRead) {
  const Folder folder;
  write_images(folder, 8);  // 6 is broken
  ASSERT_EQ(embed("hf_vit", {folder.path("in"), "-o", folder.path("f.npy")}).status, 0);
  const Array array = read_npy(folder.path("f.npy"));
  const auto rows = rows_of(read_file(folder.path("f.npy.jsonl")));
  ASSERT_THAT(rows, SizeIs(8));
  const size_t width = array.numbers.size() / 8;
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(rows[i]["status"], i == 6 ? "failed" : "ok");
    EXPECT_EQ(std::isnan(array.numbers[i * width]), i == 6);
  }
}

TEST(Embed, WritesTheSameNumbersAsText) {
  const Folder folder;
  write_images(folder, 3);
  ASSERT_EQ(embed("hf_vit", {folder.path("in"), "-o", folder.path("f.npy")}).status, 0);
  const Finished text = embed("hf_vit", {folder.path("in"), "-o", "-"});
  const auto rows = rows_of(text.out);
  ASSERT_THAT(rows, SizeIs(3));
  std::vector<float> numbers;
  for (const auto& row : rows)
    for (const float number : row["features"]) numbers.push_back(number);
  EXPECT_EQ(numbers, read_npy(folder.path("f.npy")).numbers);
}

TEST(Embed, MergesItsShards) {
  const Folder folder;
  write_images(folder, 20);
  const std::string whole = folder.path("one.npy"), output = folder.path("r.npy");
  ASSERT_EQ(embed("hf_vit", {folder.path("in"), "-o", whole}).status, 0);
  for (const auto* part : {"0/3", "1/3", "2/3"})
    ASSERT_EQ(embed("hf_vit", {folder.path("in"), "-o", output, "--shard", part}).status, 0);
  const Finished merged = run({"join", output});
  ASSERT_EQ(merged.status, 0) << merged.err;
  EXPECT_EQ(read_file(output), read_file(whole));
  EXPECT_EQ(read_file(output + ".jsonl"), read_file(whole + ".jsonl"));
}

/// The numbers of the reference: the classifier's input, or without a classifier the output.
TEST(Embed, GivesWhatTheModelPools) {
  const Folder folder;
  for (const std::string model :
       {"timm_dinov2_registers", "families/dinov3_qkvb", "families/hf_dinov3", "families/pe_core",
        "families/dinov3_small", "families/beit", "families/cait", "families/naflex_map"}) {
    const auto expected = test::read_golden(golden(model) + "/expected.safetensors");
    const bool named = expected.contains("pooled");
    const auto& want = expected.at(named ? "pooled" : "logits").values;
    std::vector<std::string> words{golden_image(model), "-o", folder.path("f.npy"), "--restart"};
    if (named) words.insert(words.end(), {"--features", "pooled"});
    const Finished finished = embed(model, words);
    ASSERT_EQ(finished.status, 0) << finished.err;
    const Array features = read_npy(folder.path("f.npy"));
    ASSERT_EQ(features.numbers.size(), want.size()) << model;
    float largest = 0.0f;
    for (const float value : want) largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(features.numbers[i], want[i], 1e-5f * largest) << model;
  }
}

TEST(Embed, OfModelsWithoutAClassifierIsTheirOutput) {
  const Folder folder;
  const std::string model = "families/dinov3_qkvb", image = golden_image(model);
  const auto row = [&](std::vector<std::string> more) {
    more.insert(more.end(), {image, "-o", folder.path("f.npy"), "--restart"});
    EXPECT_EQ(embed(model, more).status, 0);
    return read_npy(folder.path("f.npy")).numbers;
  };
  EXPECT_EQ(row({}), row({"--features", "pooled"}));
  EXPECT_EQ(row({"--features", "cls-and-mean"}).size(), 2 * row({}).size());
}

TEST(Embed, RunsEachImageOnAGridOfItsOwnAspectRatio) {
  const Folder folder;
  const std::string model = "families/naflex_map", image = golden_image(model);
  const auto expected = test::read_golden(golden(model) + "/expected_sequence_24.safetensors");
  const auto& want = expected.at("pooled").values;
  const Finished finished = embed(
      model, {image, "-o", folder.path("f.npy"), "--features", "pooled", "--max-patches", "24"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Array features = read_npy(folder.path("f.npy"));
  ASSERT_EQ(features.numbers.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(features.numbers[i], want[i], 1e-4);

  const auto refusal = [&](std::vector<std::string> more) {
    more.insert(more.end(), {image, "-o", "-", "--max-patches", "24"});
    return embed(model, more);
  };
  EXPECT_THAT(refusal({"--image-size", "64"}).err,
              HasSubstr("--max-patches and --image-size given, expected one of them"));
  EXPECT_THAT(refusal({"--features", "patches"}).err,
              HasSubstr("with --max-patches images have different numbers of patches"));
  EXPECT_EQ(refusal({"--features", "patches"}).status, 2);
}

TEST(Embed, SaysWhatAModelDoesNotHave) {
  const std::string image = golden_image("timm_siglip_map");
  const Finished finished = embed("timm_siglip_map", {image, "-o", "-", "--features", "cls"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr(": has no class token; it has mean and patch features"));
  EXPECT_EQ(embed("timm_siglip_map", {image, "-o", "-"}).status, 0);
  EXPECT_EQ(embed("hf_vit", {image, "-o", "f.csv"}).status, 2);
}

}  // namespace
}  // namespace vit::tools
