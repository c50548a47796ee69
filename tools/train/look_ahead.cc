#include "tools/train/look_ahead.h"

#include <algorithm>
#include <cmath>

#include "tools/cli/progress.h"
#include "tools/draw/canvas.h"
#include "tools/output/file.h"
#include "tools/output/format.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "vit/train/trainer.h"

namespace vit::tools {
namespace {

constexpr size_t kImages = 8, kEpochs = 5, kGap = 6;

/// Patches of one image back to bytes.
patch::Image as_image(ConstMatrixView patches, const ModelConfig& config, const Recipe& recipe) {
  const EmbeddingConfig& e = config.embedding;
  patch::Image image{e.image_width, e.image_height,
                     std::vector<std::uint8_t>(3 * e.image_width * e.image_height)};
  const size_t area = e.patch_height * e.patch_width, cols = e.grid().cols;
  for (size_t p = 0; p < patches.rows; ++p)
    for (size_t i = 0; i < patches.cols; ++i) {
      const size_t channel = i / area, y = p / cols * e.patch_height + i % area / e.patch_width;
      const size_t x = p % cols * e.patch_width + i % e.patch_width;
      const float value = patches(p, i) * recipe.std[channel] + recipe.mean[channel];
      image.pixels[3 * (y * e.image_width + x) + channel] =
          static_cast<std::uint8_t>(std::lround(255.0f * std::clamp(value, 0.0f, 1.0f)));
    }
  return image;
}

/// Rates from 1e-6 to 1, in as many steps.
constexpr size_t kRates = 100;
constexpr double kLowest = 1e-6, kHighest = 1.0;

double rate_at(size_t step) {
  return kLowest *
         std::pow(kHighest / kLowest, static_cast<double>(step) / static_cast<double>(kRates - 1));
}

struct Tried {
  double rate;
  double loss;  ///< smoothed
};

/// Stops at the rate at which the loss is far above its minimum.
std::vector<Tried> try_rates(train::Trainer& trainer) {
  constexpr double kSmoothing = 0.9, kTooHigh = 1.5;
  std::vector<Tried> tried;
  double smoothed = 0.0, lowest = 1e300, last = 0.0;
  ProgressLine line;
  for (size_t i = 0; i < kRates; ++i) {
    if (trainer.epoch_done()) {
      trainer.finish_epoch(0.0, 0.0);
      last = 0.0;
    }
    const auto seen = static_cast<double>(trainer.state().seen);
    try {
      trainer.step(rate_at(i));
    } catch (const Error&) {  // the loss is infinite: the search ends
      break;
    }
    const double images = static_cast<double>(trainer.state().seen) - seen;
    const double loss = (trainer.state().sum.loss - last) / images;
    last = trainer.state().sum.loss;
    smoothed = kSmoothing * smoothed + (1.0 - kSmoothing) * loss;
    tried.push_back(
        {rate_at(i), smoothed / (1.0 - std::pow(kSmoothing, static_cast<double>(i + 1)))});
    lowest = std::min(lowest, tried.back().loss);
    if (tried.back().loss > kTooHigh * lowest) break;
    line.update([&](size_t) { return count_text("rates", i + 1, kRates); });
  }
  return tried;
}

}  // namespace

int write_preview(const TrainSettings& settings, const RunInput& input, ThreadPool& pool) {
  const ModelConfig& config = input.network.config;
  const std::vector<data::Sample>& samples = input.dataset.train;
  const size_t count = std::min(kImages, samples.size());
  std::vector<train::Draw> draws;
  for (size_t i = 0; i < count; ++i) draws.push_back({.image = i * samples.size() / count});
  const EmbeddingConfig& e = config.embedding;
  const size_t patches = e.grid().count();
  Image sheet =
      blank((1 + kEpochs) * (e.image_width + kGap) + kGap, count * (e.image_height + kGap) + kGap);
  const auto put = [&](ConstMatrixView of_image, size_t row, size_t col) {
    paste(as_image(of_image, config, input.recipe), kGap + col * (e.image_width + kGap),
          kGap + row * (e.image_height + kGap), sheet);
  };
  train::PatchScratch scratch;
  Matrix plain(patches, e.patch_size());
  for (size_t i = 0; i < count; ++i) {
    train::make_patches(samples[draws[i].image].image, input.recipe, config, scratch, plain);
    put(plain, i, 0);
  }
  train::BatchMaker maker(input.source(), config, settings.training.batches);
  for (size_t epoch = 0; epoch < kEpochs; ++epoch) {
    maker.make(draws, epoch, &pool);
    for (size_t i = 0; i < count; ++i) put(maker.patches(i, 1), i, epoch + 1);
  }
  write_file(settings.preview, encode_picture(sheet, ".png"));
  write_output("preview " + printable(settings.preview.string()) + ": " + std::to_string(count) +
               " training images without augmentation and as the first " + std::to_string(kEpochs) +
               " epochs see them; nothing was trained\n");
  return 0;
}

int find_rate(const TrainSettings& settings, RunInput input, ThreadPool& pool) {
  input.start_network();
  train::Settings training = settings.training;
  training.epochs = kRates;  // never reached
  train::Trainer trainer(std::move(input.network), input.source(), training, pool);
  const std::vector<Tried> tried = try_rates(trainer);
  std::string text = "\n  rate        loss\n";
  for (size_t i = 0; i < tried.size(); i += 5)
    text += "  " + formatted("%-10.2g", tried[i].rate) + formatted("%8.4f", tried[i].loss) + "\n";
  const auto lowest = std::ranges::min_element(tried, {}, &Tried::loss);
  if (tried.empty() || lowest == tried.begin())
    fail_at(settings.data.string(), "no rate lowered the loss within ", tried.size(),
            " steps; the images may be too few to tell, or the model damaged");
  // A third of the rate at the lowest loss: beyond that one, training becomes unstable.
  write_output(text + "\nlowest loss at rate " + formatted("%.2g", lowest->rate) +
               "; suggested: --lr " + formatted("%.1g", lowest->rate / 3.0) +
               "; nothing was written\n");
  return 0;
}

}  // namespace vit::tools
