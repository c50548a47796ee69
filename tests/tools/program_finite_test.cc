// Numbers that are not numbers: in weights they are an error that names the tensor; an answer that
// overflows is a failed image, and the others are still answered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "tests/support/random_checkpoint.h"
#include "tests/tools/subprocess.h"
#include "tests/weights/support.h"
#include "tests/weights/truth.h"
#include "weights/save.h"

namespace vit::tools {
namespace {

namespace files = weights::test;
using testing::HasSubstr;

/// A timm checkpoint in a folder of its own, with one number of 'head.weight' changed.
std::string model_with(const Folder& folder, float value) {
  files::RawMap tensors = files::truth_of(files::tiny_config());
  tensors.at("head.weight").values.at(7) = value;
  return folder.write("m.safetensors", files::safetensors(tensors));
}

/// Finite weights whose products are not.
std::string overflowing_model(const Folder& folder) {
  ModelConfig config = files::tiny_config();
  weights::Checkpoint checkpoint = test::random_checkpoint(config);
  const auto huge =
      std::make_shared<std::vector<float>>(config.head.classes * config.encoder.width, 3e38f);
  checkpoint.add("head.weight", weights::Tensor{weights::DType::kF32,
                                                {config.head.classes, config.encoder.width},
                                                {config.encoder.width, 1},
                                                reinterpret_cast<std::byte*>(huge->data())});
  checkpoint.keep(huge);
  const auto large = std::make_shared<std::vector<float>>(config.encoder.width, 1e30f);
  checkpoint.add("norm.weight", weights::Tensor{weights::DType::kF32,
                                                {config.encoder.width},
                                                {1},
                                                reinterpret_cast<std::byte*>(large->data())});
  checkpoint.keep(large);
  weights::save(folder.path("huge.safetensors"), checkpoint);
  return folder.path("huge.safetensors");
}

TEST(NotFinite, WeightsAreRefusedByEveryCommandThatReadsThem) {
  const Folder folder;
  const std::string model = model_with(folder, NAN), image = golden_image("timm_vit");
  const std::string expected =
      "vit: " + model +
      ": tensor 'head.weight' holds nan at [0, 7], expected finite numbers; the training run "
      "diverged, or the file is damaged\n";
  const std::vector<std::vector<std::string>> calls{
      {"classify", "-m", model, "--heads", "3", image},
      {"batch", "-q", "-m", model, "--heads", "3", "-o", folder.path("o.csv"), image},
      {"embed", "-q", "-m", model, "--heads", "3", "-o", folder.path("o.npy"), image},
      {"attention", "-m", model, "--heads", "3", "-o", folder.path("o.png"), "--grid", image},
      {"heads", model, "--heads", "3", "--images", image}};
  for (const auto& call : calls) {
    const Finished finished = run(call);
    EXPECT_EQ(finished.status, 1) << call.front();
    EXPECT_EQ(finished.err, expected) << call.front();
    EXPECT_EQ(finished.out, "") << call.front();
  }
}

TEST(NotFinite, ConversionRefusesWeightsAndNumbersThatBecomeInfinite) {
  const Folder folder;
  const std::string out = folder.path("out.safetensors");
  const Finished nan =
      run({"convert", model_with(folder, NAN), out, "--heads", "3", "--dtype", "f32"});
  EXPECT_EQ(nan.status, 1);
  EXPECT_THAT(nan.err, HasSubstr("tensor 'head.weight' holds nan at [0, 7]"));
  const Finished large =
      run({"convert", model_with(folder, -1e6f), out, "--heads", "3", "--dtype", "f16"});
  EXPECT_EQ(large.status, 1);
  EXPECT_EQ(large.err, "vit: " + out +
                           ": tensor 'head.weight' holds -1e+06, more than f16 can; save it as "
                           "bf16 or f32\n");
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(NotFinite, AnAnswerIsAnErrorOfItsImage) {
  const Folder folder;
  const std::string model = overflowing_model(folder), image = golden_image("timm_vit");
  const Finished text = run({"classify", "-m", model, image});
  EXPECT_EQ(text.status, 1);
  EXPECT_EQ(text.out, "");
  EXPECT_THAT(text.err,
              testing::StartsWith("vit: " + image + ": the model's answer is not finite"));
  const Finished json = run({"classify", "--json", "-m", model, image});
  EXPECT_EQ(json.status, 1);
  EXPECT_THAT(json.out, HasSubstr("the model's answer is not finite: number 0 of 5 is "));
}

TEST(NotFinite, AnAnswerIsAFailedRow) {
  const Folder folder;
  const std::string model = overflowing_model(folder), image = golden_image("timm_vit");
  const std::string rows = folder.path("rows.jsonl");
  run({"batch", "-q", "-m", model, "-o", rows, image});
  EXPECT_THAT(read_file(rows), HasSubstr("\"status\":\"failed\""));
  EXPECT_THAT(read_file(rows), HasSubstr("the model's answer is not finite"));
}

TEST(TokenLimit, AConfigurationOfManyPixelsIsRefusedWithTheWayOut) {
  const Folder folder;
  ModelConfig config = files::tiny_config();
  weights::Checkpoint checkpoint = test::random_checkpoint(config);
  checkpoint.config.embedding.image_height = checkpoint.config.embedding.image_width = 16384;
  checkpoint.recipe.crop_height = checkpoint.recipe.crop_width = 16384;
  checkpoint.recipe.resize_height = checkpoint.recipe.resize_width = 16384;
  const std::string model = folder.path("wide.safetensors"), image = golden_image("timm_vit");
  weights::save(model, checkpoint);
  const Finished refused = run({"classify", "-m", model, image});
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.err,
            "vit: " + model +
                ": an input of 16384x16384 pixels in patches of 8x8 gives 4194305 tokens, at most "
                "32768 are allowed; choose a smaller input size or allow more tokens: --image-size "
                "N, --max-tokens N\n");
  EXPECT_EQ(run({"classify", "-m", model, "--image-size", "32", image}).status, 0);
  EXPECT_EQ(
      run({"classify", "-m", model, "--image-size", "32", "--max-tokens", "16", image}).status, 1);
}

}  // namespace
}  // namespace vit::tools
