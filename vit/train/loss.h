/// Cross-entropy with soft targets: label smoothing, mixtures of images and a teacher's opinion are
/// all rows of probabilities.
#pragma once

#include <span>
#include <vector>

#include "vit/base/matrix.h"

namespace vit::train {

/// 1 - smoothing on the label, the rest spread evenly over all classes.
void set_label(size_t label, double smoothing, std::span<float> target);

/// A weight for the samples of each class: 1 on average over the samples, the same sum for each
/// class that has any.
std::vector<float> balancing_weights(std::span<const size_t> labels, size_t classes);

/// target = (1 - share) · target + share · other.
void blend(std::span<const float> other, double share, std::span<float> target);

struct LossSum {
  double loss = 0.0;   ///< of all rows together
  size_t correct = 0;  ///< rows whose largest logit is the largest target

  LossSum& operator+=(const LossSum& other) {
    loss += other.loss;
    correct += other.correct;
    return *this;
  }
};

/// Rows of logits and targets [B, classes]; `gradient`, if not empty, receives
/// scale · (softmax(logits) - target).
LossSum cross_entropy(ConstMatrixView logits, ConstMatrixView targets, double scale,
                      MatrixView gradient);

}  // namespace vit::train
