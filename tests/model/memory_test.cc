// A model holds its weights once: pages of the file that were packed are released.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/random_checkpoint.h"
#include "vit/model/load.h"
#include "weights/known/architectures.h"
#include "weights/save.h"

namespace vit {
namespace {

namespace fs = std::filesystem;

/// Bytes of this file that are mapped and in memory, as the kernel counts them.
size_t resident_bytes(const fs::path& file) {
  std::ifstream maps("/proc/self/smaps");
  size_t total = 0;
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') != std::string::npos && line.find(" r") != std::string::npos)
      inside = line.ends_with(file.filename().string());
    if (inside && line.starts_with("Rss:")) {
      size_t kilobytes = 0;
      std::istringstream(line.substr(4)) >> kilobytes;
      total += 1024 * kilobytes;
    }
  }
  return total;
}

TEST(Memory, PackedWeightsAreNotKeptASecondTime) {
  const fs::path file = fs::path(testing::TempDir()) / "vit_memory_test.safetensors";
  weights::save(file, test::random_checkpoint(weights::config_of("vit_tiny_patch16_224")));
  const auto size = static_cast<size_t>(fs::file_size(file));
  {
    const weights::Checkpoint checkpoint = weights::open(file);
    const Model model = load_model(checkpoint);
    EXPECT_EQ(model.parameters, 5717416u);
    EXPECT_LT(resident_bytes(file), size / 10);
    // Released pages can still be read.
    const weights::Weight& weight = checkpoint.at("blocks.0.mlp.fc1.weight");
    std::vector<float> row(weight.cols());
    weight.read_rows(0, 1, row.data());
    EXPECT_NE(row[0], 0.0f);
    EXPECT_GT(resident_bytes(file), 0u) << "is the counting right?";
  }
  fs::remove(file);
}

}  // namespace
}  // namespace vit
