/// The boxes of animals, people and vehicles that MegaDetector has found, from its file of results
/// (https://lila.science/megadetector-output-format).
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "patch/image/image.h"
#include "tools/inputs/inputs.h"

namespace vit::tools {

struct BoxSettings {
  std::string file;    ///< of MegaDetector
  std::string folder;  ///< to which the names of its images are relative
  double threshold = 0.2;
  std::string category = "animal";  ///< a name or a number; "all"
};

class BoxFile {
 public:
  /// Throws an Error if it is not such a file, or if it has no category of the wanted name; the
  /// Error then lists those it has.
  explicit BoxFile(BoxSettings settings);

  struct Image {
    std::string file;  ///< in the folder
    /// The wanted boxes, each with its place in the image's list, from 1.
    std::vector<std::pair<std::size_t, DetectionBox>> boxes;
  };

  const BoxSettings& settings() const { return settings_; }
  const std::vector<Image>& images() const { return images_; }
  std::size_t count() const { return count_; }  ///< of wanted boxes
  /// Boxes of other categories, or below the threshold.
  std::size_t left_out() const { return left_out_; }
  const nlohmann::ordered_json& json() const { return json_; }
  /// SHA-256 of the file, in hexadecimal.
  const std::string& digest() const { return digest_; }

  /// The place of an image in `images()` and in the file, and that of a box in its list of
  /// detections, for the name of a row. None: there is no such box.
  std::optional<std::pair<std::size_t, std::size_t>> find(const std::string& row) const;

 private:
  void read_images();
  std::optional<DetectionBox> wanted(const nlohmann::ordered_json& detection,
                                     const std::string& where);

  BoxSettings settings_;
  nlohmann::ordered_json json_;
  std::string digest_;
  std::vector<std::string> categories_;  ///< the wanted ones' numbers; empty: all
  std::vector<Image> images_;
  std::unordered_map<std::string, std::size_t> places_;  ///< of images by their files
  std::size_t count_ = 0, left_out_ = 0;
};

/// "photo.jpg#box=2", of the second detection in its image.
std::string box_name(const std::string& file, std::size_t place);
/// The inverse of box_name(); none if it is not such a name.
struct BoxName {
  std::string file;
  std::size_t place = 0;
};
std::optional<BoxName> split_box_name(const std::string& row);

/// The pixels in a box, at least one. Rounded outwards.
patch::Image cropped(const patch::Image& image, const DetectionBox& box);

}  // namespace vit::tools
