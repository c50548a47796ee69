/// What the tests of indexes share: planted images, and calls of the program.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "patch/image/image.h"
#include "tests/tools/subprocess.h"

namespace vit::tools {

/// A smooth picture that depends on the seed: large shapes survive resizing and recompression.
patch::Image planted_image(size_t width, size_t height, unsigned seed);
void write_image(const patch::Image& image, const std::string& path);

patch::Image flipped(const patch::Image& image);
/// The middle, `share` of the width and of the height.
patch::Image cropped(const patch::Image& image, double share);
/// A .jpg of this quality, 1 to 100.
void write_jpeg(const patch::Image& image, int quality, const std::string& path);

/// Pictures of different seeds as folder/in/0.png …
void write_planted(const Folder& folder, size_t count);

/// "index -m MODEL", and more.
Finished index_images(std::vector<std::string> more);
/// "search INDEX", and more.
Finished search_index(const std::string& index, std::vector<std::string> more);

}  // namespace vit::tools
