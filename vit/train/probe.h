/// A new classifier on frozen features: seconds to minutes instead of hours.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "vit/data/dataset.h"
#include "vit/model/features.h"
#include "vit/model/model.h"

namespace vit::train {

/// If all images are smaller than the input, changes the recipe so that it resizes them to the
/// whole input and crops nothing: they have no margin to spare. True if the recipe was changed.
bool keep_margins(std::span<const data::Sample> samples, Recipe& recipe);

/// A head that reads the class token and the mean of the patches after each of the last `layers`
/// layers of this model: the mean alone where there is no class token, and what its own head reads
/// where that has a norm of its own for it. What stands between the old classifier and the tokens
/// is dropped, and so is that classifier. Throws an Error if the model has fewer layers, or class
/// layers, whose class token the blocks never see.
HeadConfig head_of_last_layers(size_t layers, const ModelConfig& config);

/// Of features [samples, layers · (class token, mean)] the class tokens alone.
Matrix class_tokens_of(ConstMatrixView features, size_t layers);

/// The features that a new classifier of this model reads, one row per sample, computed by the
/// inference model: those that its own classifier reads and, if these are the class token alone,
/// the mean of the patches. `progress` is called with the number of samples done, by one worker at
/// a time.
Matrix compute_features(const Model& model, const Recipe& recipe,
                        std::span<const data::Sample> samples, ThreadPool& pool,
                        const std::function<void(size_t done)>& progress = {});

/// logits = weight · features + bias
struct Logistic {
  Matrix weight;  ///< [classes, features]
  std::vector<float> bias;
  double held_out_accuracy = 0.0;  ///< of what was fitted with this decay to the rest of the data
  double decay = 0.0;
};

struct LogisticSettings {
  /// Weight decays to choose from, by the accuracy on a held-out tenth of the data.
  std::vector<double> decays{1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5};
  size_t iterations = 200;
  std::uint64_t seed = 0;
  bool balanced = false;  ///< every class counts the same, however many samples it has
};

struct Labelled {
  ConstMatrixView features;  ///< [samples, features]
  std::span<const size_t> labels;
  size_t classes = 2;
  std::span<const float> class_weights{};  ///< of their samples; empty: 1
};

/// Multinomial logistic regression on standardised features by L-BFGS, the same on any number of
/// workers.
Logistic fit_logistic(const Labelled& data, const LogisticSettings& settings, ThreadPool& pool);

/// The better of two classifiers on held-out data: one reads only `fewer` of the features, the
/// other one reads all.
Logistic fit_better_logistic(const Labelled& data, ConstMatrixView fewer,
                             const LogisticSettings& settings, ThreadPool& pool);

/// Cross-validation: the samples in `folds` parts, each answered by a classifier that was fitted to
/// the others with the same decay.
struct CrossValidation {
  Matrix logits;                   ///< [samples, classes]
  std::vector<double> accuracies;  ///< of each part
};
CrossValidation cross_validate(const Labelled& data, double decay, size_t folds,
                               const LogisticSettings& settings, ThreadPool& pool);

/// The temperature at which the cross-entropy of held-out logits is smallest. A few right answers
/// are no proof of certainty: the label's target probability is (n + 1) / (n + 2) of n samples, as
/// Platt proposes.
double fit_temperature(ConstMatrixView logits, std::span<const size_t> labels);

/// Divides weights and biases, and thus the logits, by `temperature`.
void cool(double temperature, Logistic& logistic);

/// The share of samples whose largest logit is their label.
double accuracy_of(const Logistic& logistic, const Labelled& data);

}  // namespace vit::train
