// An image file made ready for a model when it is told to, for bench/compare_pillow.
//
//   prepare_rounds FILE [MODEL]
//
// Reads lines: for each the file is decoded, resized to 224 x 224 (bicubic) and normalised, and its
// milliseconds are printed, with a checksum of the pixels. With a model, the whole way from the
// file's bytes to the answer counts.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/interleaved.h"
#include "patch/image/image.h"
#include "patch/recipe.h"
#include "vit/model/classifier.h"

namespace vit::bench {
namespace {

std::vector<char> bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The whole image counts: no crop that could be spared.
Recipe whole_image() {
  Recipe recipe;
  recipe.resize = ResizeMode::kSquash;
  recipe.resize_height = recipe.resize_width = 224;
  recipe.interpolation = Interpolation::kBicubic;
  recipe.crop_height = recipe.crop_width = 224;
  recipe.mean = {0.485f, 0.456f, 0.406f};
  recipe.std = {0.229f, 0.224f, 0.225f};
  return recipe;
}

int serve(const std::string& path, const char* model) {
  const std::vector<char> bytes = bytes_of(path);
  std::optional<Classifier> classifier;
  if (model != nullptr) classifier.emplace(Classifier::load(model));
  const Recipe recipe = whole_image();
  patch::RecipeScratch scratch;
  Matrix pixels(3, recipe.crop_height * recipe.crop_width);
  const auto once = [&] {
    const Image image = patch::decode(std::as_bytes(std::span(bytes)), path);
    if (classifier)
      classifier->classify(image);
    else
      patch::apply_recipe(image, recipe, scratch, pixels, active_isa());
  };
  for (std::string line; std::getline(std::cin, line);) {
    const double ms = 1000.0 * seconds(once);
    std::printf("%.3f %.6f\n", ms,
                std::accumulate(pixels.data(), pixels.data() + pixels.size(), 0.0));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace vit::bench

int main(int count, char** arguments) {
  if (count != 2 && count != 3) {
    std::fprintf(stderr, "usage: prepare_rounds FILE [MODEL]\n");
    return 2;
  }
  try {
    return vit::bench::serve(arguments[1], count == 3 ? arguments[2] : nullptr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "prepare_rounds: %s\n", error.what());
    return 1;
  }
}
