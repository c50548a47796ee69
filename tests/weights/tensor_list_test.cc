#include "weights/tensor_list.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "tests/weights/truth.h"
#include "vit/base/error.h"
#include "weights/known/architectures.h"

namespace vit::weights {
namespace {

/// The weights of a tiny model, for tests to damage.
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

TEST(TensorList, NeedsOneCompleteSetOfLambdas) {
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

std::string shapes(const ModelConfig& config, std::string_view part) {
  std::string all;
  for (const TensorSpec& spec : tensors_of(config))
    if (spec.name.find(part) != std::string::npos)
      all += spec.name + " " + to_string(spec.shape) + "; ";
  return all;
}

TEST(TensorList, NamesWhatRotaryAndRelativePositionsLearn) {
  ModelConfig config = test::tiny_config();  // 2 blocks of width 24, 3 heads
  config.encoder.rotary.kind = RotaryKind::kAxial;
  EXPECT_EQ(shapes(config, "rope"), "");
  config.encoder.rotary.kind = RotaryKind::kLearned;
  EXPECT_EQ(shapes(config, "rope"), "rope.freqs [2, 2, 3, 4]; ");
  config.encoder.rotary = {.kind = RotaryKind::kNormalized, .stored_periods = true};
  EXPECT_EQ(shapes(config, "rope"), "rope.periods [2]; ");

  config.encoder.relative_bias = {
      .kind = RelativeBiasKind::kTable, .class_rows = true, .grid = {2, 3}};
  EXPECT_EQ(shapes(config, "0.attn.rel_pos"), "blocks.0.attn.rel_pos.table [18, 3]; ");
  config.encoder.relative_bias = {
      .kind = RelativeBiasKind::kLogMlp, .per_block = false, .shared = true, .hidden = 8};
  EXPECT_EQ(shapes(config, "rel_pos"),
            "rel_pos.mlp.fc1.weight [8, 2]; rel_pos.mlp.fc1.bias [8]; "
            "rel_pos.mlp.fc2.weight [3, 8]; rel_pos.mlp.fc2.bias [3]; ");
}

TEST(TensorList, NamesTheBiasesAndMixingsOfAttention) {
  ModelConfig config = test::tiny_config();
  config.encoder.key_bias = false;
  EXPECT_EQ(shapes(config, "blocks.1.attn"),
            "blocks.1.attn.qkv.weight [72, 24]; blocks.1.attn.q_bias [24]; "
            "blocks.1.attn.v_bias [24]; blocks.1.attn.proj.weight [24, 24]; "
            "blocks.1.attn.proj.bias [24]; ");
  config.encoder.attention = AttentionKind::kTalkingHeads;
  EXPECT_EQ(shapes(config, "0.attn.proj_"),
            "blocks.0.attn.proj_l.weight [3, 3]; blocks.0.attn.proj_l.bias [3]; "
            "blocks.0.attn.proj_w.weight [3, 3]; blocks.0.attn.proj_w.bias [3]; ");
}

TEST(TensorList, ClassLayersAreTheirOwnWidthAndNoBlocks) {
  ModelConfig config = test::tiny_config();
  config.embedding.prefix.clear();
  config.head.class_layers = 1;
  config.head.class_mlp_width = 20;
  EXPECT_EQ(shapes(config, "class_blocks.0.attn"),
            "class_blocks.0.attn.q.weight [24, 24]; class_blocks.0.attn.q.bias [24]; "
            "class_blocks.0.attn.kv.weight [48, 24]; class_blocks.0.attn.kv.bias [48]; "
            "class_blocks.0.attn.proj.weight [24, 24]; class_blocks.0.attn.proj.bias [24]; ");
  EXPECT_EQ(shapes(config, "class_blocks.0.mlp.fc1.w"), "class_blocks.0.mlp.fc1.weight [20, 24]; ");
  EXPECT_EQ(shapes(config, "cls_token"), "cls_token [1, 1, 24]; ");
}

/// Matrices of products have two axes or, before the patches are cut, four; besides them only
/// tables and frequencies of positions do.
TEST(TensorList, TheShapesOfEveryArchitectureAgreeWithTheirRoles) {
  for (const auto& architecture : architectures()) {
    for_each_tensor(config_of(architecture.name), [&](const TensorSpec& spec) {
      const size_t axes = spec.shape.size();
      const bool table = spec.role == TensorRole::kTable || spec.role == TensorRole::kFrequencies;
      if (table) return;
      EXPECT_EQ(spec.role == TensorRole::kKernel, axes == 2 || axes == 4) << spec.name;
      const bool rows = spec.role == TensorRole::kToken || spec.role == TensorRole::kPositions;
      EXPECT_EQ(rows, axes == 3) << spec.name;
      EXPECT_EQ(spec.size() % spec.rows(), 0u) << spec.name;
    });
  }
}

}  // namespace
}  // namespace vit::weights
