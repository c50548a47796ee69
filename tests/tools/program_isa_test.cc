/// An instruction set that a caller of the library names gives the bits of a process that VIT_ISA
/// forces to it.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/tools/subprocess.h"
#include "vit/model/load.h"
#include "vit/model/runner.h"
#include "weights/checkpoint.h"

namespace vit::tools {
namespace {

/// The features that a process with this VIT_ISA writes.
std::vector<float> forced(const std::string& model, Isa isa, size_t count) {
  const Folder folder;
  Call call;
  call.arguments = {"embed",
                    "-m",
                    golden(model),
                    "-q",
                    "--features",
                    "cls",
                    "-o",
                    folder.path("f.npy"),
                    golden_image(model)};
  call.environment = {"VIT_ISA=" + std::string(to_string(isa))};
  const Finished finished = run(call);
  EXPECT_EQ(finished.status, 0) << finished.err;
  const std::string bytes = read_file(folder.path("f.npy"));
  std::vector<float> features(count);
  if (bytes.size() < count * sizeof(float)) return {};
  std::memcpy(features.data(), bytes.data() + bytes.size() - count * sizeof(float),
              count * sizeof(float));
  return features;
}

TEST(ProgramIsa, EqualsThatOfAModelLoadedForIt) {
  for (const std::string name : {"hf_vit", "timm_vit"}) {
    const weights::Checkpoint checkpoint = weights::open(golden(name));
    const Image image = read_image(golden_image(name));
    for (const Isa isa : available_isas()) {
      const Model model = load_model(checkpoint, {.isa = isa});
      Runner runner(model, checkpoint.recipe);
      const std::vector<float> features = runner.features(image, FeatureKind::kClass);
      EXPECT_EQ(features, forced(name, isa, features.size())) << name << ' ' << to_string(isa);
    }
  }
}

}  // namespace
}  // namespace vit::tools
