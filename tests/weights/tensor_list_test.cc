#include "weights/tensor_list.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "tests/weights/truth.h"
#include "vit/base/error.h"
#include "weights/known/architectures.h"

namespace vit::weights {
namespace {

/// The weights of a tiny model, which a test then spoils.
WeightMap tiny_weights(const ModelConfig& config) {
  WeightMap weights;
  for (const TensorSpec& spec : tensors_of(config))
    weights.emplace(spec.name,
                    Tensor{DType::kF32, spec.shape, contiguous_strides(spec.shape), nullptr});
  return weights;
}

std::string complaint(const WeightMap& weights, const ModelConfig& config = test::tiny_config()) {
  try {
    check_tensors(config, weights, "tiny");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TensorList, AcceptsWhatItNames) {
  EXPECT_EQ(complaint(tiny_weights(test::tiny_config())), "");
}

TEST(TensorList, NamesTheTensorAndBothShapesWhenTheyDisagree) {
  WeightMap weights = tiny_weights(test::tiny_config());
  weights.at("blocks.0.norm1.weight") = Tensor{DType::kF32, {3}, {1}, nullptr};
  EXPECT_EQ(complaint(weights),
            "tiny: tensor 'blocks.0.norm1.weight' has shape [3], expected [24]");
}

TEST(TensorList, NamesTheTensorThatIsMissing) {
  WeightMap weights = tiny_weights(test::tiny_config());
  weights.erase("blocks.1.mlp.fc2.bias");
  EXPECT_EQ(complaint(weights), "tiny: tensor 'blocks.1.mlp.fc2.bias' is missing");
}

TEST(TensorList, WantsOneWholeFormOfLambda) {
  ModelConfig config = test::tiny_config();
  config.encoder.attention = AttentionKind::kDifferential;
  WeightMap weights = tiny_weights(config);
  EXPECT_EQ(complaint(weights, config), "");
  weights.erase("blocks.0.attn.lambda_b");
  EXPECT_EQ(complaint(weights, config), "tiny: tensor 'blocks.0.attn.lambda_b' is missing");
  weights.erase("blocks.0.attn.lambda_a");
  EXPECT_EQ(complaint(weights, config), "");
  weights.erase("blocks.0.attn.lambda_k2");
  EXPECT_EQ(complaint(weights, config), "tiny: tensor 'blocks.0.attn.lambda_k2' is missing");
}

TEST(TensorList, GivesEveryTensorOfABlockItsLayer) {
  for (const TensorSpec& spec : tensors_of(test::tiny_config())) {
    const bool block = spec.name.starts_with("blocks.");
    EXPECT_EQ(spec.layer.has_value(), block) << spec.name;
    EXPECT_EQ(spec.part == TensorPart::kBlock, block) << spec.name;
    if (block) {
      EXPECT_TRUE(spec.name.starts_with("blocks." + std::to_string(*spec.layer) + "."));
    }
  }
}

TEST(TensorList, StacksQueriesKeysAndValuesOnlyWhereTheyAreOfOneSize) {
  ModelConfig config = test::tiny_config();
  const auto stacked = [&] {
    std::set<size_t> counts;
    for (const TensorSpec& spec : tensors_of(config)) counts.insert(spec.stacked);
    return counts;
  };
  EXPECT_EQ(stacked(), (std::set<size_t>{1, 3}));
  config.encoder.key_value_heads = 1;
  EXPECT_EQ(stacked(), (std::set<size_t>{1}));
}

/// Matrices of products have two axes or, before the patches are cut, four; nothing else does.
TEST(TensorList, TheShapesOfEveryArchitectureAgreeWithTheirRoles) {
  for (const auto& architecture : architectures()) {
    for_each_tensor(config_of(architecture.name), [&](const TensorSpec& spec) {
      const size_t axes = spec.shape.size();
      EXPECT_EQ(spec.role == TensorRole::kKernel, axes == 2 || axes == 4) << spec.name;
      const bool rows = spec.role == TensorRole::kToken || spec.role == TensorRole::kPositions;
      EXPECT_EQ(rows, axes == 3) << spec.name;
      EXPECT_EQ(spec.size() % spec.rows(), 0u) << spec.name;
    });
  }
}

}  // namespace
}  // namespace vit::weights
