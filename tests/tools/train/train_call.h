/// Small pictures of three colours, and a training run on them.
#pragma once

#include <filesystem>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "tests/tools/subprocess.h"

namespace vit::tools {

/// Three classes of noisy pictures in one colour each.
inline void write_pictures(const std::filesystem::path& folder, int per_class) {
  const char* names[] = {"blue", "green", "red"};
  cv::RNG random(1);
  for (int label = 0; label < 3; ++label) {
    std::filesystem::create_directories(folder / names[label]);
    for (int i = 0; i < per_class; ++i) {
      cv::Mat picture(16, 16, CV_8UC3);
      random.fill(picture, cv::RNG::UNIFORM, 0, 120);
      for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x)
          picture.at<cv::Vec3b>(y, x)[label] =
              static_cast<std::uint8_t>(200 + random.uniform(0, 55));
      cv::imwrite((folder / names[label] / (std::to_string(i) + ".png")).string(), picture);
    }
  }
}

/// A run of seconds.
inline std::vector<std::string> train(const Folder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"train",
                                     folder.path("data"),
                                     "-o",
                                     folder.path("m.safetensors"),
                                     "--image-size",
                                     "16",
                                     "--patch",
                                     "4",
                                     "--width",
                                     "32",
                                     "--depth",
                                     "2",
                                     "--heads",
                                     "2",
                                     "--batch",
                                     "16",
                                     "--epochs",
                                     "8",
                                     "--warmup",
                                     "1",
                                     "--lr",
                                     "0.003",
                                     "--erase",
                                     "0",
                                     "--randaugment",
                                     "0",
                                     "--ema",
                                     "0.8"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// The most likely class of an image, as the model of train() sees it.
inline std::string classified(const Folder& folder, const std::string& image) {
  return run({"classify", "-k", "1", "-m", folder.path("m.safetensors"), folder.path(image)}).out;
}

}  // namespace vit::tools
