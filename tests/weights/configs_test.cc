#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/weights/support.h"
#include "weights/configs/config_files.h"

namespace vit::weights {
namespace {

using nlohmann::json;
using test::Folder;
using testing::ElementsAre;
using testing::FloatEq;

ModelCard timm(const json& config) {
  return read_timm_config(Fields(config, "config.json"));
}

/// What the tensors of a ViT-Base with 3 classes show.
ModelConfig inferred() {
  ModelConfig config;
  config.head.classes = 3;
  return config;
}

ModelCard hugging_face(const json& config) {
  return read_hf_config(Fields(config, "config.json"), inferred());
}

Recipe preprocessor(const json& file, const std::string& model_type = "vit") {
  return read_preprocessor(Fields(file, "preprocessor_config.json"), model_type, inferred());
}

template <typename Action>
std::string complaint(const Action& action) {
  const Folder folder;
  return test::error_of(folder, action);
}

TEST(TimmConfig, TakesTheArchitecturesRecipeWhereItSaysNone) {
  const ModelCard card = timm({{"architecture", "deit_tiny_patch16_224"}});
  EXPECT_EQ(card.config.encoder.width, 192u);
  EXPECT_EQ(card.config.head.classes, 1000u);
  EXPECT_EQ(card.recipe.resize_height, 248u);
  EXPECT_THAT(card.recipe.mean, ElementsAre(0.485f, 0.456f, 0.406f));
}

TEST(TimmConfig, TheRecipeSaysTheImageSizeUnlessTheArgumentsDo) {
  const json recipe{{"input_size", {3, 96, 128}}, {"crop_pct", 0.8}, {"crop_mode", "squash"}};
  ModelCard card = timm({{"architecture", "vit_tiny_patch16_224"}, {"pretrained_cfg", recipe}});
  EXPECT_EQ(card.config.embedding.image_height, 96u);
  EXPECT_EQ(card.config.embedding.image_width, 128u);
  EXPECT_EQ(card.recipe.resize, ResizeMode::kSquash);
  EXPECT_EQ(card.recipe.resize_height, 120u);
  EXPECT_EQ(card.recipe.resize_width, 160u);
  card = timm({{"architecture", "vit_tiny_patch16_224"},
               {"model_args", {{"img_size", 64}}},
               {"pretrained_cfg", recipe}});
  EXPECT_EQ(card.config.embedding.image_width, 64u);
  EXPECT_EQ(card.recipe.crop_width, 64u);
}

TEST(TimmConfig, OlderFilesHoldTheRecipeAtTheTop) {
  const ModelCard card = timm({{"architecture", "vit_tiny_patch16_224"},
                               {"num_classes", 7},
                               {"input_size", {3, 64, 64}},
                               {"mean", {0, 0.5, 1}},
                               {"interpolation", "bilinear"},
                               {"labels", {"a", "b", "c", "d", "e", "f", "g"}}});
  EXPECT_EQ(card.config.head.classes, 7u);
  EXPECT_EQ(card.config.embedding.image_height, 64u);
  EXPECT_THAT(card.recipe.mean, ElementsAre(0.0f, 0.5f, 1.0f));
  EXPECT_EQ(card.recipe.interpolation, Interpolation::kBilinear);
  EXPECT_EQ(card.labels.size(), 7u);
}

TEST(TimmConfig, LabelsAreDescribedWhereTheyCanBe) {
  const json base{{"architecture", "vit_tiny_patch16_224"}, {"num_classes", 2}};
  json config = base;
  config["pretrained_cfg"] = {{"label_names", {"n01440764", "n01443537"}}};
  EXPECT_THAT(timm(config).labels, ElementsAre("tench", "goldfish"));
  config = base;
  config["label_names"] = {"x", "y"};
  config["label_descriptions"] = {{"x", "an x"}};
  EXPECT_THAT(timm(config).labels, ElementsAre("an x", "y"));
}

TEST(TimmConfig, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(complaint([] {
              timm({{"architecture", 7}});
            }),
            "config.json: field 'architecture' is 7, expected a string");
  EXPECT_EQ(complaint([] {
              timm({{"architecture", "vit_tiny_patch16_224"}, {"mean", {1, 2}}});
            }),
            "config.json: field 'mean' is [1,2], expected three numbers");
  EXPECT_EQ(complaint([] {
              timm({{"architecture", "vit_tiny_patch16_224"},
                    {"pretrained_cfg", {{"crop_mode", "corner"}}}});
            }),
            "config.json: pretrained_cfg: unknown crop_mode 'corner', expected center, squash or "
            "border");
  EXPECT_EQ(complaint([] {
              timm({{"architecture", "vit_tiny_patch16_224"}, {"crop_pct", 0}});
            }),
            "config.json: crop_pct 0 is not a fraction of the image");
}

TEST(HuggingFaceConfig, TakesTheFamilysDefaults) {
  EXPECT_THAT(hugging_face({{"model_type", "vit"}}).config.encoder.norm_eps, FloatEq(1e-12f));
  EXPECT_THAT(hugging_face({{"model_type", "dinov2"}}).config.encoder.norm_eps, FloatEq(1e-6f));
  const ModelConfig clip = hugging_face({{"model_type", "clip"}}).config;
  EXPECT_THAT(clip.encoder.norm_eps, FloatEq(1e-5f));
  EXPECT_EQ(clip.encoder.activation, Activation::kQuickGelu);
  EXPECT_EQ(hugging_face({{"model_type", "siglip"}}).config.encoder.activation,
            Activation::kGeluTanh);
  EXPECT_EQ(clip.encoder.heads, 12u);
}

TEST(HuggingFaceConfig, ReadsTheVisionPartOfATwoTowerModel) {
  const ModelConfig config =
      hugging_face({{"model_type", "clip"},
                    {"num_attention_heads", 99},
                    {"vision_config",
                     {{"num_attention_heads", 16}, {"hidden_act", "gelu"}, {"image_size", 336}}}})
          .config;
  EXPECT_EQ(config.encoder.heads, 16u);
  EXPECT_EQ(config.encoder.activation, Activation::kGelu);
  EXPECT_EQ(config.embedding.image_height, 336u);
}

TEST(HuggingFaceConfig, AnOldDictOfTheVisionPartWins) {
  const ModelCard card = hugging_face({{"model_type", "clip"},
                                       {"vision_config", {{"num_attention_heads", 4}}},
                                       {"vision_config_dict", {{"num_attention_heads", 16}}}});
  EXPECT_EQ(card.config.encoder.heads, 16u);
  EXPECT_EQ(hugging_face({{"model_type", "clip"},
                          {"vision_config", {{"num_attention_heads", 4}}},
                          {"vision_config_dict", nullptr}})
                .config.encoder.heads,
            4u);
}

TEST(HuggingFaceConfig, ClassifiersOnTowersAverageThePatches) {
  const ModelConfig clip =
      hugging_face({{"model_type", "clip"}, {"architectures", {"CLIPForImageClassification"}}})
          .config;
  EXPECT_EQ(clip.head.pooling, Pooling::kMean);
  EXPECT_FALSE(clip.head.final_norm);
  const ModelConfig siglip =
      hugging_face({{"model_type", "siglip"}, {"architectures", {"SiglipForImageClassification"}}})
          .config;
  EXPECT_EQ(siglip.head.pooling, Pooling::kMean);
  EXPECT_TRUE(siglip.head.final_norm);
  EXPECT_EQ(
      hugging_face({{"model_type", "clip"}, {"architectures", {"CLIPModel"}}}).config.head.pooling,
      Pooling::kClass);
}

TEST(HuggingFaceConfig, Dinov2GiantIsGatedInStepsOfEight) {
  const ModelConfig config = hugging_face({{"model_type", "dinov2"},
                                           {"hidden_size", 1536},
                                           {"num_attention_heads", 24},
                                           {"mlp_ratio", 4},
                                           {"use_swiglu_ffn", true}})
                                 .config;
  EXPECT_EQ(config.encoder.mlp_width, 4096u);
  EXPECT_TRUE(config.encoder.gated_mlp);
  EXPECT_EQ(config.encoder.activation, Activation::kSilu);
}

TEST(HuggingFaceConfig, SeveralLabelsPerImage) {
  EXPECT_TRUE(hugging_face({{"model_type", "vit"}, {"problem_type", "multi_label_classification"}})
                  .config.head.multi_label);
  EXPECT_FALSE(hugging_face({{"model_type", "vit"}}).config.head.multi_label);
}

TEST(HuggingFaceConfig, LabelsComeInTheOrderOfTheirNumbers) {
  const auto labels = [](const json& names) {
    return hugging_face({{"model_type", "vit"}, {"id2label", names}}).labels;
  };
  EXPECT_THAT(labels({{"2", "c"}, {"0", "a"}, {"1", "b"}}), ElementsAre("a", "b", "c"));
  EXPECT_TRUE(labels({{"0", "LABEL_0"}, {"1", "LABEL_1"}, {"2", "LABEL_2"}}).empty());
  EXPECT_TRUE(labels({{"0", "a"}}).empty());
  EXPECT_THAT(complaint([&] {
                labels({{"1", "a"}, {"2", "b"}, {"3", "c"}});
              }),
              testing::EndsWith("expected a name for each class, counted from 0"));
}

TEST(HuggingFaceConfig, AnUnknownModelTypeListsTheKnownOnes) {
  EXPECT_EQ(complaint([] {
              hugging_face({{"model_type", "mystery"}});
            }),
            "config.json: model_type 'mystery' is not one this toolkit knows: vit, deit, vit_msn, "
            "vit_mae, ijepa, dinov2, dinov2_with_registers, clip, clip_vision_model, beit, "
            "data2vec-vision, dinov3_vit, siglip, siglip_vision_model");
}

ModelCard open_clip(const json& model, const json& preprocess = json::object()) {
  return read_open_clip_config(
      Fields(json{{"model_cfg", model}, {"preprocess_cfg", preprocess}}, "open_clip_config.json"),
      inferred());
}

TEST(OpenClipConfig, SaysActivationHeadsAndRecipe) {
  ModelCard card = open_clip({{"quick_gelu", true}, {"vision_cfg", {{"image_size", 256}}}});
  EXPECT_EQ(card.config.encoder.activation, Activation::kQuickGelu);
  EXPECT_EQ(card.config.encoder.heads, 12u);
  EXPECT_EQ(card.recipe.resize_height, 256u);
  EXPECT_FLOAT_EQ(card.recipe.mean[0], 0.48145466f);
  card = open_clip({{"vision_cfg", {{"head_width", 96}}}},
                   {{"mean", {0.5, 0.5, 0.5}}, {"resize_mode", "squash"}});
  EXPECT_EQ(card.config.encoder.activation, Activation::kGelu);
  EXPECT_EQ(card.config.encoder.heads, 8u);
  EXPECT_EQ(card.recipe.resize, ResizeMode::kSquash);
  EXPECT_FLOAT_EQ(card.recipe.mean[0], 0.5f);
}

TEST(OpenClipConfig, SaysWhatDiffersInItsOwnTowers) {
  const ModelCard card =
      open_clip({{"vision_cfg",
                  {{"act_kwargs", {{"approximate", "tanh"}}}, {"norm_kwargs", {{"eps", 1e-6}}}}}});
  EXPECT_EQ(card.config.encoder.activation, Activation::kGeluTanh);
  EXPECT_FLOAT_EQ(card.config.encoder.norm_eps, 1e-6f);
  EXPECT_FLOAT_EQ(open_clip({{"vision_cfg", {{"width", 768}}}}).config.encoder.norm_eps, 1e-5f);
}

TEST(OpenClipConfig, MayNameATowerOfTimm) {
  const ModelCard card = open_clip(
      {{"vision_cfg", {{"timm_model_name", "vit_base_patch16_siglip_224"}, {"timm_pool", "map"}}}});
  EXPECT_EQ(card.config.architecture, "vit_base_patch16_siglip_224");
  EXPECT_EQ(card.config.head.pooling, Pooling::kAttention);
  EXPECT_EQ(card.config.head.classes, 3u);
}

TEST(OpenClipConfig, RefusesWhatTheModelCannotDo) {
  EXPECT_EQ(
      complaint([] {
        open_clip({{"vision_cfg", {{"attentional_pool", true}}}});
      }),
      "open_clip_config.json: model_cfg: vision_cfg: field 'attentional_pool' is true, expected "
      "false");
  EXPECT_EQ(
      complaint([] {
        open_clip({{"vision_cfg",
                    {{"timm_model_name", "vit_base_patch16_siglip_224"}, {"timm_proj", "mlp"}}}});
      }),
      "open_clip_config.json: model_cfg: vision_cfg: field 'timm_proj' is \"mlp\", expected "
      "linear, none or null");
  EXPECT_EQ(complaint([] { open_clip(json::object()); }),
            "open_clip_config.json: has no model_cfg with a vision_cfg");
}

TEST(Preprocessor, ASizeIsANumberAListOrAnObject) {
  for (const json& size : {json(96), json{96, 96}, json{{"height", 96}, {"width", 96}}}) {
    const Recipe recipe = preprocessor({{"size", size}});
    EXPECT_EQ(recipe.resize, ResizeMode::kSquash) << size;
    EXPECT_EQ(recipe.resize_width, 96u);
    EXPECT_EQ(recipe.crop_height, 96u);
  }
  const Recipe edge = preprocessor(
      {{"size", {{"shortest_edge", 96}}}, {"do_center_crop", true}, {"crop_size", 64}});
  EXPECT_EQ(edge.resize, ResizeMode::kShortEdge);
  EXPECT_EQ(edge.resize_height, 96u);
  EXPECT_EQ(edge.crop_width, 64u);
}

TEST(Preprocessor, ANumberIsTheShortEdgeForProcessorsThatTakeItSo) {
  const Recipe bit = preprocessor({{"image_processor_type", "BitImageProcessor"}, {"size", 256}});
  EXPECT_EQ(bit.resize, ResizeMode::kShortEdge);
  EXPECT_EQ(bit.crop_height, 224u);
  EXPECT_FLOAT_EQ(bit.mean[0], 0.48145466f);
  const Recipe clip = preprocessor({{"size", 336}, {"crop_size", 336}}, "clip");
  EXPECT_EQ(clip.resize, ResizeMode::kShortEdge);
  EXPECT_EQ(clip.interpolation, Interpolation::kBicubic);
  const Recipe deit = preprocessor({{"feature_extractor_type", "DeiTFeatureExtractor"}});
  EXPECT_EQ(deit.resize, ResizeMode::kSquash);
  EXPECT_EQ(deit.resize_height, 256u);
  EXPECT_EQ(deit.crop_height, 224u);
}

TEST(Preprocessor, FiltersAreCountedAsPillowDoes) {
  const Interpolation filters[] = {Interpolation::kNearest, Interpolation::kLanczos,
                                   Interpolation::kBilinear, Interpolation::kBicubic,
                                   Interpolation::kBox};
  for (size_t i = 0; i < 5; ++i)
    EXPECT_EQ(preprocessor({{"resample", i}}).interpolation, filters[i]);
  EXPECT_EQ(complaint([] {
              preprocessor({{"resample", 5}});
            }),
            "preprocessor_config.json: field 'resample' is 5, expected 0 (nearest), 1 (Lanczos), 2 "
            "(bilinear), 3 (bicubic) or 4 (box)");
}

TEST(Preprocessor, StepsCanBeLeftOut) {
  EXPECT_EQ(preprocessor({{"do_resize", false}}).resize, ResizeMode::kNone);
  EXPECT_THAT(preprocessor({{"do_normalize", false}}).std, ElementsAre(1.0f, 1.0f, 1.0f));
  EXPECT_EQ(preprocessor({{"do_center_crop", false}}, "deit").crop_height, 256u);
}

TEST(Preprocessor, AnotherScaleOfPixelsIsOtherStatistics) {
  // (pixel - 127.5) / 127.5 of 0 … 255 is our (pixel - 0.5) / 0.5 of 0 … 1.
  const Recipe whole = preprocessor(
      {{"do_rescale", false}, {"image_mean", {127.5, 127.5, 127.5}}, {"image_std", 127.5}});
  EXPECT_FLOAT_EQ(whole.mean[0], 0.5f);
  EXPECT_FLOAT_EQ(whole.std[2], 0.5f);
  const Recipe wide = preprocessor({{"rescale_factor", 1.0 / 127.5}});
  EXPECT_FLOAT_EQ(wide.mean[0], 0.25f);
}

TEST(Preprocessor, RefusesImpossibleFields) {
  EXPECT_EQ(complaint([] {
              preprocessor({{"size", 0}});
            }),
            "preprocessor_config.json: field 'size' is 0, expected a size, height and width, or "
            "shortest_edge");
  EXPECT_EQ(
      complaint([] {
        preprocessor({{"size", "big"}});
      }),
      "preprocessor_config.json: field 'size' is \"big\", expected a size, height and width, or "
      "shortest_edge");
  EXPECT_EQ(complaint([] {
              preprocessor({{"image_std", {1, 0, 1}}});
            }),
            "preprocessor_config.json: field 'image_std' is [1,0,1], expected positive numbers");
  EXPECT_EQ(complaint([] {
              preprocessor({{"do_resize", "yes"}});
            }),
            "preprocessor_config.json: field 'do_resize' is \"yes\", expected true or false");
}

TEST(Json, SaysWhichFileAndWhere) {
  const Folder folder;
  const auto of = [&](const std::string& text) {
    const auto path = folder.write("config.json", text);
    return test::error_of(folder, [&] { read_json(path); });
  };
  EXPECT_EQ(of("[1, 2]"), "config.json: is not a JSON object");
  EXPECT_EQ(of("{\"a\":\n }"), "config.json: is not valid JSON: error at byte 7, line 2");
  EXPECT_EQ(of(""), "config.json: is not valid JSON: cut short at byte 0");
  EXPECT_EQ(of("{\"a\": [1"), "config.json: is not valid JSON: cut short at byte 8");
  EXPECT_EQ(of("{\"mean\": [1e400]}"),
            "config.json: is not valid JSON: the number 1e400 is too large");
  EXPECT_EQ(of("{\"a\": \"\xff\"}"), "config.json: is not valid JSON: error at byte 7, line 1");
  std::string many = "{\"a\":[0";
  for (int i = 0; i < 500'000; ++i) many += ",0";
  EXPECT_EQ(of(many + "]}"), "config.json: JSON of more than 500000 values");
  EXPECT_THAT(of("{\"a\":" + std::string(200'000, '[')),
              testing::StartsWith("config.json: JSON nested more than 64 deep"));
  // Quoting a field recurses into it, and the stack is limited.
  EXPECT_EQ(of("{\"a\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}"),
            "config.json: JSON nested more than 64 deep");
}

}  // namespace
}  // namespace vit::weights
