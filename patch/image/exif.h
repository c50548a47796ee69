/// What the camera wrote beside the picture: time, camera and place.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace vit::patch {

struct PhotoFacts {
  std::string taken{};  ///< "2024-05-17T08:30:00", with "+02:00" behind it where the camera says so
  std::string camera{};               ///< maker and model
  std::optional<double> latitude{};   ///< degrees, north is positive
  std::optional<double> longitude{};  ///< degrees, east is positive
};

/// From an EXIF block, which is a small TIFF file; what it lacks, or says wrongly, is empty.
PhotoFacts photo_facts(std::span<const std::byte> exif);
/// From the file of an image.
PhotoFacts photo_facts_of_file(std::span<const std::byte> file);

}  // namespace vit::patch
