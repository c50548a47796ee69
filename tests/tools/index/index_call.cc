#include "tests/tools/index/index_call.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

// jpeglib.h needs std::FILE from above.
#include <jpeglib.h>

#include "tools/draw/canvas.h"

namespace vit::tools {

patch::Image planted_image(size_t width, size_t height, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> part(0.0, 1.0);
  const auto colour = [&] {
    const auto channel = [&] { return static_cast<std::uint8_t>(255.0 * part(random)); };
    return Colour{channel(), channel(), channel()};
  };
  patch::Image image = blank(width, height, colour());
  const double side = static_cast<double>(std::min(width, height));
  for (int i = 0; i < 6; ++i) {
    const double x = part(random) * static_cast<double>(width);
    const double y = part(random) * static_cast<double>(height);
    disc(image, x, y, side * (0.1 + 0.3 * part(random)), colour());
  }
  return image;
}

void write_image(const patch::Image& image, const std::string& path) {
  const auto file_path = std::filesystem::path(path);
  std::filesystem::create_directories(file_path.parent_path());
  const std::string bytes = encode_picture(image, file_path.extension().string());
  std::ofstream(path, std::ios::binary) << bytes;
}

patch::Image flipped(const patch::Image& image) {
  patch::Image copy = image;
  for (size_t y = 0; y < image.height; ++y)
    for (size_t x = 0; x < image.width; ++x)
      std::copy_n(image.row(y) + 3 * (image.width - 1 - x), 3, copy.row(y) + 3 * x);
  return copy;
}

patch::Image cropped(const patch::Image& image, double share) {
  const auto part = [&](size_t pixels) {
    return static_cast<size_t>(share * static_cast<double>(pixels));
  };
  patch::Image copy = blank(part(image.width), part(image.height));
  const size_t left = (image.width - copy.width) / 2, top = (image.height - copy.height) / 2;
  for (size_t y = 0; y < copy.height; ++y)
    std::copy_n(image.row(top + y) + 3 * left, 3 * copy.width, copy.row(y));
  return copy;
}

void write_jpeg(const patch::Image& image, int quality, const std::string& path) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  jpeg_compress_struct job{};
  jpeg_error_mgr errors{};
  job.err = jpeg_std_error(&errors);
  jpeg_create_compress(&job);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  jpeg_stdio_dest(&job, file);
  job.image_width = static_cast<JDIMENSION>(image.width);
  job.image_height = static_cast<JDIMENSION>(image.height);
  job.input_components = 3;
  job.in_color_space = JCS_RGB;
  jpeg_set_defaults(&job);
  jpeg_set_quality(&job, quality, TRUE);
  jpeg_start_compress(&job, TRUE);
  for (size_t y = 0; y < image.height; ++y) {
    JSAMPROW row = const_cast<JSAMPROW>(image.row(y));
    jpeg_write_scanlines(&job, &row, 1);
  }
  jpeg_finish_compress(&job);
  std::fclose(file);
  jpeg_destroy_compress(&job);
}

void write_planted(const Folder& folder, size_t count) {
  for (size_t i = 0; i < count; ++i)
    write_image(planted_image(96, 64, static_cast<unsigned>(i)),
                folder.path("in/" + std::to_string(i) + ".png"));
}

Finished index_images(std::vector<std::string> more) {
  std::vector<std::string> arguments{"index", "-m", golden("hf_vit")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

Finished search_index(const std::string& index, std::vector<std::string> more) {
  std::vector<std::string> arguments{"search", index};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

}  // namespace vit::tools
