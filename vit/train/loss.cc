#include "vit/train/loss.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "vit/base/softmax.h"

namespace vit::train {

void set_label(size_t label, double smoothing, std::span<float> target) {
  assert(label < target.size());
  const double rest = smoothing / static_cast<double>(target.size());
  std::fill(target.begin(), target.end(), static_cast<float>(rest));
  target[label] = static_cast<float>(1.0 - smoothing + rest);
}

std::vector<float> balancing_weights(std::span<const size_t> labels, size_t classes) {
  std::vector<float> weights(classes);
  for (const size_t label : labels) weights[label] += 1.0f;
  const auto each = static_cast<float>(labels.size()) / static_cast<float>(classes);
  for (float& weight : weights) weight = weight == 0.0f ? 0.0f : each / weight;
  return weights;
}

void blend(std::span<const float> other, double share, std::span<float> target) {
  for (size_t i = 0; i < target.size(); ++i)
    target[i] = static_cast<float>((1.0 - share) * target[i] + share * other[i]);
}

LossSum cross_entropy(ConstMatrixView logits, ConstMatrixView targets, double scale,
                      MatrixView gradient) {
  assert(logits.rows == targets.rows && logits.cols == targets.cols);
  LossSum sum;
  std::vector<double> probabilities(logits.cols);
  for (size_t r = 0; r < logits.rows; ++r) {
    const auto row = logits.row_span(r), target = targets.row_span(r);
    const auto best = std::max_element(row.begin(), row.end());
    const auto wanted = std::max_element(target.begin(), target.end());
    sum.correct += best - row.begin() == wanted - target.begin() ? 1 : 0;
    const double log_total = softmax_in_double(row, probabilities);
    for (size_t c = 0; c < row.size(); ++c) {
      sum.loss -= target[c] * (row[c] - log_total);
      if (!gradient.empty())
        gradient(r, c) = static_cast<float>(scale * (probabilities[c] - target[c]));
    }
  }
  return sum;
}

}  // namespace vit::train
