// Folders as timm writes them, made by hand.
#include <gtest/gtest.h>

#include "tests/weights/support.h"
#include "weights/checkpoint.h"
#include "weights/known/architectures.h"
#include "weights/tensor_list.h"

namespace vit::weights {
namespace {

using nlohmann::json;
using test::Folder;

json model_args(json more) {
  more.update(json{{"embed_dim", 48}, {"depth", 1}, {"num_heads", 3}});
  return more;
}

/// Writes config.json, and every tensor that such a model has.
void write_model(const Folder& folder, const Arguments& arguments, const json& args) {
  const ModelConfig config = config_of("vit_tiny_patch16_224", arguments);
  test::RawMap tensors;
  for (const TensorSpec& spec : tensors_of(config)) tensors[spec.name] = test::numbered(spec.shape);
  folder.write("model.safetensors", test::safetensors(tensors));
  folder.write("config.json", json{{"architecture", "vit_tiny_patch16_224"},
                                   {"num_classes", config.head.classes},
                                   {"model_args", args}}
                                  .dump());
}

TEST(TimmFolder, TheConfigSaysTheGridOfAPositionTableThatIsNoSquare) {
  const Folder folder;
  write_model(folder,
              {{"embed_dim", "48"}, {"depth", "1"}, {"num_heads", "3"}, {"img_size", "32,48"}},
              model_args({{"img_size", {32, 48}}}));
  const Checkpoint checkpoint = open(folder.path());
  EXPECT_EQ(checkpoint.config.embedding.position_grid, (GridSize{2, 3}));
  EXPECT_EQ(checkpoint.config.embedding.image_width, 48u);
}

TEST(TimmFolder, ATableThatIsNoSquareNeedsAConfig) {
  const Folder folder;
  write_model(folder,
              {{"embed_dim", "48"}, {"depth", "1"}, {"num_heads", "3"}, {"img_size", "32,48"}},
              model_args({{"img_size", {32, 48}}}));
  std::filesystem::remove(folder.path("config.json"));
  EXPECT_EQ(test::error_of(folder, [&] { open(folder.path("model.safetensors"), {.heads = 3}); }),
            "model.safetensors: tensor 'pos_embed' holds 7 positions, expected 1 for the prefix "
            "tokens and a square number for the patches");
}

TEST(TimmFolder, PositionsMayBeNone) {
  for (const json& none : {json("none"), json("")}) {
    const Folder folder;
    write_model(folder,
                {{"embed_dim", "48"}, {"depth", "1"}, {"num_heads", "3"}, {"pos_embed", "none"}},
                model_args({{"pos_embed", none}}));
    EXPECT_EQ(open(folder.path()).config.embedding.positions, PositionKind::kNone);
  }
}

}  // namespace
}  // namespace vit::weights
