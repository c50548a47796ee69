#include "vit/train/probe.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>

#include "vit/base/error.h"
#include "vit/base/random.h"
#include "vit/kernels/multiply.h"
#include "vit/model/runner.h"
#include "vit/train/lbfgs.h"
#include "vit/train/loss.h"

namespace vit::train {
namespace {

/// Rows whose logits are alive at once; fixed, so that sums do not depend on the workers.
constexpr size_t kRows = 1024;

/// Features with mean 0 and spread 1, and how they came to be so.
struct Standardized {
  Matrix features;
  std::vector<double> mean;
  std::vector<double> scale;
};

Standardized standardize(ConstMatrixView features) {
  Standardized s{Matrix(features.rows, features.cols), std::vector<double>(features.cols),
                 std::vector<double>(features.cols)};
  const auto count = static_cast<double>(features.rows);
  for (size_t r = 0; r < features.rows; ++r)
    for (size_t c = 0; c < features.cols; ++c) s.mean[c] += features(r, c) / count;
  for (size_t r = 0; r < features.rows; ++r)
    for (size_t c = 0; c < features.cols; ++c)
      s.scale[c] += std::pow(features(r, c) - s.mean[c], 2) / count;
  for (double& scale : s.scale) scale = 1.0 / std::sqrt(scale + 1e-8);
  for (size_t r = 0; r < features.rows; ++r)
    for (size_t c = 0; c < features.cols; ++c)
      s.features(r, c) = static_cast<float>((features(r, c) - s.mean[c]) * s.scale[c]);
  return s;
}

/// Mean cross-entropy plus decay/2 · |weight|², in the weights row after row and then the biases.
class Objective {
 public:
  Objective(const Labelled& data, double decay, ThreadPool& pool)
      : data_(data), decay_(decay), pool_(pool) {}

  size_t size() const { return data_.classes * (data_.features.cols + 1); }

  double operator()(const std::vector<double>& x, std::vector<double>& gradient) const {
    const size_t weights = data_.classes * data_.features.cols;
    Matrix weight(data_.classes, data_.features.cols);
    for (size_t i = 0; i < weights; ++i) weight.data()[i] = static_cast<float>(x[i]);
    const size_t chunks = (data_.features.rows + kRows - 1) / kRows;
    std::vector<Part> parts(chunks);
    parallel_for(&pool_, chunks, [&](size_t i, size_t) { parts[i] = run(weight, x, i); });
    std::fill(gradient.begin(), gradient.end(), 0.0);
    double value = 0.0;
    for (const Part& part : parts) {
      value += part.loss;
      for (size_t i = 0; i < weights; ++i) gradient[i] += part.weight.data()[i];
      for (size_t c = 0; c < data_.classes; ++c) gradient[weights + c] += part.bias[c];
    }
    for (size_t i = 0; i < weights; ++i) {
      value += 0.5 * decay_ * x[i] * x[i];
      gradient[i] += decay_ * x[i];
    }
    return value;
  }

 private:
  struct Part {
    double loss = 0.0;
    Matrix weight;
    std::vector<double> bias;
  };

  Part run(const Matrix& weight, const std::vector<double>& x, size_t chunk) const {
    const size_t first = chunk * kRows, count = std::min(kRows, data_.features.rows - first);
    const ConstMatrixView features = data_.features.row_range(first, count);
    Matrix logits(count, data_.classes), targets(count, data_.classes);
    for (size_t r = 0; r < count; ++r) {
      for (size_t c = 0; c < data_.classes; ++c)
        logits(r, c) = static_cast<float>(x[weight.size() + c]);
      set_label(data_.labels[first + r], 0.0, targets.view().row_span(r));
    }
    multiply(features, weight, logits, {.b = Transpose::kYes, .beta = 1.0}, active_isa());
    Part part{0.0, Matrix(data_.classes, data_.features.cols), std::vector<double>(data_.classes)};
    const double scale = 1.0 / static_cast<double>(data_.features.rows);
    Matrix gradient(count, data_.classes);
    part.loss = data_.class_weights.empty()
                    ? scale * cross_entropy(logits, targets, scale, gradient).loss
                    : weighted_loss(first, logits, targets, gradient) * scale;
    multiply(gradient, features, part.weight, {.a = Transpose::kYes}, active_isa());
    for (size_t r = 0; r < count; ++r)
      for (size_t c = 0; c < data_.classes; ++c) part.bias[c] += gradient(r, c);
    return part;
  }

  /// Row by row, because each has a weight of its own.
  double weighted_loss(size_t first, ConstMatrixView logits, ConstMatrixView targets,
                       MatrixView gradient) const {
    double sum = 0.0;
    for (size_t r = 0; r < logits.rows; ++r) {
      const double weight = data_.class_weights[data_.labels[first + r]];
      sum += weight * cross_entropy(logits.row_range(r, 1), targets.row_range(r, 1),
                                    weight / static_cast<double>(data_.features.rows),
                                    gradient.row_range(r, 1))
                          .loss;
    }
    return sum;
  }

  const Labelled& data_;
  double decay_;
  ThreadPool& pool_;
};

Logistic as_logistic(const std::vector<double>& x, const Standardized& s, size_t classes) {
  const size_t width = s.mean.size();
  Logistic logistic{.weight = Matrix(classes, width), .bias = std::vector<float>(classes)};
  for (size_t c = 0; c < classes; ++c) {
    double bias = x[classes * width + c];
    for (size_t i = 0; i < width; ++i) {
      const double w = x[c * width + i] * s.scale[i];
      logistic.weight(c, i) = static_cast<float>(w);
      bias -= w * s.mean[i];
    }
    logistic.bias[c] = static_cast<float>(bias);
  }
  return logistic;
}

Logistic fit(const Labelled& data, double decay, size_t iterations, ThreadPool& pool) {
  const Standardized s = standardize(data.features);
  const Labelled standard{s.features, data.labels, data.classes, data.class_weights};
  const Objective objective(standard, decay, pool);
  std::vector<double> x(objective.size());
  minimize(objective, iterations, x);
  return as_logistic(x, s, data.classes);
}

Matrix logits_of(const Logistic& logistic, ConstMatrixView features) {
  Matrix logits(features.rows, logistic.bias.size());
  multiply(features, logistic.weight, logits, {.b = Transpose::kYes}, active_isa());
  for (size_t r = 0; r < logits.rows(); ++r)
    for (size_t c = 0; c < logistic.bias.size(); ++c) logits(r, c) += logistic.bias[c];
  return logits;
}

/// Rows of `data` in a random order, so that any part of it has all classes.
struct Shuffled {
  Matrix features;
  std::vector<size_t> labels;
};

std::vector<size_t> random_order(size_t count, std::uint64_t seed) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  Random random({seed, 0x9e0be});
  shuffle(random, order);
  return order;
}

Shuffled shuffled(const Labelled& data, std::uint64_t seed) {
  const std::vector<size_t> order = random_order(data.labels.size(), seed);
  Shuffled s{Matrix(data.features.rows, data.features.cols), {}};
  for (size_t r = 0; r < order.size(); ++r) {
    std::copy_n(data.features.row(order[r]), data.features.cols, s.features.view().row(r));
    s.labels.push_back(data.labels[order[r]]);
  }
  return s;
}

struct Choice {
  double decay;
  double accuracy = -1.0;
};

Choice choose_decay(const Labelled& data, const LogisticSettings& settings, ThreadPool& pool) {
  const Shuffled s = shuffled(data, settings.seed);
  const size_t held = std::max<size_t>(1, s.labels.size() / 10), kept = s.labels.size() - held;
  const std::span<const size_t> labels = s.labels;
  const Labelled learn{s.features.view().row_range(0, kept), labels.first(kept), data.classes,
                       data.class_weights};
  const Labelled check{s.features.view().row_range(kept, held), labels.subspan(kept), data.classes};
  Choice best{settings.decays.front()};
  for (const double decay : settings.decays) {
    const double accuracy = accuracy_of(fit(learn, decay, settings.iterations, pool), check);
    if (accuracy > best.accuracy) best = {decay, accuracy};
  }
  return best;
}

/// What a new classifier of this model reads.
FeatureKind probe_features(const ModelConfig& config) {
  const HeadConfig& head = config.head;
  const bool bare_class_token = head.pooling == Pooling::kClass && !head.distilled_head &&
                                head.pre_logits == 0 && !head.pooled_norm &&
                                head.pooled_layers == 1;
  return bare_class_token ? FeatureKind::kClassAndMean : FeatureKind::kPooled;
}

}  // namespace

bool keep_margins(std::span<const data::Sample> samples, Recipe& recipe) {
  const auto smaller = [&](const data::Sample& sample) {
    return sample.image.height < recipe.crop_height && sample.image.width < recipe.crop_width;
  };
  const bool cuts =
      recipe.resize != ResizeMode::kNone &&
      (recipe.resize_height > recipe.crop_height || recipe.resize_width > recipe.crop_width);
  if (!cuts || !std::ranges::all_of(samples, smaller)) return false;
  recipe.resize_height = recipe.crop_height;
  recipe.resize_width = recipe.crop_width;
  recipe.crop_fraction = 1.0;
  return true;
}

HeadConfig head_of_last_layers(size_t layers, const ModelConfig& config) {
  HeadConfig head = config.head;
  if (layers == 0 || layers > config.encoder.depth)
    fail_at(config.architecture, "cannot read the last ", layers, " layers, the model has ",
            config.encoder.depth, "; choose 1 to ", config.encoder.depth);
  if (head.class_layers != 0)
    fail_at(config.architecture,
            "cannot read several layers, because the class token passes through ", "the last ",
            head.class_layers, " only (class layers); choose another model or one layer");
  const bool own_norm = head.pooled_norm && head.pooling != Pooling::kAttention;
  if (!own_norm) {
    const std::vector<PrefixToken>& prefix = config.embedding.prefix;
    const bool class_first = !prefix.empty() && prefix.front() == PrefixToken::kClass;
    head.pooling = class_first ? Pooling::kClassAndMean : Pooling::kMean;
    head.pool_prefix = head.pooled_norm = false;
  }
  head.pooled_layers = layers;
  head.distilled_head = head.unit_features = false;
  head.pre_logits = head.pool_heads = head.pool_mlp_width = 0;
  head.classes = 0;
  return head;
}

Matrix class_tokens_of(ConstMatrixView features, size_t layers) {
  const size_t each = features.cols / layers, width = each / 2;
  Matrix tokens(features.rows, layers * width);
  for (size_t r = 0; r < features.rows; ++r)
    for (size_t layer = 0; layer < layers; ++layer)
      std::copy_n(features.row(r) + layer * each, width, tokens.view().row(r) + layer * width);
  return tokens;
}

Matrix compute_features(const Model& model, const Recipe& recipe,
                        std::span<const data::Sample> samples, ThreadPool& pool,
                        const std::function<void(size_t)>& progress) {
  const FeatureKind kind = probe_features(model.config);
  Matrix features(samples.size(), feature_count(model.config, kind));
  std::vector<std::unique_ptr<Runner>> runners(pool.size());
  std::mutex mutex;
  size_t done = 0;
  parallel_for(&pool, samples.size(), [&](size_t i, size_t worker) {
    auto& runner = runners[worker];
    if (!runner) runner = std::make_unique<Runner>(model, recipe);
    std::ranges::copy(runner->features(samples[i].image, kind),
                      features.view().row_span(i).begin());
    const std::lock_guard lock(mutex);
    if (progress) progress(++done);
  });
  return features;
}

Logistic fit_logistic(const Labelled& data, const LogisticSettings& settings, ThreadPool& pool) {
  assert(data.features.rows == data.labels.size());
  const std::vector<float> weights =
      settings.balanced ? balancing_weights(data.labels, data.classes) : std::vector<float>{};
  const Labelled weighed{data.features, data.labels, data.classes, weights};
  const Choice choice = choose_decay(weighed, settings, pool);
  Logistic logistic = fit(weighed, choice.decay, settings.iterations, pool);
  logistic.held_out_accuracy = choice.accuracy;
  logistic.decay = choice.decay;
  return logistic;
}

CrossValidation cross_validate(const Labelled& data, double decay, size_t folds,
                               const LogisticSettings& settings, ThreadPool& pool) {
  const size_t count = data.labels.size(), width = data.features.cols;
  const std::vector<size_t> order = random_order(count, settings.seed);
  const std::vector<float> weights =
      settings.balanced ? balancing_weights(data.labels, data.classes) : std::vector<float>{};
  CrossValidation result{Matrix(count, data.classes), {}};
  for (size_t fold = 0; fold < folds; ++fold) {
    const size_t begin = fold * count / folds, end = (fold + 1) * count / folds;
    Matrix features(count - (end - begin), width), held(end - begin, width);
    std::vector<size_t> labels, held_labels;
    for (size_t i = 0; i < count; ++i) {
      const bool out = i >= begin && i < end;
      const float* from = data.features.row(order[i]);
      std::copy_n(from, width,
                  out ? held.view().row(i - begin) : features.view().row(labels.size()));
      (out ? held_labels : labels).push_back(data.labels[order[i]]);
    }
    const Logistic logistic =
        fit({features, labels, data.classes, weights}, decay, settings.iterations, pool);
    const Matrix logits = logits_of(logistic, held);
    for (size_t i = begin; i < end; ++i)
      std::copy_n(logits.view().row(i - begin), data.classes, result.logits.view().row(order[i]));
    result.accuracies.push_back(accuracy_of(logistic, {held, held_labels, data.classes}));
  }
  return result;
}

double fit_temperature(ConstMatrixView logits, std::span<const size_t> labels) {
  const auto count = static_cast<double>(logits.rows);
  const double unsure = 1.0 / (count + 2.0);
  const auto loss = [&](double log_temperature) {
    const double scale = std::exp(-log_temperature);
    double sum = 0.0;
    for (size_t r = 0; r < logits.rows; ++r) {
      const auto row = logits.row_span(r);
      const double highest = *std::ranges::max_element(row);
      double total = 0.0, mean = 0.0;
      for (const float logit : row) {
        total += std::exp(scale * (logit - highest));
        mean += scale * (logit - highest) / static_cast<double>(row.size());
      }
      const double own = scale * (row[labels[r]] - highest);
      sum += std::log(total) - (1.0 - unsure) * own - unsure * mean;
    }
    return sum;
  };
  // The loss is convex in 1 / temperature, so it has one minimum: golden section.
  constexpr double kGolden = 0.6180339887498949;
  double low = std::log(0.02), high = std::log(50.0);
  for (int i = 0; i < 60; ++i) {
    const double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
    if (loss(a) < loss(b))
      high = b;
    else
      low = a;
  }
  return std::exp(0.5 * (low + high));
}

void cool(double temperature, Logistic& logistic) {
  const auto factor = static_cast<float>(1.0 / temperature);
  for (size_t i = 0; i < logistic.weight.size(); ++i) logistic.weight.data()[i] *= factor;
  for (float& bias : logistic.bias) bias *= factor;
}

Logistic fit_better_logistic(const Labelled& data, ConstMatrixView fewer,
                             const LogisticSettings& settings, ThreadPool& pool) {
  Logistic narrow = fit_logistic({fewer, data.labels, data.classes}, settings, pool);
  if (fewer.cols == data.features.cols) return narrow;
  Logistic wide = fit_logistic(data, settings, pool);
  return wide.held_out_accuracy > narrow.held_out_accuracy ? std::move(wide) : std::move(narrow);
}

double accuracy_of(const Logistic& logistic, const Labelled& data) {
  const Matrix logits = logits_of(logistic, data.features);
  size_t correct = 0;
  for (size_t r = 0; r < logits.rows(); ++r) {
    const auto row = logits.view().row_span(r);
    const auto best = std::max_element(row.begin(), row.end()) - row.begin();
    correct += static_cast<size_t>(best) == data.labels[r] ? 1 : 0;
  }
  return static_cast<double>(correct) / static_cast<double>(std::max<size_t>(1, logits.rows()));
}

}  // namespace vit::train
