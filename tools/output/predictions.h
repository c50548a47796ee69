/// Results of `vit classify` as text and as JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "vit/base/recipe.h"
#include "vit/model/classifier.h"

namespace vit::tools {

struct ImageResult {
  std::string file;   ///< as given
  std::string error;  ///< why there are no predictions, empty otherwise
  std::vector<Prediction> predictions;
  std::vector<float> logits;
  std::string damage{};  ///< of the image, which is still answered; empty: none known
};

struct TextStyle {
  size_t columns = 80;
  bool whole_labels = true;  ///< false: cut long labels so that a line keeps within the columns
  bool colour = false;
  bool multi_label = false;  ///< probabilities are scores that do not add up to one
  bool logits = false;       ///< the raw output beside each class
  size_t classes = 0;        ///< number of classes, for the remark "not sure"; 0: no remark
};

/// The style that suits standard output.
TextStyle output_style();

/// A bar in eighths of a column, without trailing blanks. `fraction` is clamped to 0…1.
std::string bar(float fraction, size_t width);

/// If the best answer is less probable than this, a remark says so.
constexpr float kUnsure = 0.25f;

/// The file, then a line per class: rank, label, percentage and a bar, aligned.
std::string to_text(const ImageResult& result, const TextStyle& style);

/// A JSON document in three parts, so that it streams: opening, images with ",\n" between, closing.
/// Numbers have the fewest digits that restore the same float; bytes of a file name that are
/// not UTF-8 become U+FFFD.
/// `groups`: the groups of classes, as JSON; empty: the classes are the model's own.
std::string json_opening(std::string_view model, const Recipe& recipe,
                         const std::string& groups = {});
std::string json_image(const ImageResult& result, bool with_logits);
std::string json_closing();

}  // namespace vit::tools
