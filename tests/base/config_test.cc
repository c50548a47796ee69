#include "vit/base/config.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "vit/base/error.h"

namespace vit {
namespace {

/// What validation says of ViT-Base after one change.
std::string complaint(const std::function<void(ModelConfig&)>& change) {
  ModelConfig config;
  change(config);
  try {
    validate(config, "m");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Config, TheDefaultIsAValidVitBase) {
  EXPECT_EQ(complaint([](ModelConfig&) {}), "");
  EXPECT_EQ(ModelConfig{}.embedding.tokens(), 197u);
}

TEST(Config, NamesTheFirstContradiction) {
  EXPECT_EQ(complaint([](ModelConfig& c) { c.encoder.depth = 0; }), "m: depth is 0");
  EXPECT_EQ(complaint([](ModelConfig& c) { c.encoder.heads = 7; }),
            "m: width 768 is not a multiple of heads 7");
  EXPECT_EQ(complaint([](ModelConfig& c) { c.encoder.key_value_heads = 5; }),
            "m: heads 12 is not a multiple of key/value heads 5");
  EXPECT_EQ(complaint([](ModelConfig& c) {
              c.encoder.attention = AttentionKind::kTalkingHeads;
              c.encoder.key_value_heads = 4;
            }),
            "m: talking heads need keys and values of their own, got 4 key/value heads for 12 "
            "heads");
  EXPECT_EQ(complaint([](ModelConfig& c) { c.embedding.channels = 1; }),
            "m: 1 input channels, only RGB (3) is supported");
  EXPECT_EQ(complaint([](ModelConfig& c) { c.embedding.image_width = 8; }),
            "m: image 224x8 is smaller than its patch 16x16");
  EXPECT_EQ(complaint([](ModelConfig& c) { c.embedding.prefix.clear(); }),
            "m: class pooling needs a class token, the model has none");
  EXPECT_EQ(complaint([](ModelConfig& c) { c.head.distilled_head = true; }),
            "m: a distilled head needs a class token and then a distillation token in front");
  EXPECT_EQ(complaint([](ModelConfig& c) { c.encoder.norm_eps = -1.0f; }),
            "m: norm eps -1 is not a small positive number");
  EXPECT_EQ(complaint([](ModelConfig& c) {
              c.encoder.branches = 2;
              c.encoder.block = BlockKind::kParallel;
            }),
            "m: 2 branches need pre-norm blocks, got parallel");
}

TEST(Config, RefusesSizesThatNoModelHas) {
  EXPECT_EQ(complaint([](ModelConfig& c) { c.encoder.depth = 5000; }),
            "m: depth is 5000, at most 4096");
  EXPECT_EQ(complaint([](ModelConfig& c) { c.encoder.width = size_t{1} << 40; }),
            "m: width is 1099511627776, at most 1048576");
  EXPECT_EQ(complaint([](ModelConfig& c) { c.embedding.prefix.resize(5000); }),
            "m: 5000 prefix tokens, at most 4096");
  EXPECT_EQ(complaint([](ModelConfig& c) {
              c.encoder.depth = 4096;
              c.encoder.branches = 2;
            }),
            "m: 4096 layers of 2 branches, at most 4096 branches in all");
}

TEST(Config, RotaryPositionsNeedPairsOfAnglesForBothAxes) {
  const auto rotary = [](const std::function<void(ModelConfig&)>& change) {
    return complaint([&](ModelConfig& c) {
      c.encoder.rotary.kind = RotaryKind::kAxial;
      change(c);
    });
  };
  EXPECT_EQ(rotary([](ModelConfig&) {}), "");
  EXPECT_EQ(rotary([](ModelConfig& c) { c.encoder.heads = c.encoder.key_value_heads = 128; }),
            "m: rotary positions need heads of a width that 4 divides, got 6");
  EXPECT_EQ(rotary([](ModelConfig& c) { c.encoder.rotary.temperature = 0.0f; }),
            "m: rotary temperature 0 is not a positive number");
  EXPECT_EQ(rotary([](ModelConfig& c) {
              c.encoder.rotary.reference = {0, 4};
            }),
            "m: rotary reference grid 0x4 has an edge of 0");
  EXPECT_EQ(rotary([](ModelConfig& c) { c.encoder.branches = 2; }),
            "m: rotary positions need standard attention in one branch, got standard attention in "
            "2");
}

TEST(Config, ARelativeBiasHasWhatItsKindNeeds) {
  const auto biased = [](RelativeBiasConfig bias, size_t registers = 0) {
    return complaint([&](ModelConfig& c) {
      c.encoder.relative_bias = bias;
      c.embedding.prefix.resize(1 + registers, PrefixToken::kRegister);
    });
  };
  using enum RelativeBiasKind;
  const RelativeBiasConfig table{.kind = kTable, .class_rows = true, .grid = {14, 14}};
  EXPECT_EQ(biased(table), "");
  EXPECT_EQ(table.table_rows(), 732u);
  EXPECT_EQ(biased(table, 1),
            "m: a relative position bias with rows for the class token needs one prefix token, got "
            "2");
  EXPECT_EQ(biased({.kind = kTable}), "m: a relative position bias of kind table needs a grid");
  EXPECT_EQ(biased({.kind = kLogMlp, .hidden = 8}, 1), "");
  EXPECT_EQ(biased({.kind = kLogMlp}), "m: the MLP of the relative position bias is 0 wide");
  EXPECT_EQ(biased({.kind = kLogMlp, .per_block = false, .hidden = 8}),
            "m: a relative position bias is neither shared nor of each block");
}

TEST(Config, ClassLayersHaveTheirOwnClassToken) {
  const auto layers = [](const std::function<void(ModelConfig&)>& change) {
    return complaint([&](ModelConfig& c) {
      c.embedding.prefix.clear();
      c.embedding.positions_cover_prefix = false;
      c.head.class_layers = 2;
      c.head.class_mlp_width = 64;
      change(c);
    });
  };
  EXPECT_EQ(layers([](ModelConfig&) {}), "");
  EXPECT_EQ(layers([](ModelConfig& c) { c.embedding.prefix = {PrefixToken::kClass}; }),
            "m: class layers have their own class token, but 1 prefix tokens pass through the "
            "blocks");
  EXPECT_EQ(layers([](ModelConfig& c) { c.head.class_mlp_width = 0; }),
            "m: the MLP of the class layers is 0 wide");
  EXPECT_EQ(layers([](ModelConfig& c) { c.head.pooling = Pooling::kMean; }),
            "m: class layers need class pooling and one classifier");
}

TEST(Config, SeveralLayersAreReadByAClassifierDirectlyBehindThem) {
  const auto layers = [](size_t count, const std::function<void(ModelConfig&)>& change) {
    return complaint([&](ModelConfig& c) {
      c.head.pooled_layers = count;
      change(c);
    });
  };
  const std::string cannot = "m: a classifier that reads 4 layers cannot have ";
  EXPECT_EQ(layers(12, [](ModelConfig&) {}), "");
  EXPECT_EQ(layers(0, [](ModelConfig&) {}),
            "m: a classifier that reads 0 layers, expected 1 to 12, the depth");
  EXPECT_EQ(layers(13, [](ModelConfig&) {}),
            "m: a classifier that reads 13 layers, expected 1 to 12, the depth");
  EXPECT_EQ(layers(4, [](ModelConfig& c) { c.head.pooling = Pooling::kAttention; }),
            cannot + "attention pooling");
  EXPECT_EQ(layers(4, [](ModelConfig& c) { c.head.pre_logits = 8; }),
            cannot + "a pre-logits layer before it");
  EXPECT_EQ(layers(4, [](ModelConfig& c) { c.head.distilled_head = true; }),
            cannot + "a distilled head");
  EXPECT_EQ(layers(4, [](ModelConfig& c) { c.head.class_layers = 2; }), cannot + "class layers");
  ModelConfig config;
  config.head.pooling = Pooling::kClassAndMean;
  config.head.pooled_layers = 4;
  EXPECT_EQ(config.classifier_inputs(), 4u * 2 * 768);
  EXPECT_EQ(config.first_pooled_layer(), 8u);
}

TEST(Config, AHeadReadsOnlyWhatTheTokensHave) {
  using enum PrefixToken;
  const auto distilled = [](const std::function<void(ModelConfig&)>& change) {
    return complaint([&](ModelConfig& c) {
      c.embedding.prefix = {kClass, kDistillation};
      c.head.distilled_head = true;
      change(c);
    });
  };
  EXPECT_EQ(distilled([](ModelConfig&) {}), "");
  EXPECT_EQ(distilled([](ModelConfig& c) { c.head.pre_logits = 8; }),
            "m: a distilled head cannot follow a pre-logits layer, got one of width 8");
  EXPECT_EQ(distilled([](ModelConfig& c) { c.head.unit_features = true; }),
            "m: a distilled head cannot read features of length 1");
  EXPECT_EQ(distilled([](ModelConfig& c) { c.head.pooling = Pooling::kClassAndMean; }),
            "m: a distilled head needs class pooling, got class-and-mean");
  EXPECT_EQ(distilled([](ModelConfig& c) {
              c.embedding.prefix = {kClass, kRegister, kDistillation};
            }),
            "m: a distilled head needs a class token and then a distillation token in front");
  EXPECT_EQ(complaint([](ModelConfig& c) { c.embedding.prefix = {kRegister}; }),
            "m: class pooling needs a class token, the model has none");
  EXPECT_EQ(complaint([](ModelConfig& c) {
              c.embedding.prefix = {kRegister, kClass};
            }),
            "m: class pooling reads the first token, which is a register token; expected the class "
            "token");
}

TEST(Config, RefusesMoreTokensThanAllowed) {
  ModelConfig config;
  config.embedding.image_height = config.embedding.image_width = 16384;
  try {
    check_tokens(config, kMostTokens, "m");
    FAIL() << "accepted a million tokens";
  } catch (const TooManyTokens& error) {
    EXPECT_STREQ(error.what(),
                 "m: an input of 16384x16384 pixels in patches of 16x16 gives 1048577 tokens, at "
                 "most 32768 are allowed; choose a smaller input size or allow more tokens");
  }
  EXPECT_NO_THROW(check_tokens(config, 1048577, "m"));
}

TEST(Config, EveryChoiceHasAName) {
  EXPECT_EQ(to_string(Activation::kGeluTanh), "gelu_tanh");
  EXPECT_EQ(to_string(NormKind::kRmsNorm), "rms_norm");
  EXPECT_EQ(to_string(PrefixToken::kRegister), "register");
  EXPECT_EQ(to_string(PositionKind::kSinusoidal2d), "sinusoidal-2d");
  EXPECT_EQ(to_string(BlockKind::kResidualPostNorm), "residual-post-norm");
  EXPECT_EQ(to_string(AttentionKind::kDifferential), "differential");
  EXPECT_EQ(to_string(RotaryKind::kNormalized), "normalized");
  EXPECT_EQ(to_string(RelativeBiasKind::kSwinMlp), "swin-mlp");
  EXPECT_EQ(to_string(RelativeResampling::kBilinear), "bilinear");
  EXPECT_EQ(to_string(Pooling::kClassAndMean), "class-and-mean");
}

/// Self-descriptions read back what they wrote: each name must be that of one enumerator.
template <typename Enum>
void expect_names_are_read_back() {
  for (const auto& [value, name] : enum_names(Enum{})) {
    EXPECT_EQ(to_string(value), name);
    EXPECT_EQ(enum_named<Enum>(name), value);
  }
  EXPECT_EQ(enum_named<Enum>("?"), std::nullopt);
}

TEST(Config, NamesAreReadAsTheyAreWritten) {
  expect_names_are_read_back<Activation>();
  expect_names_are_read_back<PositionKind>();
  expect_names_are_read_back<PositionResampling>();
  expect_names_are_read_back<BlockKind>();
  expect_names_are_read_back<AttentionKind>();
  expect_names_are_read_back<Pooling>();
  EXPECT_EQ(list_of_names<PositionResampling>(),
            "bilinear, bilinear-align-corners, bicubic, bicubic-antialias or bilinear-antialias");
}

}  // namespace
}  // namespace vit
