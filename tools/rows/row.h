/// The answer for one input, for every kind of output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "patch/image/exif.h"
#include "tools/inputs/inputs.h"
#include "tools/inputs/stamp.h"
#include "vit/model/classifier.h"

namespace vit::tools {

struct Row {
  Input input;
  std::string reason;  ///< why there is no answer, empty otherwise
  std::vector<Prediction> predictions;
  std::vector<float> features;
  std::string damage{};  ///< of the image; empty: none known
  Stamp stamp{};         ///< of the file, before it was read
  patch::PhotoFacts facts{};

  bool failed() const { return !reason.empty(); }
  /// The text of the column `reason`.
  std::string remark() const { return failed() || damage.empty() ? reason : "damaged: " + damage; }
};

/// The field "format" of headers. Files of earlier versions do not have it, and their rows have no
/// size and time of the images.
inline constexpr std::uint64_t kRowFormat = 2;

/// Columns of a row besides number, path, status and reason.
struct RowShape {
  size_t top = 0;                  ///< columns for this many classes
  std::vector<size_t> features{};  ///< extents of an array of numbers: [D], [N, D], or none
  bool csv_safe = false;           ///< cells of CSV that spreadsheets would run begin with '
  bool stamps = false;             ///< columns for the file's size and time
  bool facts = false;              ///< columns for what the camera wrote: time, camera, place

  size_t numbers() const;  ///< in that array
};

inline size_t RowShape::numbers() const {
  size_t product = features.empty() ? 0 : 1;
  for (const size_t extent : features) product *= extent;
  return product;
}

/// A row that an earlier run has written, as far as resuming and sorting need it.
struct StoredRow {
  std::uint64_t number = 0;
  std::string path;
  bool failed = false;
  std::string remark{};                        ///< the column `reason`
  std::vector<Prediction> predictions{};       ///< the best first; none: failed, or not stored
  std::optional<std::uint32_t> numbers_sum{};  ///< checksum of the row in the .npy
  Stamp stamp{};                               ///< its time is 0: not stored
  patch::PhotoFacts facts{};
};

}  // namespace vit::tools
