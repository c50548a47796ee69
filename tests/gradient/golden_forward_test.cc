// The differentiable model gives the answers of the fast one, on every reference checkpoint.
#include <gtest/gtest.h>

#include <filesystem>

#include "patch/image/image.h"
#include "patch/patchify.h"
#include "tests/support/near.h"
#include "tests/support/paths.h"
#include "vit/gradient/network.h"
#include "vit/model/load.h"
#include "vit/model/open.h"
#include "vit/model/runner.h"

namespace vit::gradient {
namespace {

namespace fs = std::filesystem;

struct Reference {
  std::string folder;
  std::string file = "";
  size_t heads = 0;
  size_t height = 0;
  size_t width = 0;
};

class GoldenForward : public ::testing::TestWithParam<Reference> {};

TEST_P(GoldenForward, EqualsTheInferenceModelOnEveryInstructionSet) {
  const fs::path folder = test::goldens() / GetParam().folder;
  const fs::path path = GetParam().file.empty() ? folder : folder / GetParam().file;
  auto checkpoint = weights::open(path, {.heads = GetParam().heads});
  set_input(checkpoint, GetParam().height, GetParam().width);
  const Model model = load_model(checkpoint);
  Runner runner(model, checkpoint.recipe);
  const std::span<const float> expected = runner.logits(read_image(folder / "image.png"));

  const auto network = load_network<float>(checkpoint);
  for (const Isa isa : available_isas()) {
    const NetworkView<float> view(network, {.numbers = network.numbers, .isa = isa});
    Trace<float> trace;
    const ConstMatrixView logits =
        forward<float>(view, {.patches = runner.patches(), .images = 1}, trace);
    test::expect_near(logits.row_span(0), expected, 1e-5, std::string(to_string(isa)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Checkpoint, GoldenForward,
    ::testing::Values(Reference{"timm_vit"}, Reference{"timm_deit3"},
                      Reference{"timm_deit_distilled"}, Reference{"timm_dinov2"},
                      Reference{"timm_dinov2_registers"}, Reference{"timm_dinov2_swiglu"},
                      Reference{"timm_gap_registers"}, Reference{"timm_siglip_map"},
                      Reference{"timm_clip_quickgelu"}, Reference{"timm_nonsquare"},
                      Reference{"hf_vit"}, Reference{"hf_dinov2"},
                      Reference{.folder = "hf_deit_distilled", .height = 96, .width = 64},
                      Reference{"families/eva02_small"}, Reference{"families/eva02_clip"},
                      Reference{"families/dinov3_plus"}, Reference{"families/rope_ape"},
                      Reference{.folder = "families/rope_mixed", .height = 80, .width = 48},
                      Reference{"families/pe_core"}, Reference{"families/relpos_cls"},
                      Reference{.folder = "families/beit", .height = 80, .width = 48},
                      Reference{"families/cait"}, Reference{"families/beitv2"},
                      Reference{"families/srelpos"}, Reference{"families/relpos_rpn"},
                      Reference{"families/naflex_map"}, Reference{"families/naflex_parfac_gap"}),
    [](const auto& test) {
      std::string name = test.param.folder;
      std::replace(name.begin(), name.end(), '/', '_');
      return name;
    });

}  // namespace
}  // namespace vit::gradient
