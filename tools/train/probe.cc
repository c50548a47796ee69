#include "tools/train/probe.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "tools/output/format.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "tools/train/data.h"
#include "tools/train/final_report.h"
#include "vit/model/load.h"
#include "vit/model/open.h"
#include "vit/train/probe.h"
#include "vit/train/set_head.h"
#include "weights/checkpoint.h"
#include "weights/save.h"
#include "weights/store.h"

namespace vit::tools {
namespace {

/// With this many samples, two parts are enough to find a temperature.
constexpr size_t kMany = 5000;

/// Cross-validation uses all images, so a validation part that we split off is joined again. One
/// that came with the data is kept apart.
void join_parts(data::Dataset& dataset) {
  if (!dataset.split_by_us) return;
  for (data::Sample& sample : dataset.validation) dataset.train.push_back(std::move(sample));
  dataset.validation.clear();
}

std::string folds_text(const std::vector<double>& accuracies, size_t images) {
  const auto [least, most] = std::ranges::minmax(accuracies);
  const double mean = std::accumulate(accuracies.begin(), accuracies.end(), 0.0) /
                      static_cast<double>(accuracies.size());
  return "cross-validation in " + std::to_string(accuracies.size()) + " parts: accuracy " +
         format_percent(mean) + " (" + format_percent(least) + " to " + format_percent(most) +
         ") of " + std::to_string(images) + " images; the model is fitted to all of them\n";
}

/// The features of one part of the data that a new classifier may read: all, or fewer if that is
/// better.
struct ProbeFeatures {
  Matrix all;
  Matrix class_tokens;    ///< of several layers; empty: "fewer" are the first columns of all
  size_t first_cols = 0;  ///< number of those columns

  ConstMatrixView fewer() const {
    return class_tokens.empty() ? all.view().col_range(0, first_cols) : class_tokens.view();
  }
  ConstMatrixView read_by(const train::Logistic& head) const {
    return head.weight.cols() == all.cols() ? all.view() : fewer();
  }
};

/// The classifier, and what cross-validation found.
struct Fitted {
  train::Logistic head;
  std::vector<double> fold_accuracies;
};

/// Regularised weights are too small for the confidence to be right; held-out answers give the
/// factor.
Fitted fit_calibrated(const ProbeFeatures& features, const train::Labelled& data,
                      const TrainSettings& settings, ThreadPool& pool) {
  const train::LogisticSettings how{
      .seed = settings.training.batches.seed,
      .balanced = settings.training.balance == train::Balance::kWeights};
  Fitted fitted{train::fit_better_logistic(data, features.fewer(), how, pool), {}};
  const train::Labelled read{features.read_by(fitted.head), data.labels, data.classes};
  const size_t usual = data.labels.size() < kMany ? 5 : 2;
  const size_t folds = std::min(settings.folds != 0 ? settings.folds : usual, data.labels.size());
  if (folds < 2) return fitted;
  auto crossed = train::cross_validate(read, fitted.head.decay, folds, how, pool);
  train::cool(train::fit_temperature(crossed.logits, data.labels), fitted.head);
  fitted.fold_accuracies = std::move(crossed.accuracies);
  return fitted;
}

/// Figures for the last line of output and for the notes in the model file.
struct Figures {
  double training = 0.0;
  double validation = 0.0;
  double seconds = 0.0;
};

void say_result(const TrainSettings& settings, const data::Dataset& dataset,
                const Figures& figures) {
  write_output("training accuracy " + format_percent(figures.training) +
               (dataset.validation.empty()
                    ? ""
                    : ", validation accuracy " + format_percent(figures.validation) + " on " +
                          std::to_string(dataset.validation.size()) + " images") +
               ", " + format_time(figures.seconds) + ", model " +
               printable(settings.output.string()) + "\n");
  if (!dataset.validation.empty()) report_model(settings, dataset, {});
}

/// The model to read features from, and what the new classifier may read of them.
struct Base {
  weights::Checkpoint checkpoint;
  HeadConfig head{};  ///< of the features: the model's own, or one that reads several layers
  bool may_drop_means = false;  ///< class tokens alone may be better than with the means
};

Base open_base(const TrainSettings& settings) {
  Base base{.checkpoint =
                weights::open(weights::find_model(settings.from), {.heads = settings.model.heads})};
  const ModelConfig& config = base.checkpoint.config;
  base.head = config.head;
  // An ordinary model already reads one layer.
  const size_t layers = settings.probe_layers;
  if (layers != 0 && std::max(layers, config.head.pooled_layers) > 1) {
    base.head = train::head_of_last_layers(layers, config);
    base.may_drop_means = base.head.pooling == Pooling::kClassAndMean && !base.head.pooled_norm;
  }
  set_input(base.checkpoint, settings.model.image_size, settings.model.image_size);
  check_tokens(config, kMostTokens, settings.from);
  return base;
}

Model load_base(const Base& base) {
  return load_model(base.checkpoint, {.head = base.head});
}

/// How many features the base's own classifier reads.
size_t inputs_of(const Base& base) {
  ModelConfig config = base.checkpoint.config;
  config.head = base.head;
  return config.classifier_inputs();
}

/// The features of a part of the data, computed by `model`.
ProbeFeatures features_for(const Base& base, const Model& model,
                           const std::vector<data::Sample>& samples, const char* what,
                           ThreadPool& pool) {
  ProbeFeatures features{.all = features_of(model, base.checkpoint.recipe, samples, what, pool),
                         .class_tokens = {},
                         .first_cols = inputs_of(base)};
  if (base.may_drop_means)
    features.class_tokens = train::class_tokens_of(features.all, base.head.pooled_layers);
  return features;
}

struct DatasetFeatures {
  ProbeFeatures train;
  ProbeFeatures validation;
};

DatasetFeatures features_for(const Base& base, const data::Dataset& dataset, ThreadPool& pool) {
  const Model model = load_base(base);
  return {.train = features_for(base, model, dataset.train, "features of training images", pool),
          .validation =
              features_for(base, model, dataset.validation, "features of validation images", pool)};
}

/// What a classifier that reads this many of the features pools.
Pooling pooling_of(const Base& base, const train::Logistic& head) {
  const bool all = head.weight.cols() == inputs_of(base);
  if (base.may_drop_means) return all ? Pooling::kClassAndMean : Pooling::kClass;
  return all ? base.head.pooling : Pooling::kClassAndMean;
}

/// The number format of the new model's matrices: that of the base, so that its own stay as they
/// are.
weights::DType dtype_of(const Base& base, const TrainSettings& settings) {
  return settings.half ? weights::DType::kF16 : weights::lossless_dtype(base.checkpoint);
}

/// Writes the base with the new classifier.
void save_model(const TrainSettings& settings, Base base, const Fitted& fitted,
                const data::Dataset& dataset, weights::Metadata notes) {
  const weights::DType dtype = dtype_of(base, settings);
  HeadConfig head = base.head;
  head.pooling = pooling_of(base, fitted.head);
  weights::Checkpoint& model = base.checkpoint;
  train::set_head(fitted.head, head, model);
  // Tables of positions stay those of the base: they are resampled when the model is loaded.
  model.labels = dataset.labels;
  model.wordnet_ids = dataset.wordnet_ids;
  model.assumptions.clear();  // some are about the classes of the base
  weights::save(settings.output, model.card(), model.weights(),
                {.dtype = dtype, .metadata = std::move(notes)});
}

}  // namespace

int train_probe(const TrainSettings& settings, ThreadPool& pool) {
  const auto start = std::chrono::steady_clock::now();
  Base base = open_base(settings);
  data::Dataset dataset = read_data(settings, input_edge(base.checkpoint.recipe), pool);
  if (settings.folds != 0) join_parts(dataset);
  show_whole(dataset, base.checkpoint.recipe);
  const DatasetFeatures features = features_for(base, dataset, pool);
  const auto labels = train::labels_of(dataset.train),
             other_labels = train::labels_of(dataset.validation);
  const size_t classes = dataset.labels.size();
  const Fitted fitted =
      fit_calibrated(features.train, {features.train.all, labels, classes}, settings, pool);
  if (settings.folds != 0) write_output(folds_text(fitted.fold_accuracies, dataset.train.size()));

  Figures figures;
  figures.training =
      train::accuracy_of(fitted.head, {features.train.read_by(fitted.head), labels, classes});
  weights::Metadata notes{{"training", "probe from=" + settings.from}};
  if (settings.probe_layers != 0)
    notes["training"] += " layers=" + std::to_string(settings.probe_layers);
  if (!dataset.validation.empty()) {
    figures.validation = train::accuracy_of(
        fitted.head, {features.validation.read_by(fitted.head), other_labels, classes});
    notes["validation_accuracy"] = formatted("%.4f", figures.validation);
  }
  save_model(settings, std::move(base), fitted, dataset, std::move(notes));
  figures.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  say_result(settings, dataset, figures);
  return 0;
}

}  // namespace vit::tools
